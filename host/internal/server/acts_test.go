package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	ctl "ctl.internal"
	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// acting is a controller whose requests are recorded.
type acting struct {
	chained
	t *testing.T
}

func newActing(t *testing.T) acting {
	t.Helper()
	ini, err := ctl.Templates.ReadFile("etc/sec.ini")
	if err != nil {
		t.Fatal(err)
	}
	return acting{chain(t, string(ini)), t}
}

// ask sends a request; auth is USER:PASSWORD, a token, or empty.
func (a acting) ask(method, path, auth, body string, header ...string) *httptest.ResponseRecorder {
	a.t.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:4242"
	if user, password, ok := strings.Cut(auth, ":"); ok {
		r.SetBasicAuth(user, password)
	} else if auth != "" {
		r.Header.Set("Authorization", "Bearer "+auth)
	}
	kind := "application/json"
	if strings.HasPrefix(body, "grant_type") {
		kind = "application/x-www-form-urlencoded"
	}
	r.Header.Set("Content-Type", kind)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	a.front.ServeHTTP(w, r)
	return w
}

// records are those that the audit has.
func (a acting) records() (out []logs.AuditRecord) {
	a.t.Helper()
	if _, err := logs.VerifyAudit(a.dir, nil, func(r logs.AuditRecord) bool {
		out = append(out, r)
		return true
	}); err != nil {
		a.t.Fatal(err)
	}
	return out
}

// Every request that changes something is one record, whoever serves it, with who sent it, from where, what it was and
// how it ended; reads are none.
func TestEveryChangeOverHTTPIsOneRecord(t *testing.T) {
	a := newActing(t)
	token := ""
	{
		w := a.ask("POST", "/oauth2/token", "", "grant_type=password&username=admin&password=admin")
		var got struct {
			Token string `json:"access_token"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Token == "" {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		token = got.Token
	}
	const policies = `{"aaa:policies": {"aaa:policies": [{"aaa:resource": "/x/**", "aaa:permissions": [{"aaa:role": "admin", "aaa:actions": ["get"]}]}]}}`
	for _, c := range []struct {
		method, path, auth, body string
		status                   int
		who, what, object        string
		outcome, credential      string
	}{
		{"PUT", "/web/places/t", "admin:admin", `{"n": {"x": 1, "y": 2}}`, 204, "admin@sdn", "request", "PUT /web/places/t", "ok", "password"},
		{"PUT", "/web/places/t/", token, `{"n": {"x": 1, "y": 2}}`, 204, "admin@sdn", "request", "PUT /web/places/t", "ok", "token"},
		{"PUT", "/web/places/t", "admin:admin", `{`, 400, "admin@sdn", "request", "PUT /web/places/t", "failed", "password"},
		{"POST", "/auth/v1/users", token, `{"name": "bob", "domainid": "sdn", "password": "hunter2secret"}`, 201, "admin@sdn", "create user", "bob@sdn", "ok", "token"},
		{"PUT", "/auth/v1/users/bob@sdn", token, `{"password": "hunter3secret", "enabled": false, "email": "b@x.org"}`, 200, "admin@sdn", "update user", "bob@sdn: disabled, email, password", "ok", "token"},
		{"PUT", "/auth/v1/users/bob@sdn", token, `{"enabled": true}`, 200, "admin@sdn", "update user", "bob@sdn: enabled", "ok", "token"},
		{"DELETE", "/auth/v1/users/none@sdn", "admin:admin", "", 404, "admin@sdn", "request", "DELETE /auth/v1/users/none@sdn", "failed", "password"},
		{"DELETE", "/auth/v1/users/bob@sdn", "user:user", "", 401, "user@sdn", "request denied", "DELETE /auth/v1/users/bob@sdn", "refused", "password"},
		{"DELETE", "/auth/v1/users/bob@sdn", "", "", 401, "anonymous", "request denied", "DELETE /auth/v1/users/bob@sdn", "refused", ""},
		{"POST", "/restconf/operations/switch-db:clear-db", "admin:admin", `{"input": {}}`, 404, "admin@sdn", "request", "POST /rests/operations/switch-db:clear-db", "failed", "password"},
		{"POST", "/operations/ctl-system:none", "admin:admin", `{"input": {}}`, 404, "admin@sdn", "request", "POST /rests/operations/ctl-system:none", "failed", "password"},
		{"PUT", "/restconf/config/aaa:http-authorization/policies", "admin:admin", policies, 201, "admin@sdn", "request", "PUT /restconf/config/aaa:http-authorization/policies", "ok", "password"},
		{"DELETE", "/rests/data/aaa:http-authorization/policies", token, "", 204, "admin@sdn", "request", "DELETE /rests/data/aaa:http-authorization/policies", "ok", "token"},
		{"POST", "/web/keys", "user:user", `{"key": "none"}`, 400, "user@sdn", "request", "POST /web/keys", "failed", "password"},
		{"POST", "/web/login", "", `{"user": "user", "password": "user"}`, 204, "user@sdn", "begin session", "user@sdn", "ok", ""},
		{"POST", "/web/logout", "", "", 204, "anonymous", "request", "POST /web/logout", "ok", ""},
		{"GET", "/auth/v1/users", "admin:admin", "", 200, "", "", "", "", ""},
		{"HEAD", "/", "admin:admin", "", 200, "", "", "", "", ""},
		{"POST", "/oauth2/introspect", "admin:admin", "token=x", 200, "", "", "", "", ""},
	} {
		before := len(a.records())
		var header []string
		if c.path == "/oauth2/introspect" {
			header = []string{"Content-Type", "application/x-www-form-urlencoded"}
		}
		w := a.ask(c.method, c.path, c.auth, c.body, header...)
		if w.Code != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
		got := a.records()[before:]
		if c.what == "" {
			if len(got) > 0 {
				t.Errorf("%s %s is recorded: %+v", c.method, c.path, got)
			}
			continue
		}
		if len(got) != 1 {
			t.Errorf("%s %s: %d records: %+v", c.method, c.path, len(got), got)
			continue
		}
		r := got[0]
		if r.Who != c.who || r.What != c.what || r.Object != c.object || r.Outcome != c.outcome || r.Status != c.status || r.Method != c.method ||
			r.Address != "127.0.0.1" || r.Request != w.Header().Get(requestIDHeader) || r.Resource == "" {
			t.Errorf("%s %s: %+v", c.method, c.path, r)
		}
		if known := c.who != anonymous && c.credential != ""; known && (r.Realm != "tokenAuthRealm" || (r.Credential != "") != (c.credential == "token")) {
			t.Errorf("%s %s: realm %q, token %q", c.method, c.path, r.Realm, r.Credential)
		}
		if text, _ := json.Marshal(r); strings.Contains(string(text), "secret") || strings.Contains(string(text), token) {
			t.Errorf("a secret is in the audit: %s", text)
		}
	}
}

// What many requests of one user repeat is one record a minute with their number.
func TestRepeatedRecordsAreFolded(t *testing.T) {
	a := newActing(t)
	const login = "grant_type=password&username=user&password=user"
	for range 20 {
		if w := a.ask("POST", "/oauth2/token", "", login); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
		a.ask("DELETE", "/auth/v1/users/admin@sdn", "user:user", "")
	}
	if n := len(a.records()); n != 2 {
		t.Fatalf("%d records of 20 tokens and 20 refusals", n)
	}
	a.Server.flushFolded(a.Server.began, true)
	got := a.records()[2:]
	slices.SortFunc(got, func(x, y logs.AuditRecord) int { return strings.Compare(x.What, y.What) })
	if len(got) != 2 || got[0].What != "issue token" || got[0].Count != 19 || got[1].What != "request denied" || got[1].Count != 19 || got[1].Who != "user@sdn" {
		t.Errorf("%+v", got)
	}
}

// While the audit cannot be written, identities, policies and certificates are not changed; logins and other changes go
// on, and their records are written afterwards.
func TestNothingProtectedChangesWithoutTheAudit(t *testing.T) {
	a := newActing(t)
	_ = a.Server.audit.Close()
	dir := a.dir
	var err error
	if a.Server.audit, err = logs.OpenAudit(dir, 1, 100); err != nil { // each record begins a file
		t.Fatal(err)
	}
	a.ask("PUT", "/web/places/a", "admin:admin", `{}`)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // no directory can be made there
		t.Fatal(err)
	}
	const user = `{"name": "bob", "domainid": "sdn", "password": "password1"}`
	if w := a.ask("PUT", "/web/places/b", "admin:admin", `{}`); w.Code != http.StatusNoContent {
		t.Errorf("what needs no audit: %d", w.Code)
	}
	if w := a.ask("POST", "/auth/v1/users", "admin:admin", user); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("a user is made without the audit: %d %s", w.Code, w.Body)
	}
	if err := a.Server.refuseCommand("aaa:add-user"); err == nil {
		t.Error("a user is made at the console without the audit")
	}
	for _, name := range []string{"feature:uninstall", "access:unblock", "switch:add"} {
		if err := a.Server.refuseCommand(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w := a.ask("DELETE", "/rests/data/aaa:http-authorization/policies", "admin:admin", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("policies are changed without the audit: %d", w.Code)
	}
	if w := a.ask("POST", "/oauth2/token", "", "grant_type=password&username=user&password=user"); w.Code != http.StatusOK {
		t.Errorf("a login: %d", w.Code)
	}
	a.Server.loaded.Audit.Required = "all"
	if w := a.ask("PUT", "/web/places/c", "admin:admin", `{}`); w.Code != http.StatusServiceUnavailable {
		t.Errorf("with audit.required: all a change is made: %d", w.Code)
	}
	a.Server.loaded.Audit.Required = "protected"
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	a.ask("PUT", "/web/places/d", "admin:admin", `{}`)
	if w := a.ask("POST", "/auth/v1/users", "admin:admin", user); w.Code != http.StatusCreated {
		t.Errorf("afterwards: %d %s", w.Code, w.Body)
	}
	var got []string
	for _, r := range a.records() {
		got = append(got, r.What+" "+r.Resource)
	}
	if want := "request /web/places/b, issue token /oauth2/token, request /web/places/d, create user /auth/v1/users"; !strings.HasSuffix(strings.Join(got, ", "), want) {
		t.Errorf("%q", got)
	}
}

// Each operation that a plugin has carried out is recorded with who it is for, whatever its outcome is.
func TestOperationsByPluginsAreRecorded(t *testing.T) {
	a := newActing(t)
	done := map[string]error{"restart-plugin": nil, "stop-plugin": fault.New(fault.Unavailable, "it hangs"), "get-status": nil}
	a.Server.invoker = invoker{s: a.Server, host: operations.Mux{}}
	for rpc, err := range done {
		a.Server.invoker.host[systemModule+":"+rpc] = operations.HandlerFunc(func(context.Context, *operations.Request) (any, error) { return nil, err })
	}
	calls := pluginCalls{a.Server}
	for _, c := range []struct{ user, rpc, input, outcome string }{
		{"user", "aaa-cert-rpc:getCtlCertificateReq", `{}`, "refused"},
		{"admin", "restart-plugin", `{"name": "p"}`, "ok"},
		{"admin", "stop-plugin", `{"name": "p"}`, "failed"},
		{"admin", "stop-plugin", `{"name": 7, "x": 1}`, "failed"},
		{"admin", "no-such", `{}`, "failed"},
		{"admin", "get-status", `{}`, ""},
	} {
		before := len(a.records())
		who := caller.Caller{User: c.user, Domain: "sdn", Roles: []string{c.user}, Address: "192.0.2.7:1", RequestID: "r-" + c.rpc}
		module, rpc, other := strings.Cut(c.rpc, ":")
		if !other {
			module, rpc = systemModule, c.rpc
		}
		_, err := calls.Call(caller.With(t.Context(), who), "lab", module, rpc, []byte(c.input))
		got := a.records()[before:]
		if c.outcome == "" {
			if err != nil || len(got) != 0 {
				t.Errorf("%s: %v, %+v", c.rpc, err, got)
			}
			continue
		}
		if len(got) != 1 || (err == nil) != (c.outcome == "ok") {
			t.Errorf("%s as %s: %v, %+v", c.rpc, c.user, err, got)
			continue
		}
		r := got[0]
		if r.Who != who.ID() || r.What != "operation by plugin lab" || r.Outcome != c.outcome || r.Resource != operationPath(module, rpc) ||
			r.Method != "POST" || r.Address != "192.0.2.7" || r.Request != who.RequestID {
			t.Errorf("%s as %s: %+v", c.rpc, c.user, r)
		}
	}
	// Whose domain is only called like that of plugins is a user.
	for want, ctx := range map[string]context.Context{
		"lab@plugin": caller.With(t.Context(), caller.Caller{User: "lab", Domain: aaa.PluginDomain}),
		"ann@sdn":    caller.With(aaa.AsPlugin(t.Context(), "lab"), caller.Caller{User: "ann", Domain: "sdn"}),
	} {
		a.Server.calledByPlugin(ctx, "lab", systemModule, "restart-plugin", nil)
		if all := a.records(); all[len(all)-1].Who != want {
			t.Errorf("of %s: %+v", want, all[len(all)-1])
		}
	}
	a.Server.calledByPlugin(aaa.AsPlugin(t.Context(), "lab"), "lab", systemModule, "restart-plugin", nil)
	all := a.records()
	if last := all[len(all)-1]; last.Who != "plugin:lab" || last.Outcome != "ok" {
		t.Errorf("of the plugin itself: %+v", last)
	}
}

func BenchmarkRecorder(b *testing.B) {
	ini, err := ctl.Templates.ReadFile("etc/sec.ini")
	if err != nil {
		b.Fatal(err)
	}
	c := chain(b, string(ini))
	token := c.token(b)
	inner := c.Server.browsers.checkOrigin(c.Server.aaa.Filter(c.Server.serveReadHeaders(c.Server.router)))
	for name, h := range map[string]http.Handler{"without": inner, "with": c.Server.recordRequests(inner)} {
		front := outermostHandler(h, c.Server.ids, 1<<20, &c.Server.inFlight, 0, c.Server.log)
		b.Run("write/"+name, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequest("PUT", "http://127.0.0.1/web/places/t", strings.NewReader(`{"n": {"x": 1, "y": 2}}`))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer "+token)
				w := httptest.NewRecorder()
				if front.ServeHTTP(w, r); w.Code != http.StatusNoContent {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
		b.Run("read/"+name, func(b *testing.B) {
			client := serveOne(b, front)
			request := []byte("GET /web/places/t HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token + "\r\n\r\n")
			client.ask(b, request)
			for b.Loop() {
				client.ask(b, request)
			}
		})
	}
}

// BenchmarkRecordOnAWrite is what a record costs a request that writes to the embedded datastore. Both ways are measured in turn, so
// that other load on the machine, and what the disk does meanwhile, meet both alike.
func BenchmarkRecordOnAWrite(b *testing.B) {
	ini, err := ctl.Templates.ReadFile("etc/sec.ini")
	if err != nil {
		b.Fatal(err)
	}
	store, err := open.Store(b.Context(), home.Dir(b.TempDir()), home.Default().Datastore, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	c := chainOn(b, string(ini), store)
	inner := c.Server.browsers.checkOrigin(c.Server.aaa.Filter(c.Server.serveReadHeaders(c.Server.router)))
	ways := []http.Handler{inner, c.Server.recordRequests(inner)}
	for i, h := range ways {
		ways[i] = outermostHandler(h, c.Server.ids, 1<<20, &c.Server.inFlight, 0, c.Server.log)
	}
	took := make([][]time.Duration, len(ways))
	n := 0
	write := func(way int) {
		n++
		body := fmt.Sprintf(`{"n": {"x": %d, "y": 2}}`, n)
		r := httptest.NewRequest("PUT", "http://127.0.0.1/web/places/t", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.SetBasicAuth("admin", "admin")
		w := httptest.NewRecorder()
		began := time.Now()
		ways[way].ServeHTTP(w, r)
		took[way] = append(took[way], time.Since(began))
		if w.Code != http.StatusNoContent {
			b.Fatal(w.Code, w.Body)
		}
	}
	for b.Loop() {
		write(n / 2 % 2)
		write(1 - (n-1)/2%2)
	}
	median := func(way int) float64 {
		slices.Sort(took[way])
		return float64(took[way][len(took[way])/2].Nanoseconds())
	}
	b.ReportMetric(median(0)/1000, "µs-without")
	b.ReportMetric(median(1)/1000, "µs-with")
	b.ReportMetric(100*(median(1)/median(0)-1), "%-more")
}
