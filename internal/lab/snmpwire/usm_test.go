package snmpwire

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The test vectors of RFC 3414 appendix A.3.
func TestPasswordToKey(t *testing.T) {
	engine := []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}
	for _, c := range []struct {
		auth             Auth
		plain, localized string
	}{
		{MD5, "9faf3283884e92834ebc9847d8edd963", "526f5eed9fcce26f8964c2930787d82b"},
		{SHA, "9fb5cc0381497b3793528939ff788d5d79145211", "6695febc9288e36282235fc7151f128497b38f3f"},
	} {
		key := passwordKey(c.auth, []byte("maplesyrup"))
		if got := hex.EncodeToString(key); got != c.plain {
			t.Errorf("%s key %s, want %s", c.auth, got, c.plain)
		}
		if got := hex.EncodeToString(localize(c.auth, key, engine)); got != c.localized {
			t.Errorf("%s localized key %s, want %s", c.auth, got, c.localized)
		}
	}
}

func v3sample(t testing.TB, auth Auth, priv Priv) (*Keys, V3, []byte) {
	t.Helper()
	u, err := NewUser("ops", auth, "authpass123", priv, "privpass123")
	if err != nil {
		t.Fatal(err)
	}
	m := V3{MsgID: 7, MaxSize: 1472, Flags: FlagReportable, EngineID: []byte("engine-1"), Boots: 3, Time: 99, User: "ops",
		ContextID: []byte("engine-1"), Context: []byte{}}
	if auth != NoAuth {
		m.Flags |= FlagAuth
	}
	if priv != NoPriv {
		m.Flags |= FlagPriv
	}
	k := u.Localize(m.EngineID)
	m.PDU = PDU{SetRequest, 12, 0, 0, everyValue()}
	msg, err := EncodeV3(m, k, 1234, m.PDU.Raw())
	if err != nil {
		t.Fatal(err)
	}
	return k, m, msg
}

func TestV3RoundTrip(t *testing.T) {
	for auth := NoAuth; auth <= SHA512; auth++ {
		for priv := NoPriv; priv <= AES256C; priv++ {
			if auth == NoAuth && priv != NoPriv {
				continue
			}
			k, want, msg := v3sample(t, auth, priv)
			got, err := DecodeV3(msg)
			if err != nil {
				t.Fatalf("%s/%s: %v", auth, priv, err)
			}
			if auth != NoAuth {
				if err := got.Verify(k); err != nil {
					t.Errorf("%s/%s: %v", auth, priv, err)
				}
				msg[len(msg)-1] ^= 1
				if err := got.Verify(k); !errors.Is(err, ErrDigest) {
					t.Errorf("%s/%s: a changed message passes: %v", auth, priv, err)
				}
				msg[len(msg)-1] ^= 1
			}
			if err := got.Open(k); err != nil {
				t.Fatalf("%s/%s: %v", auth, priv, err)
			}
			if d := cmp.Diff(want.PDU, got.PDU); d != "" {
				t.Errorf("%s/%s: %s", auth, priv, d)
			}
		}
	}
}

func TestNewUserRefuses(t *testing.T) {
	for name, make := range map[string]func() (*User, error){
		"no name":       func() (*User, error) { return NewUser("", NoAuth, "", NoPriv, "") },
		"short auth":    func() (*User, error) { return NewUser("u", SHA, "short", NoPriv, "") },
		"short priv":    func() (*User, error) { return NewUser("u", SHA, "long enough", AES, "short") },
		"priv, no auth": func() (*User, error) { return NewUser("u", NoAuth, "", AES, "long enough") },
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func FuzzDecodeV3(f *testing.F) {
	k, _, sealed := v3sample(f, SHA256, AES)
	_, _, plain := v3sample(f, NoAuth, NoPriv)
	f.Add(sealed)
	f.Add(plain)
	f.Fuzz(func(t *testing.T, msg []byte) {
		m, err := DecodeV3(msg)
		if err != nil {
			return
		}
		if err := m.Verify(k); err == nil && m.User != "ops" {
			t.Error("a digest of another user passes")
		}
		if m.Open(k) == nil && len(m.PDU.VarBinds) > MaxVarBinds {
			t.Error("more variable bindings than allowed")
		}
	})
}
