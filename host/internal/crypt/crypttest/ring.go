package crypttest

import (
	"testing"

	"ctl.internal/host/internal/crypt"
)

// Params derive fast.
func Params() crypt.Params {
	return crypt.Params{Method: "PBKDF2WithHmacSHA256", Type: "AES", Iterations: crypt.MinIterations, Length: 256, Transform: "AES/GCM/NoPadding"}
}

// Ring returns a ring whose key is that of a password.
func Ring(t testing.TB, password string) *crypt.Ring {
	t.Helper()
	k, err := crypt.Derive(Params(), password, "AAAAAAAAAAAAAAAAAAAAAA==")
	if err != nil {
		t.Fatal(err)
	}
	r, err := crypt.NewRing(k)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
