// Package encrypttest makes rings of keys for the tests of other rooms.
package encrypttest

import (
	"testing"

	"ctl.internal/host/internal/keys/encrypt"
)

// Params derive fast.
func Params() encrypt.Params {
	return encrypt.Params{
		Method:     "PBKDF2WithHmacSHA256",
		Type:       "AES",
		Iterations: encrypt.MinIterations,
		Length:     256,
		Transform:  "AES/GCM/NoPadding",
	}
}

// Ring returns a ring whose key is that of a password.
func Ring(t testing.TB, password string) *encrypt.Ring {
	t.Helper()
	k, err := encrypt.Derive(Params(), password, "AAAAAAAAAAAAAAAAAAAAAA==")
	if err != nil {
		t.Fatal(err)
	}
	return NewRing(k)
}

// NewRing returns a ring that seals with current and opens with the earlier keys too.
func NewRing(current *encrypt.Key, earlier ...*encrypt.Key) *encrypt.Ring {
	r := &encrypt.Ring{}
	r.Set(current, earlier...)
	return r
}
