package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
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
	return New(Options{Schema: func() *yang.Set { return set },
		Shown: func(string) bool { return true }, Streams: func() []openapi.Stream { return nil }})
}

// The page and its files answer by themselves, the addresses of the old pages lead to the new ones, and all of
// it is held to load nothing foreign.
func TestAddresses(t *testing.T) {
	h := pages(t)
	for path, want := range map[string]int{
		"/": 200, "/login": 200, "/web/static/app.js": 200, "/web/static/app.css": 200, "/web/static/icon.svg": 200, "/web/static/LICENSES.txt": 200,
		"/apidoc": 303, "/apidoc/": 303, "/yangui": 303, "/yangui/": 303, "/apidoc/openapi.json": 200, "/yangui/schema.json": 200,
		"/web": 404, "/web/": 404, "/web/static": 404, "/web/static/nothing.js": 404, "/apidoc/nothing": 404,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
		if !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'") {
			t.Errorf("%s: policy %q", path, w.Header().Get("Content-Security-Policy"))
		}
	}
}

// What a browser has is not sent again, and what is sent is compressed.
func TestFilesAreKeptByTheBrowser(t *testing.T) {
	h := pages(t)
	ask := func(header, value string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/web/static/app.js", nil)
		r.Header.Set(header, value)
		h.ServeHTTP(w, r)
		return w
	}
	first := ask("Accept-Encoding", "gzip, br")
	if first.Header().Get("Content-Encoding") != "gzip" || first.Header().Get("ETag") == "" {
		t.Error(first.Header())
	}
	if again := ask("If-None-Match", first.Header().Get("ETag")); again.Code != http.StatusNotModified {
		t.Errorf("asked again: %d", again.Code)
	}
}

// The budgets of the page: what the first load takes, and all of it, compressed.
func TestBudgets(t *testing.T) {
	files, first, all := newAssets(), 0, 0
	for name, a := range files {
		if !strings.HasSuffix(name, ".js") {
			continue
		}
		all += len(a.packed)
		if name == "app.js" || name == "chunk.js" {
			first += len(a.packed)
		}
	}
	if css := len(files["app.css"].packed); first > 90<<10 || all > 200<<10 || css > 12<<10 {
		t.Errorf("the first load has %d bytes of script and %d of style, all scripts %d", first, css, all)
	}
}

// Sizes of type, colours and distances are named once, in tokens.css.
func TestStylesUseTokens(t *testing.T) {
	text, err := os.ReadFile("../../web/src/app.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{`#[0-9a-fA-F]{3,8}\b[^{]*;`, `rgba?\(`, `font-size:\s*\d`, `(padding|margin|gap)[a-z-]*:\s*[1-9]\d*px`} {
		if found := regexp.MustCompile(wrong).FindAllString(string(text), -1); found != nil {
			t.Errorf("app.css has values of its own: %q", found)
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
