package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/web/openapi"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/caller"
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
		Shown: func(string) bool { return true }, Streams: func() []openapi.Stream { return nil }, Store: storetest.New(storetest.Options{})})
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

// Sizes of type, distances, sizes of controls and colours are named once, in tokens.css: no other file has a value of
// its own, and each name is used.
func TestStylesUseTokens(t *testing.T) {
	read := func(pattern string) string {
		files, err := filepath.Glob("../../web/src/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(files))
		}
		var all strings.Builder
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		return all.String()
	}
	tokens, style, scripts := read("tokens.css"), read("app.css"), read("*.tsx")+read("*/*.ts")+read("*/*.tsx")
	for where, wrong := range map[*string][]string{
		&style: {`#[0-9a-fA-F]{3,8}\b[^{]*;`, `(rgb|hsl|oklch|light-dark)a?\(`, `font(-size)?:[^;}]*\d(px|rem|em|pt)`, `(padding|margin|gap|border-radius)[a-z-]*:[^;}]*[1-9]\d*(px|rem|em|pt)`,
			`min-height: (24|32|44)px`, `(color|background|fill|stroke)[a-z-]*: (red|green|blue|black|white|gr[ae]y)`},
		&scripts: {`\d(px|rem|em|pt)\b`, `sans-serif|system-ui|monospace`, `(fill|stroke)Style = ['"]`, `\.font = ['"]`, `['"]#[0-9a-fA-F]{3,8}['"]`, `(rgb|hsl|oklch)a?\(\d`, `style=`, `\.style\.(font|padding|margin|background)`},
	} {
		for _, w := range wrong {
			if found := regexp.MustCompile(w).FindAllString(*where, -1); found != nil {
				t.Errorf("a value that is not in tokens.css: %q", found)
			}
		}
	}
	defined := map[string]bool{"row": true} // the height of a row of a list, set and used beside it
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+):`).FindAllStringSubmatch(tokens, -1) {
		defined[m[1]] = true
		if !strings.Contains(style, "var(--"+m[1]+")") && !strings.Contains(scripts, "'"+m[1]+"'") {
			t.Errorf("--%s is in tokens.css, and nothing uses it", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`var\(--([a-z0-9-]+)\)`).FindAllStringSubmatch(style, -1) {
		if !defined[m[1]] {
			t.Errorf("--%s is used, and not in tokens.css", m[1])
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

// Where a user has put nodes is kept for this user, within bounds.
func TestPlacesOfAUser(t *testing.T) {
	h := pages(t)
	ask := func(method, path, user, body string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		if user != "" {
			r = r.WithContext(caller.With(r.Context(), caller.Caller{User: user, Domain: "sdn"}))
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	const mine = `{"sw1":{"x":1,"y":-2.5}}`
	for _, step := range []struct {
		method, path, user, body string
		status                   int
		answer                   string
	}{
		{"GET", "/web/places/switch:1", "bob", "", 200, "{}"},
		{"PUT", "/web/places/switch:1", "bob", mine, 204, ""},
		{"GET", "/web/places/switch:1", "bob", "", 200, mine},
		{"GET", "/web/places/switch:1", "eve", "", 200, "{}"},
		{"GET", "/web/places/other", "bob", "", 200, "{}"},
		{"PUT", "/web/places/switch:1", "bob", `[1]`, 400, "*"},
		{"PUT", "/web/places/switch:1", "bob", `{"a":"` + strings.Repeat("x", maxPlaces) + `"}`, 413, "*"},
		{"PUT", "/web/places/switch:1", "", mine, 401, "*"},
		{"PUT", "/web/places/switch:1", "bob", `{}`, 204, ""},
		{"GET", "/web/places/switch:1", "bob", "", 200, "{}"},
	} {
		if status, answer := ask(step.method, step.path, step.user, step.body); status != step.status || step.answer != "*" && answer != step.answer {
			t.Errorf("%s %s of %q with %.40s: %d %s, want %d %s", step.method, step.path, step.user, step.body, status, answer, step.status, step.answer)
		}
	}
	for i := range maxTopologies + 1 {
		status, text := ask("PUT", fmt.Sprintf("/web/places/t%d", i), "bob", mine)
		if want := map[bool]int{true: 204, false: 409}[i < maxTopologies]; status != want {
			t.Errorf("topology %d: %d %s, want %d", i+1, status, text, want)
		}
	}
}
