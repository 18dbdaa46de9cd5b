package encrypt_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/keys/encrypt/encrypttest"
)

const salt = "AAAAAAAAAAAAAAAAAAAAAA=="

func derive(t testing.TB, password string, change func(*encrypt.Params)) *encrypt.Key {
	t.Helper()
	p := encrypttest.Params()
	if change != nil {
		change(&p)
	}
	k, err := encrypt.Derive(p, password, salt)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func cbc(p *encrypt.Params) { p.Transform = "AES/CBC/PKCS5Padding" }

func TestEveryTransformSealsFreshAndNoticesEveryByte(t *testing.T) {
	for name, change := range map[string]func(*encrypt.Params){
		"GCM 256": nil, "CBC": cbc,
		"GCM 128, SHA-1": func(p *encrypt.Params) { p.Length, p.Method = 128, "PBKDF2WithHmacSHA1" },
		"CBC 192":        func(p *encrypt.Params) { cbc(p); p.Length = 192 },
	} {
		t.Run(name, func(t *testing.T) {
			r := encrypttest.NewRing(derive(t, "key", change))
			for _, plain := range []string{"", "community", strings.Repeat("x", 16), strings.Repeat("y", 1000)} {
				sealed, err := r.Seal([]byte(plain), []byte("switch/1"))
				if err != nil {
					t.Fatal(err)
				}
				again, _ := r.Seal([]byte(plain), []byte("switch/1"))
				if bytes.Equal(sealed, again) {
					t.Fatal("two seals are equal: the nonce is not fresh")
				}
				if plain != "" && bytes.Contains(sealed, []byte(plain)) {
					t.Fatal("the secret is readable")
				}
				if got, err := r.Open(sealed, []byte("switch/1")); err != nil || string(got) != plain {
					t.Fatalf("%q, %v", got, err)
				}
				if _, err := r.Open(sealed, []byte("switch/2")); !errors.Is(err, encrypt.ErrForged) {
					t.Fatal("another purpose: ", err)
				}
				for i := range sealed {
					forged := bytes.Clone(sealed)
					forged[i] ^= 1
					if got, err := r.Open(forged, []byte("switch/1")); err == nil && (i >= 9 || name != "CBC" && name != "CBC 192") {
						t.Fatalf("byte %d changed: opened %q", i, got)
					}
				}
				for n := range min(len(sealed), 200) {
					if _, err := r.Open(sealed[:n], []byte("switch/1")); err == nil && n > 9 {
						t.Fatalf("opened when cut to %d bytes", n)
					}
				}
			}
		})
	}
}

// The texts were made with openssl and with Python's cryptography from the key and
// the salt that the old system shipped; its vector was the salt.
func TestTextsOfTheOldSystemOpen(t *testing.T) {
	const oldKey, oldSalt = "V1S1ED4OMeEh", "TdtWeHbch/7xP52/rp3Usw=="
	const inCBC, inGCM = "LrhG6xuDAYw7uJfgKlmPovsDiWMHcemPkKRsUNOmXqs=", "TdtWeHbch/7xP52/rp3Us45VUgndmYGduDZqgYvPd3gDzVimW6RUQGO55bZkEOK/2kQ="
	raw := func(s string) string { b, _ := base64.StdEncoding.DecodeString(s); return string(b) }
	documented, err := encrypt.Derive(encrypt.Documented(), oldKey, oldSalt)
	if err != nil {
		t.Fatal(err)
	}
	p := encrypt.Documented()
	p.Transform = "AES/GCM/NoPadding"
	gcm, err := encrypt.Derive(p, oldKey, oldSalt)
	if err != nil {
		t.Fatal(err)
	}
	carried := encrypttest.NewRing(derive(t, "new", nil), documented) // its key was replaced since
	own := encrypttest.NewRing(documented)
	strict := encrypttest.NewRing(gcm)
	for name, c := range map[string]struct {
		ring       *encrypt.Ring
		text, want string
	}{
		"CBC, base64": {own, inCBC, "an old secret of the lab"}, "CBC, bytes": {own, raw(inCBC), "an old secret of the lab"},
		"CBC, key replaced": {carried, inCBC, "an old secret of the lab"},
		"GCM, base64":       {strict, inGCM, "a newer old secret"}, "GCM, bytes": {own, raw(inGCM), "a newer old secret"},
	} {
		if got, err := c.ring.Open([]byte(c.text), []byte("whatever")); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	// What carries no proof is not taken where the settings say GCM.
	if got, err := strict.Open([]byte(inCBC), nil); err == nil {
		t.Errorf("unauthenticated text opened: %q", got)
	}
}

func TestRenewFindsTextsWhereverTheyStand(t *testing.T) {
	old, current := derive(t, "old", nil), derive(t, "new", nil)
	before := encrypttest.NewRing(old)
	after := encrypttest.NewRing(current, old)
	alone := encrypttest.NewRing(current)
	seal := func(r *encrypt.Ring, s string) []byte { b, _ := r.Seal([]byte(s), []byte("p")); return b }
	open := func(b []byte) string {
		plain, err := alone.Open(b, []byte("p"))
		if err != nil {
			return err.Error()
		}
		return string(plain)
	}
	doc, _ := json.Marshal(map[string]any{"a": seal(before, "one"), "b": map[string]any{"c": seal(before, "two")}, "d": seal(after, "three"), "e": "AgAA"})
	var f encrypt.Found
	doc = after.Renew(doc, &f)
	var got struct {
		A, D []byte
		B    struct{ C []byte }
		E    string
	}
	if err := json.Unmarshal(doc, &got); err != nil || f.Renewed != 2 || f.Left != nil || open(got.A)+open(got.B.C)+open(got.D)+got.E != "onetwothreeAgAA" {
		t.Fatalf("%+v %v %s", f, err, doc)
	}
	for name, e := range map[string]*base64.Encoding{"std": base64.StdEncoding, "raw": base64.RawStdEncoding, "url": base64.URLEncoding, "raw url": base64.RawURLEncoding} {
		for i := range 50 { // all kinds of lengths and letters
			plain := fmt.Sprint(strings.Repeat("s", i), i)
			var f encrypt.Found
			text := after.Renew([]byte("password: {sealed}"+e.EncodeToString(seal(before, plain))+"\n"), &f)
			b, err := e.DecodeString(strings.TrimSpace(strings.TrimPrefix(string(text), "password: {sealed}")))
			if err != nil || f.Renewed != 1 || open(b) != plain {
				t.Fatalf("%s %d: %+v %v", name, i, f, err)
			}
		}
	}
	broken := []byte(`{"a":"` + base64.StdEncoding.EncodeToString(seal(before, "x"))[:40] + `"}`)
	if same := after.Renew(broken, &f); f.Left[old.ID()] != 1 || !bytes.Equal(same, broken) {
		t.Errorf("%+v", f)
	}
}

func TestAForeignKeyIsAskedForOnce(t *testing.T) {
	elsewhere := encrypttest.Ring(t, "elsewhere")
	sealed, _ := elsewhere.Seal([]byte("x"), nil)
	r := encrypttest.Ring(t, "here")
	asked := 0
	r.OnForeign(func() { asked++ })
	if _, err := r.Open(sealed, nil); !errors.Is(err, encrypt.ErrForeign) || asked != 1 {
		t.Fatal(err, asked)
	}
	r.OnForeign(func() { r.Set(derive(t, "here", nil), derive(t, "elsewhere", nil)) })
	if plain, err := r.Open(sealed, nil); err != nil || string(plain) != "x" {
		t.Fatal(err)
	}
	r.Set(derive(t, "here", nil))
	r.OnForeign(func() {})
	if _, err := r.Open(sealed, nil); !errors.Is(err, encrypt.ErrForeign) {
		t.Fatal("a dropped key opens: ", err)
	}
}

func TestParametersAreChecked(t *testing.T) {
	for says, change := range map[string]func(*encrypt.Params){
		"<encrypt-method>": func(p *encrypt.Params) { p.Method = "PBKDF2WithHmacMD5" }, "<encrypt-type>": func(p *encrypt.Params) { p.Type = "DES" },
		"<encrypt-iteration-count>": func(p *encrypt.Params) { p.Iterations = 1 }, "<encrypt-key-length>": func(p *encrypt.Params) { p.Length = 100 },
		"<cipher-transforms>": func(p *encrypt.Params) { p.Transform = "AES/ECB/NoPadding" },
	} {
		p := encrypt.Documented()
		change(&p)
		if _, err := encrypt.Derive(p, "k", salt); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
	for says, k := range map[string][2]string{"<encrypt-key>": {"", salt}, "<encrypt-salt>": {"k", "AAAA"}} {
		if _, err := encrypt.Derive(encrypt.Documented(), k[0], k[1]); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

func TestTooMuchIsRefused(t *testing.T) {
	r := encrypttest.Ring(t, "k")
	if _, err := r.Seal(make([]byte, encrypt.MaxPlaintext+1), nil); !errors.Is(err, encrypt.ErrTooBig) {
		t.Error(err)
	}
	if _, err := r.Seal(nil, make([]byte, 1<<16)); !errors.Is(err, encrypt.ErrPurpose) {
		t.Error(err)
	}
}

func FuzzOpen(f *testing.F) {
	r := encrypttest.Ring(f, "k")
	sealed, _ := r.Seal([]byte("x"), nil)
	f.Add(sealed)
	f.Add([]byte("LrhG6xuDAYw7uJfgKlmPovsDiWMHcemPkKRsUNOmXqs="))
	f.Fuzz(func(t *testing.T, b []byte) {
		if plain, err := r.Open(b, nil); err == nil && string(plain) != "x" {
			t.Fatalf("opened %q from something never sealed", plain)
		}
	})
}

func FuzzRenew(f *testing.F) {
	old, current := derive(f, "old", nil), derive(f, "new", nil)
	before := encrypttest.NewRing(old)
	after := encrypttest.NewRing(current, old)
	sealed, _ := before.Seal([]byte("x"), []byte("p"))
	f.Add(sealed)
	f.Add([]byte(`{"a":"` + base64.StdEncoding.EncodeToString(sealed) + `"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var found, again encrypt.Found
		value := after.Renew(b, &found)
		if found.Renewed == 0 && !bytes.Equal(value, b) {
			t.Fatal("changed without a text in it")
		}
		if after.Renew(value, &again); again.Renewed != 0 {
			t.Fatal("renewed twice")
		}
	})
}
