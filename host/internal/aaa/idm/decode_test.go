package idm

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestMalformedSaysWhere(t *testing.T) {
	for body, want := range map[string]string{
		"{\"name\": \"bob\",\n \"enabled": "at line 2, column 10 (byte 25 of 25): it ends in the middle; is a quote or a closing brace missing",
		`{"name":`:                        "at line 1, column 9 (byte 8 of 8): it ends in the middle",
		`{"name": "bob"`:                  "at line 1, column 15 (byte 14 of 14): it ends in the middle",
		"{\n\"name\": bob}":               "at line 2, column",
		`{"name": "bob" "x":1}`:           "invalid character",
		`[]`:                              `the body must be a JSON object, such as {"name": …}`,
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if _, err := readJSONObject(r, "name", "enabled"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

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
		o, err := readJSONObject(r, "name", "enabled")
		if err != nil {
			return
		}
		o.textMember("name")
		o.booleanMember("enabled")
		o.requiredText("name")
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
