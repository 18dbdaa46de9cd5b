package snmpwire

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gosnmp/gosnmp"
)

func v3sample(t testing.TB, auth gosnmp.SnmpV3AuthProtocol, priv gosnmp.SnmpV3PrivProtocol) (*Keys, PDU, []byte) {
	t.Helper()
	u, err := NewUser("ops", auth, "authpass123", priv, "privpass123")
	if err != nil {
		t.Fatal(err)
	}
	k := u.Localize([]byte("engine-1"))
	pdu := PDU{SetRequest, 12, 0, 0, plainValues()}
	msg, err := EncodeV3(gosnmp.SnmpPacket{MsgID: 7, MsgFlags: gosnmp.Reportable | u.Level()}, k, 3, 99, pdu.Raw())
	if err != nil {
		t.Fatal(err)
	}
	return k, pdu, msg
}

func TestV3RoundTrip(t *testing.T) {
	for auth := gosnmp.NoAuth; auth <= gosnmp.SHA512; auth++ {
		for priv := gosnmp.NoPriv; priv <= gosnmp.AES256C; priv++ {
			if auth == gosnmp.NoAuth && priv != gosnmp.NoPriv {
				continue
			}
			k, want, msg := v3sample(t, auth, priv)
			got, err := DecodeV3(msg, nil)
			if auth != gosnmp.NoAuth {
				if !errors.Is(err, ErrSealed) {
					t.Errorf("%s/%s: without keys: %v", auth, priv, err)
				}
				got, err = DecodeV3(msg, k)
			}
			if err != nil {
				t.Fatalf("%s/%s: %v", auth, priv, err)
			}
			if d := cmp.Diff(want, got.PDU); d != "" || got.USM().AuthoritativeEngineBoots != 3 || got.USM().AuthoritativeEngineTime != 99 {
				t.Errorf("%s/%s: %+v: %s", auth, priv, got.USM(), d)
			}
			if msg[len(msg)-1] ^= 1; auth != gosnmp.NoAuth {
				if _, err := DecodeV3(msg, k); err == nil {
					t.Errorf("%s/%s: a changed message passes", auth, priv)
				}
			}
		}
	}
}

func TestNewUserRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		user     string
		auth     gosnmp.SnmpV3AuthProtocol
		password string
		priv     gosnmp.SnmpV3PrivProtocol
		second   string
	}{
		"no name":       {"", gosnmp.NoAuth, "", gosnmp.NoPriv, ""},
		"short auth":    {"u", gosnmp.SHA, "short", gosnmp.NoPriv, ""},
		"short priv":    {"u", gosnmp.SHA, "long enough", gosnmp.AES, "short"},
		"priv, no auth": {"u", gosnmp.NoAuth, "", gosnmp.AES, "long enough"},
	} {
		if _, err := NewUser(c.user, c.auth, c.password, c.priv, c.second); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// plainValues are all but Opaque, of which gosnmp reads floats only.
func plainValues() []VarBind {
	return slices.DeleteFunc(everyValue(), func(vb VarBind) bool { return vb.Value.Tag == Opaque })
}

func FuzzDecodeV3(f *testing.F) {
	k, _, sealed := v3sample(f, gosnmp.SHA256, gosnmp.AES)
	_, _, plain := v3sample(f, gosnmp.NoAuth, gosnmp.NoPriv)
	f.Add(sealed)
	f.Add(plain)
	f.Fuzz(func(t *testing.T, msg []byte) {
		if m, err := DecodeV3(msg, nil); err != nil && m != nil && !errors.Is(err, ErrSealed) {
			t.Errorf("%+v with %v", m, err)
		}
		if m, err := DecodeV3(msg, k); err == nil && m.MsgFlags&gosnmp.AuthNoPriv != 0 && m.USM().UserName != "ops" {
			t.Error("a digest of another user passes")
		}
	})
}
