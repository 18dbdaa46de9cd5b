package server

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

func TestDocumentationIsServed(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "docs")
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		docsHandler(dir).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Code, w.Body.String()
	}
	if code, text := get("/docs/index.html"); code != 404 || text == "" {
		t.Errorf("without a site: %d %q", code, text)
	}
	if err := os.MkdirAll(filepath.Join(dir, "pictures"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"docs/index.html": "the pages", "docs/pictures/a.svg": "<svg/>", "secret": "x"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]int{"/docs": 302, "/docs/": 302, "/docs/index.html": 200, "/docs/pictures/a.svg": 200,
		"/docs/pictures": 404, "/docs/pictures/": 404, "/docs/absent.html": 404, "/docs/../secret": 404} {
		if code, _ := get(path); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
}
