package password_test

import (
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa/password"
)

// The hashes of "p:wü" were made by Python's hashlib and by crypt(3), the argon2 one by Shiro.
const (
	storedPassword = "p:w\u00fc"
	argonPassword  = "secret#shiro,password;Jo8opech"
	argonHash      = "argon2id$v=19$m=4096,t=3,p=4$MTIzNDU2Nzg5MDEyMzQ1Ng$bjcHqfb0LPHyS13eVaNcBga9LF12I3k34H5ULt2gyoI"
)

func TestStoredFormsAreVerifiedAsWhatTheyAre(t *testing.T) {
	h := hasher(t, cheap, 1)
	for _, c := range []struct {
		stored, password string
		weak             bool
	}{
		{"$shiro1$SHA-256$1000$MDEyMzQ1Njc4OWFiY2RlZg==$JeXw7KpJkabgk+WPNgbJWQ3oUJPrwb1FDLpKVbLy/04=", storedPassword, true},
		{"$shiro1$SHA-256$500000$MDEyMzQ1Njc4OWFiY2RlZg==$H+mqzCmZyBu4YWvBZq1LLIv1LfmtbTXDGH7EscX6HG0=", storedPassword, false},
		{"$shiro1$SHA-512$1$$iE0lTMRdykKiGoivtvLb8gxlVg7hBROEIVuDKvhKI3V8lhpQK4/c0kTDBGVDzcW/U7u5xINOU5hhpWhFKvRnnA==", storedPassword, true},
		{"$shiro1$MD5$2$eA==$cHhGSrpm3t6I6El5aWwAJQ==", storedPassword, true},
		{"$shiro2$" + argonHash, argonPassword, false},
		{"$" + argonHash, argonPassword, false},
		{"$shiro2$argon2id$v=19$t=3,m=4096,p=4$MTIzNDU2Nzg5MDEyMzQ1Ng==$bjcHqfb0LPHyS13eVaNcBga9LF12I3k34H5ULt2gyoI=", argonPassword, false},
		{"$shiro2$2y$05$abcdefghijklmnopqrstuubakS/SqApSozdLNb.S4ohdJ8yQtLyKa", storedPassword, true},
		{"$shiro2$2y$5$abcdefghijklmnopqrstuubakS/SqApSozdLNb.S4ohdJ8yQtLyKa", storedPassword, true},
		{"$2b$04$abcdefghijklmnopqrstuuURKZWTSVFVmnQW9zlm9ZOAIs/3BVIdC", storedPassword, true},
	} {
		if !password.IsStored(c.stored) {
			t.Errorf("%s is not known as a stored form", c.stored)
		}
		if ok, outdated, err := h.Verify(t.Context(), c.password, c.stored); !ok || !outdated || err != nil {
			t.Errorf("%s: matches %v, outdated %v, %v", c.stored, ok, outdated, err)
		}
		for _, wrong := range []string{c.stored, c.password + "x", ""} {
			if ok, _, err := h.Verify(t.Context(), wrong, c.stored); ok || err != nil {
				t.Errorf("%s: %q matches, %v", c.stored, wrong, err)
			}
		}
		if s, err := password.ParseStored(c.stored); err != nil || s.Weak() != c.weak {
			t.Errorf("%s: weak %v, %v", c.stored, s.Weak(), err)
		}
	}
}

func TestUnknownAndDamagedFormsAreRefused(t *testing.T) {
	for stored, want := range map[string]string{
		"$6$salt$hash":   "$6$",
		"$shiro3$x":      "$shiro3$",
		"{SSHA}AAAA":     "known are",
		"{ssha-512}AAAA": "known are",
		"$shiro2$argon2d$v=19$m=64,t=1,p=1$AAAA$AAAA":             "$shiro2$argon2d$",
		"$shiro1$SHA-256$0$AAAA$AAAA":                             "iterations",
		"$shiro1$SHA-256$2000000000$AAAA$AAAA":                    "iterations",
		"$shiro1$SHA-256$1$AAAA$AAAA":                             "32 bytes",
		"$shiro1$SHA-256$1$!$AAAA":                                "salt",
		"$shiro1$WHIRLPOOL$1$AAAA$AAAA":                           "WHIRLPOOL",
		"$shiro1$SHA-256":                                         "ITERATIONS",
		"$shiro2$2y$31$" + strings.Repeat("a", 53):                "cost",
		"$shiro2$2y$10$short":                                     "53 characters",
		"$2y$10$" + strings.Repeat("!", 53):                       "base64",
		"$argon2id$v=16$m=64,t=1,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA": "v=19",
		"$argon2id$v=19$m=64,m=64,p=1$AAAA$AAAA":                  "parameters",
	} {
		if !password.IsStored(stored) {
			t.Errorf("%s is taken for a password", stored)
		}
		if _, err := password.ParseStored(stored); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", stored, err, want)
		}
	}
	for _, plain := range []string{"secret", "$ecret", "a$b$c", "", "$", "{x}", "{name}word"} {
		if password.IsStored(plain) {
			t.Errorf("%q is not taken for a password", plain)
		}
	}
}
