package encrypt_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/sdk/fault"
)

func TestSettingsAreShownAndWritten(t *testing.T) {
	dir, store := newHome(t, fast), newStore(t)
	s := must[*encrypt.Service](t)(open(dir, store, false))
	check := secrets(t, s, store, 3)
	b := must[json.RawMessage](t)(s.Data())
	key := must[encrypt.Config](t)(encrypt.ReadConfig(dir)).Key
	if strings.Contains(string(b), key) || strings.Count(string(b), encrypt.Masked) != 2 {
		t.Fatalf("%s", b)
	}
	before := must[[]byte](t)(os.ReadFile(encrypt.ConfigFile(dir)))
	if err := s.SetData(b); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]fault.Kind{
		`{"encrypt-key":"mine"}`: fault.Invalid, `{"encrypt-salt":"AAAAAAAAAAAAAAAAAAAAAA=="}`: fault.Invalid,
		`{"cipher-transforms":"ROT13"}`: fault.Invalid, `{"encrypt-iteration-count":1}`: fault.Invalid, "": fault.Unsupported,
	} {
		var after json.RawMessage
		if text != "" {
			after = json.RawMessage(text)
		}
		if err := s.SetData(after); fault.KindOf(err) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if now := must[[]byte](t)(os.ReadFile(encrypt.ConfigFile(dir))); string(now) != string(before) {
		t.Error("a refused change, or none, was written")
	}
	if err := s.SetData(json.RawMessage(strings.Replace(string(b), "1000", "2000", 1))); err != nil {
		t.Fatal(err)
	}
	s = must[*encrypt.Service](t)(open(dir, store, false))
	if i := must[encrypt.Info](t)(s.Info(t.Context())); i.Iterations != 2000 || !i.Pending {
		t.Errorf("%+v", i)
	}
	check(s)
}

func FuzzConfig(f *testing.F) {
	f.Add(fast)
	f.Add("<aaa-encrypt-service-config><encrypt-key>a</encrypt-key></aaa-encrypt-service-config>")
	dir := newHome(f, "<x/>")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(encrypt.ConfigFile(dir), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := encrypt.ReadConfig(dir); err == nil && c.Check() != nil {
			t.Fatalf("%q was taken: %v", text, c.Check())
		}
	})
}
