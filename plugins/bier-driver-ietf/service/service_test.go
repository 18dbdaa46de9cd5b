package service

import (
	"strings"
	"testing"
	"time"

	"ctl.internal/plugins/bier-driver-ietf/device"
)

func TestSettings(t *testing.T) {
	if s, err := read([]byte(`{}`)); err != nil || s != device.Defaults() {
		t.Errorf("nothing set: %+v, %v", s, err)
	}
	s, err := read([]byte(`{"connect":"3s","request":"4s","retry":{"first":"2s","most":"9s"},"max_message":1000000}`))
	if err != nil || s.Connect != 3*time.Second || s.RPC != 4*time.Second || s.RetryMin != 2*time.Second || s.RetryMax != 9*time.Second || s.MaxBytes != 1000000 {
		t.Errorf("%+v, %v", s, err)
	}
	for text, path := range map[string]string{
		`{"connect":"1ms"}`:                     "connect",
		`{"audit":"-1s"}`:                       "audit",
		`{"retry":{"first":"5m","most":"1m"}}`:  "retry/first",
		`{"retry":{"first":"5m","most":"1ms"}}`: "retry/most",
		`{"request":"soon"}`:                    "settings",
	} {
		if _, err := read([]byte(text)); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
