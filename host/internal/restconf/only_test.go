package restconf

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A listener of RESTCONF alone serves /restconf and says that it is the root; a spelling of another path gets nothing else.
func TestOnlyRESTCONFIsServedThere(t *testing.T) {
	f := newFixture(t)
	alone := Only(f)
	for _, x := range []struct {
		path, accept string
		code         int
		says         string
	}{
		{"/restconf/yang-library-version", "", 200, libraryRevision},
		{"/restconf/data/ietf-restconf-monitoring:restconf-state/capabilities", "", 200, "capability"},
		{"/.well-known/host-meta", "application/json", 200, `"href":"/restconf"`},
		{"/.well-known/host-meta", "", 200, `href="/restconf"`},
		{"/rests/data", "", 404, "restconf alone"},
		{"/restconf/../rests/data", "", 404, "restconf alone"},
		{"/auth/v1/users", "", 404, "restconf alone"},
		{"/", "", 404, "restconf alone"},
	} {
		r := httptest.NewRequest(http.MethodGet, x.path, nil)
		if x.accept != "" {
			r.Header.Set("Accept", x.accept)
		}
		w := httptest.NewRecorder()
		alone.ServeHTTP(w, r)
		if w.Code != x.code || !strings.Contains(w.Body.String(), x.says) {
			t.Errorf("%s: %d %s, want %d and %s", x.path, w.Code, w.Body, x.code, x.says)
		}
	}
	f.want(200, `{"links":[{"href":"/rests","rel":"restconf"}]}`, "GET", "/.well-known/host-meta.json", "")
}
