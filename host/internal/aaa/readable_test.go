package aaa_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/policy"
)

// TestReadable asks what a read of an ancestor may hold.
func TestReadable(t *testing.T) {
	l := open(t, shippedINI)
	must(t, l.Policies().Set([]policy.Policy{
		permit("/rests/data/m:racks/rack=1", "admin", "get"), permit("/rests/data/m:racks/rack=2/unit=7", "admin", "get"), permit("/rests/data/m:racks/rack=2/note", "admin", "put")}))
	ask := func(method, at, user, password string) (status int, ask func(string) (may, all bool)) {
		h := l.Filter(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ask = aaa.Readable(r.Context()) }))
		r := httptest.NewRequest(method, at, nil)
		r.SetBasicAuth(user, password)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, ask
	}
	_, readable := ask("GET", "/rests/data", "user", "user")
	if readable == nil {
		t.Fatal("everything may be read")
	}
	for path, want := range map[string]string{
		"/rests/data/aaa:http-authorization": "false false", "/rests/data/m:racks": "true false", "/rests/data/m:racks/rack": "true false",
		"/rests/data/m:racks/rack=1": "false false", "/rests/data/m:racks/rack=2": "true false", "/rests/data/m:racks/rack=3": "true true",
		"/rests/data/m:racks/rack=2/unit=7": "false false", "/rests/data/m:racks/rack=2/note": "false false", "/rests/data/n:other": "true true",
	} {
		may, all := readable(path)
		if got := fmt.Sprint(may, " ", all); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for _, c := range []struct {
		method, at, user, password string
		status                     int
		pruned                     bool
	}{
		{"HEAD", "/restconf/config", "user", "user", 200, true},
		{"GET", "/rests/ds/ietf-datastores:running/m:racks", "user", "user", 200, true},
		{"GET", "/rests/data/n:other", "user", "user", 200, false},
		{"GET", "/rests/data", "admin", "admin", 200, true}, // note: its policy permits put alone
		{"GET", "/rests/data/aaa:http-authorization", "user", "user", 401, false},
		{"GET", "/rests/data/m:racks/rack=1", "user", "user", 401, false},
		{"GET", "/rests/streams/json/data-change/running/m:racks", "user", "user", 401, false},
		{"PATCH", "/rests/data/m:racks", "user", "user", 401, false},
		{"GET", "/rests/data", "user", "wrong", 401, false},
	} {
		status, readable := ask(c.method, c.at, c.user, c.password)
		if status != c.status || (readable != nil) != c.pruned {
			t.Errorf("%s %s as %s: %d, pruned %v", c.method, c.at, c.user, status, readable != nil)
		}
	}
}
