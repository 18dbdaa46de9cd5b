package device

import (
	"strings"
	"testing"
	"time"

	"ctl.internal/sdk"
)

func TestSettings(t *testing.T) {
	read := func(text string) (*Driver, error) {
		p, err := Start(t.Context(), &sdk.Env{Config: []byte(text)})
		if err != nil {
			return nil, err
		}
		return p.BierDriver.(*Driver), nil
	}
	if d, err := read(`{}`); err != nil || d.set != Defaults() {
		t.Errorf("nothing set: %+v, %v", d, err)
	}
	d, err := read(`{"connect":"3s","request":"4s","retry":{"first":"2s","most":"9s"},"max_message":1000000}`)
	if err != nil {
		t.Fatal(err)
	}
	if s := d.set; s.Connect.Duration != 3*time.Second || s.RPC.Duration != 4*time.Second || s.Retry.First.Duration != 2*time.Second ||
		s.Retry.Most.Duration != 9*time.Second || s.MaxBytes != 1000000 {
		t.Errorf("%+v", s)
	}
	for text, path := range map[string]string{
		`{"connect":"1ms"}`:                     "connect",
		`{"audit":"-1s"}`:                       "audit",
		`{"retry":{"first":"5m","most":"1m"}}`:  "retry/first",
		`{"retry":{"first":"5m","most":"1ms"}}`: "retry/most",
		`{"request":"soon"}`:                    "settings",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
