package aaa_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/sdk/commands"
)

// browserTab sends what a page sends: the cookie of a login, and where the request comes from.
type browserTab struct {
	l      *lab
	cookie *http.Cookie
}

func (l *lab) logIn(user, password string) *browserTab {
	l.t.Helper()
	r, err := http.NewRequest("POST", l.URL+"/web/login", strings.NewReader(`{"user":"`+user+`","password":"`+password+`"}`))
	must(l.t, err)
	r.Header.Set("Content-Type", "application/json")
	resp, err := l.Client().Do(r)
	must(l.t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent || len(resp.Cookies()) != 1 {
		l.t.Fatalf("login of %s: %s, %d cookies", user, resp.Status, len(resp.Cookies()))
	}
	return &browserTab{l, resp.Cookies()[0]}
}

func (b *browserTab) do(method, path string, headers ...string) answer {
	b.l.t.Helper()
	r, err := http.NewRequest(method, b.l.URL+path, nil)
	must(b.l.t, err)
	r.AddCookie(b.cookie)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	return b.l.send(r)
}

func (b *browserTab) want(status int, reason, method, path string, headers ...string) answer {
	b.l.t.Helper()
	a := b.do(method, path, headers...)
	if a.status != status || reason != "" && !strings.Contains(a.body, `"reason":"`+reason+`"`) {
		b.l.t.Errorf("%s %s: %d %s, want %d %s", method, path, a.status, a.body, status, reason)
	}
	return a
}

const samePage = "Sec-Fetch-Site: same-origin"

// The page's session is a login like Basic, under the specification's own rules, and nothing but the login sets a cookie.
func TestASessionIsALogin(t *testing.T) {
	l := open(t, defaultINI)
	b := l.logIn("admin", "admin")
	if c := b.cookie; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 || !strings.HasPrefix(c.Name, "ctl-") {
		t.Errorf("the cookie is %v", c)
	}
	if a := b.want(200, "", "GET", "/x"); a.body != "admin@sdn admin,user" {
		t.Errorf("the session is of %s", a.body)
	}
	b.want(200, "", "GET", "/auth/v1/users")
	for _, auth := range []string{"admin:admin", l.token("admin", "admin")} {
		if a := l.want(200, "GET", "/x", auth, ""); a.header.Get("Set-Cookie") != "" {
			t.Errorf("a request as %.10s was given a cookie", auth)
		}
	}
	l.want(401, "GET", "/x", "bearer "+b.cookie.Value, "") // the one is no token, and a token is no session
	other := &browserTab{l, &http.Cookie{Name: b.cookie.Name, Value: strings.TrimPrefix(l.token("admin", "admin"), "bearer ")}}
	other.want(401, "session", "GET", "/x")
	l.want(401, "POST", "/web/login", "", `{"user":"admin","password":"wrong"}`)
	l.want(400, "POST", "/web/login", "", `{"user":"admin"}`)
}

// A role that is missing differs from a session that has ended: by the reason, and by /web/me.
func TestARoleIsNotASession(t *testing.T) {
	l := open(t, defaultINI)
	b := l.logIn("user", "user")
	a := b.want(401, "role", "GET", "/auth/v1/users")
	if !strings.Contains(a.body, "roles[admin]") || a.header.Get("WWW-Authenticate") != "" {
		t.Errorf("the refusal does not name the role, or asks for a login: %v %s", a.header, a.body)
	}
	a = b.want(200, "", "GET", "/web/me?may=GET%20/auth/v1/users&may=GET%20/x")
	var me struct {
		User string
		May  map[string]bool
	}
	must(t, json.Unmarshal([]byte(a.body), &me))
	if me.User != "user" || me.May["GET /auth/v1/users"] || !me.May["GET /x"] {
		t.Errorf("/web/me: %s", a.body)
	}
	b.want(204, "", "POST", "/web/logout", samePage)
	a = b.want(401, "session", "GET", "/x")
	if c := a.header.Get("WWW-Authenticate"); strings.HasPrefix(c, "Basic") {
		t.Errorf("a page is asked in a window of the browser: %s", c)
	}
	b.want(401, "login", "GET", "/web/me")
}

// A write with the cookie says where it comes from, as all browsers do.
func TestWritesOfASessionProveTheirOrigin(t *testing.T) {
	b := open(t, defaultINI).logIn("admin", "admin")
	b.want(403, "", "POST", "/x")
	b.want(403, "", "POST", "/web/logout")
	b.want(403, "", "DELETE", "/web/sessions/x")
	b.want(200, "", "POST", "/x", samePage)
}

// A session ends unused, and after its life however much it is used; what a page asks by itself is no use.
func TestSessionsEnd(t *testing.T) {
	var now atomic.Int64
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := open(t, defaultINI, func(o *aaa.Options) { o.Now = func() time.Time { return start.Add(time.Duration(now.Load())) } })
	idle, used, polled := l.logIn("user", "user"), l.logIn("user", "user"), l.logIn("user", "user")
	for range 20 {
		now.Add(int64(10 * time.Minute))
		used.want(200, "", "GET", "/x")
		polled.do("GET", "/x", "Ctl-Background: 1")
	}
	idle.want(401, "session", "GET", "/x")
	polled.want(401, "session", "GET", "/x")
	for now.Load() < int64(12*time.Hour-time.Minute) {
		now.Add(int64(20 * time.Minute))
		used.do("GET", "/x")
	}
	used.want(401, "session", "GET", "/x")
}

// Users see and end their own sessions, an administrator those of all and their tokens, and a new password ends all.
func TestOwnSessions(t *testing.T) {
	l := open(t, defaultINI)
	one, two, admin := l.logIn("user", "user"), l.logIn("user", "user"), l.logIn("admin", "admin")
	var list struct {
		Sessions []struct {
			ID      string
			Current bool
		}
	}
	must(t, json.Unmarshal([]byte(one.want(200, "", "GET", "/web/sessions").body), &list))
	if len(list.Sessions) != 2 {
		t.Fatalf("%+v", list)
	}
	for _, s := range list.Sessions {
		if !s.Current {
			one.want(204, "", "DELETE", "/web/sessions/"+s.ID, samePage)
		}
	}
	two.want(401, "session", "GET", "/x")
	one.want(200, "", "GET", "/x")

	token := l.token("user", "user")
	all, ended := l.shown("access:tokens"), 0
	for _, k := range all {
		at := "/web/sessions/" + k["id"].(string)
		switch {
		case k["user"] == "admin@sdn":
			one.want(404, "", "DELETE", at, samePage)
		case k["kind"] == "access token":
			l.want(200, "GET", "/x", token, "")
			admin.want(204, "", "DELETE", at, samePage)
			admin.want(404, "", "DELETE", at, samePage)
			l.want(401, "GET", "/x", token, "")
			ended++
		}
	}
	admin.want(200, "", "GET", "/x")
	if ended != 1 {
		t.Errorf("%d tokens were ended, of %+v", ended, all)
	}
	l.want(200, "PUT", "/auth/v1/users/user@sdn", "admin:admin", `{"password":"another-one"}`)
	one.want(401, "session", "GET", "/x")
}

// shown is what a command that changes nothing answers.
func (l *lab) shown(name string) (out []map[string]any) {
	l.t.Helper()
	c, ok := commands.Find(l.RealmCommands(), name)
	if !ok || !c.Safe {
		l.t.Fatalf("%s: there %v, safe %v", name, ok, c.Safe)
	}
	var b bytes.Buffer
	must(l.t, c.Run(ctx, &commands.Invocation{Format: "json", Stdout: &b}))
	must(l.t, json.Unmarshal(b.Bytes(), &out))
	return out
}

// An administrator sees who has sessions, and the rules, without anything that would log in.
func TestTokensAndRulesAreShown(t *testing.T) {
	l := open(t, defaultINI)
	l.logIn("user", "user")
	l.logIn("admin", "admin")
	if got := l.shown("access:tokens"); len(got) != 2 || got[0]["user"] != "admin@sdn" || got[1]["user"] != "user@sdn" || got[1]["kind"] != "session" || got[1]["from"] == "" {
		t.Errorf("%v", got)
	}
	if got := l.shown("access:rules"); len(got) == 0 || got[0]["line"] == nil || got[0]["pattern"] == "" {
		t.Errorf("%v", got)
	}
}
