package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	ctl "ctl.internal"
	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/web"
)

// What a user kept of the maps goes with the user, not with a new password or while the user is disabled: a later user
// of the same name begins without it, and others keep theirs.
func TestPlacesGoWithTheUser(t *testing.T) {
	ini, err := ctl.Templates.ReadFile("etc/sec.ini")
	if err != nil {
		t.Fatal(err)
	}
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	a, err := aaa.New(context.Background(), aaa.Options{Store: store, SecINI: ini, First: identity.First{Admin: "admin", User: "user"}, Deleted: web.Forget})
	if err != nil {
		t.Fatal(err)
	}
	m := http.NewServeMux()
	m.Handle("/auth/", a.Handler())
	m.Handle("/web/places/", web.New(web.Options{Store: store}))
	front := a.Filter(m)
	ask := func(method, path, who, body string) (int, string) {
		t.Helper()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		user, password, _ := strings.Cut(who, ":")
		r.SetBasicAuth(user, password)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		front.ServeHTTP(w, r)
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	const places, made = `{"sw1":{"x":1,"y":2}}`, `{"name":"eve","password":"the word of eve","domainid":"sdn"}`
	for _, s := range []struct {
		method, path, who, body string
		status                  int
		want                    string
	}{
		{"POST", "/auth/v1/users", "admin:admin", made, 201, "*"},
		{"POST", "/auth/v1/domains/sdn/users/eve@sdn/roles", "admin:admin", `{"roleid":"user@sdn"}`, 201, "*"},
		{"PUT", "/web/places/switch:1", "eve:the word of eve", places, 204, "*"},
		{"PUT", "/web/places/switch:1", "user:user", places, 204, "*"},
		{"PUT", "/auth/v1/users/eve@sdn", "admin:admin", `{"password":"another word"}`, 200, "*"},
		{"GET", "/web/places/switch:1", "eve:another word", "", 200, places},
		{"DELETE", "/auth/v1/users/eve@sdn", "admin:admin", "", 204, "*"},
		{"POST", "/auth/v1/users", "admin:admin", made, 201, "*"},
		{"POST", "/auth/v1/domains/sdn/users/eve@sdn/roles", "admin:admin", `{"roleid":"user@sdn"}`, 201, "*"},
		{"GET", "/web/places/switch:1", "eve:the word of eve", "", 200, "{}"},
		{"GET", "/web/places/switch:1", "user:user", "", 200, places},
	} {
		if status, text := ask(s.method, s.path, s.who, s.body); status != s.status || s.want != "*" && text != s.want {
			t.Fatalf("%s %s of %s: %d %s, want %d %s", s.method, s.path, s.who, status, text, s.status, s.want)
		}
	}
}
