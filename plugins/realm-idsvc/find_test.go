package realmidsvc

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/realm"
)

// directoryOfUsers answers a service account as the Identity API does; its first token is refused once.
func directoryOfUsers(t *testing.T) http.Handler {
	logins := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.Method == http.MethodPost:
			var in tokenRequest
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Auth.Scope == nil || in.Auth.Scope.System == nil || in.Auth.Identity.Password.User.Password != "machine" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			logins++
			w.Header().Set("X-Subject-Token", fmt.Sprint("token", logins))
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"token":{}}`)
		case r.Header.Get("X-Auth-Token") != "token2":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/v3/domains" && q.Get("name") == "Lab":
			fmt.Fprint(w, `{"domains":[{"id":"d1","name":"Lab","enabled":true}]}`)
		case r.URL.Path == "/v3/users" && q.Get("domain_id") == "d1":
			users := map[string]string{"alice": `{"id":"u1","enabled":true,"password_expires_at":null}`, "off": `{"id":"u2","enabled":false}`,
				"old": `{"id":"u3","enabled":true,"password_expires_at":"2016-01-01T00:00:00.000000"}`, "new": `{"id":"u4","enabled":true,"password_expires_at":"2999-01-01T00:00:00.000000"}`}
			fmt.Fprintf(w, `{"users":[%s]}`, users[q.Get("name")])
		case r.URL.Path == "/v3/role_assignments" && q.Get("scope.domain.id") == "d1" && q.Has("effective") && q.Has("include_names"):
			if q.Get("user.id") == "u1" {
				fmt.Fprint(w, `{"role_assignments":[{"role":{"name":"user"}},{"role":{"name":"admin"}},{"role":{"name":"user"}}]}`)
				return
			}
			fmt.Fprint(w, `{"role_assignments":[]}`)
		default:
			fmt.Fprint(w, `{"domains":[],"users":[],"role_assignments":[]}`)
		}
	})
}

func TestUsersAreFoundByServiceAccount(t *testing.T) {
	srv := httptest.NewServer(directoryOfUsers(t))
	defer srv.Close()
	c, _, err := configured(t, plugintest.NewHost(t), map[string]string{"url": srv.URL, "defaultDomain": "Lab", "serviceUser": "machine", "servicePassword": "machine"})
	if err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]realm.Outcome{"alice": realm.Authenticated, "nobody": realm.Unknown, "off": realm.Unknown, "old": realm.Unknown,
		"new": realm.Unknown /* without a role */, "alice&enabled=x": realm.Unknown} {
		got, err := c.Find(t.Context(), "r", user, "")
		if err != nil || got.Outcome != want || user == "alice" && !slices.Equal(got.Roles, []string{"admin", "user"}) {
			t.Errorf("%s: %+v, %v", user, got, err)
		}
	}
	if got, err := c.Find(t.Context(), "r", "alice", "Elsewhere"); err != nil || got.Outcome != realm.Unknown {
		t.Errorf("in another domain: %+v, %v", got, err)
	}
	c, _, err = configured(t, plugintest.NewHost(t), map[string]string{"url": srv.URL, "serviceUser": "machine", "servicePassword": "wrong"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Find(t.Context(), "r", "alice", ""); err != nil || got.Outcome != realm.Unavailable || strings.Contains(got.Reason, "wrong") {
		t.Errorf("with a wrong service account: %+v, %v", got, err)
	}
	c, _, err = configured(t, plugintest.NewHost(t), map[string]string{"url": srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Find(t.Context(), "r", "alice", ""); !errors.Is(err, realm.ErrNoFinder) {
		t.Errorf("without a service account: %v", err)
	}
	if _, _, err := configured(t, plugintest.NewHost(t), map[string]string{"url": srv.URL, "serviceUser": "x"}); err == nil {
		t.Error("half an account is taken")
	}
}
