package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"ctl.internal/host/internal/web/openapi"
	"ctl.internal/internal/yang"
)

const text = `module m {
  yang-version 1.1; namespace "urn:m"; prefix m;
  container c { leaf set { type string; } leaf seen { type string; config false; } }
  rpc r { input { leaf a { type string; } } output { leaf b { type string; } } }
  notification n { leaf x { type string; } }
}`

func pages(t *testing.T) http.Handler {
	t.Helper()
	set, err := yang.Load(yang.Source{Name: "test", Files: map[string][]byte{"m.yang": []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Status: func() Status { return Status{} }, Schema: func() *yang.Set { return set },
		Shown: func(string) bool { return true }, Streams: func() []openapi.Stream { return nil }})
}

// Every address answers by itself: none leads to another one, which access control
// would turn back into the first.
func TestAddresses(t *testing.T) {
	h := pages(t)
	for path, want := range map[string]int{
		"/": 200, "/apidoc": 200, "/apidoc/": 200, "/yangui": 200, "/yangui/": 200, "/web/common.js": 200, "/web/status.json": 200,
		"/apidoc/openapi.json": 200, "/yangui/schema.json": 200,
		"/web": 404, "/web/": 404, "/web/status.html": 404, "/web/nothing.js": 404, "/apidoc/nothing": 404,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

// Only what a datastore holds is state; the input of an operation is not.
func TestStateIsOfDatastores(t *testing.T) {
	w := httptest.NewRecorder()
	pages(t).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/yangui/schema.json", nil))
	var all []module
	if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil || len(all) != 1 {
		t.Fatal(err, w.Body)
	}
	got := map[string]bool{}
	var walk func([]node)
	walk = func(l []node) {
		for _, n := range l {
			got[n.Name] = n.ReadOnly
			walk(n.Children)
		}
	}
	walk(all[0].Data)
	walk(all[0].RPCs)
	walk(all[0].Notices)
	for name, want := range map[string]bool{"c": false, "set": false, "seen": true, "a": false, "b": false, "x": false} {
		if state, there := got[name]; !there || state != want {
			t.Errorf("%s: state %v, there %v", name, state, there)
		}
	}
}
