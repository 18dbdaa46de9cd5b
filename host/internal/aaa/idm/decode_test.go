package idm

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzRead looks for bodies that crash the reader, or that it takes though they
// have members it does not know.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"name":"bob","enabled":"true"}`, `{`, `{"name":"a","name":"b"}`, `{"name":null}`, `[]`, `{"x":{"name":1}}`, `{"name":"\ud800"}`, "\ufeff{}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		o, err := read(r, "name", "enabled")
		if err != nil {
			return
		}
		o.text("name")
		o.boolean("enabled")
		o.required("name")
		for m := range o.members {
			if m != "name" && m != "enabled" && o.faults.Err() == nil {
				t.Fatalf("%q: member %q was taken", body, m)
			}
		}
	})
}

func FuzzForm(f *testing.F) {
	f.Add("grant_type=password&username=a&password=b")
	f.Add("a=1&a=2")
	f.Add("%zz")
	f.Fuzz(func(t *testing.T, body string) {
		v, err := parseForm(body)
		for k := range v {
			if err == nil && len(v[k]) != 1 {
				t.Fatalf("%q: field %q has %d values", body, k, len(v[k]))
			}
		}
	})
}
