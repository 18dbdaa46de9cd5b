package aaa_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/mux"
	"go.uber.org/goleak"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/caller"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

const defaultINI = `[main]
tokenAuthRealm = org.ctl.aaa.sec.realm.TokenAuthRealm
securityManager.realms = $tokenAuthRealm
[urls]
/auth/v1/** = authcBasic, roles[admin]
/** = authcBasic, dynamicAuthorization
`

type lab struct {
	*aaa.AAA
	*httptest.Server
	t testing.TB
}

// open starts a server with the services of this package; any other path answers
// who the caller is.
func open(t testing.TB, ini string, change ...func(*aaa.Options)) *lab {
	t.Helper()
	o := aaa.Options{
		SecINI: []byte(ini), First: identity.First{Admin: "admin", User: "user"},
		Passwords: password.Params{MemoryKiB: 64, Time: 1, Threads: 1}, ParallelLogins: 2,
	}
	for _, c := range change {
		c(&o)
	}
	if o.Store == nil {
		s := storetest.New(storetest.Options{})
		t.Cleanup(func() { s.Close() })
		o.Store = s
	}
	a, err := aaa.New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{AAA: a, t: t}
	router := mux.NewRouter().UseEncodedPath()
	for _, prefix := range []string{"/auth", "/oauth2", "/.well-known/oauth", "/web/login", "/web/logout", "/web/me", "/web/sessions", "/web/keys"} {
		router.PathPrefix(prefix).Handler(a.Handler())
	}
	router.PathPrefix("/").HandlerFunc(whoAmI)
	l.Server = httptest.NewServer(a.Filter(router))
	t.Cleanup(l.Server.Close)
	return l
}

func whoAmI(w http.ResponseWriter, r *http.Request) {
	c, _ := caller.From(r.Context())
	if r.Header.Get("Authorization") != "" && c.User != "" {
		http.Error(w, "the credentials were handed on", http.StatusInternalServerError)
		return
	}
	_, _ = io.WriteString(w, c.User+"@"+c.Domain+" "+strings.Join(c.Roles, ","))
}

type answer struct {
	status int
	header http.Header
	body   string
}

// identify puts "bearer TOKEN" or "USER:PASSWORD" into a request.
func identify(r *http.Request, auth string) {
	if token, ok := strings.CutPrefix(auth, "bearer "); ok {
		r.Header.Set("Authorization", "Bearer "+token)
	} else if auth != "" {
		user, pw, _ := strings.Cut(auth, ":")
		r.SetBasicAuth(user, pw)
	}
}

// do sends a request; auth is "user:password", a token after "bearer ", or nothing.
func (l *lab) do(method, path, auth, body string) answer {
	l.t.Helper()
	r, err := http.NewRequest(method, l.URL+path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	identify(r, auth)
	if strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/json")
	} else if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return l.send(r)
}

func (l *lab) send(r *http.Request) answer {
	l.t.Helper()
	resp, err := l.Client().Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

func (l *lab) want(status int, method, path, auth, body string) answer {
	l.t.Helper()
	a := l.do(method, path, auth, body)
	if a.status != status {
		l.t.Errorf("%s %s as %q: %d %s, want %d", method, path, auth, a.status, a.body, status)
	}
	return a
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
