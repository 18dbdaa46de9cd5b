package ldap

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	goldap "github.com/go-ldap/ldap/v3"

	"ctl.internal/internal/ldap/ldaptest"
	"ctl.internal/sdk/realm"
	"ctl.internal/sdk/realm/trust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func directory() []ldaptest.Entry {
	return []ldaptest.Entry{
		{DN: "uid=alice,dc=x", Password: "secret", Attributes: map[string][]string{"uid": {"alice"}, "objectClass": {"person"}}},
		{DN: "cn=system,dc=x", Password: "machine"},
	}
}

func client(t *testing.T, properties map[string]string) *Client {
	t.Helper()
	c := realm.Config{Name: "r", Kind: "K", Properties: map[string]realm.Property{}}
	for k, v := range properties {
		c.Properties[k] = realm.Property{Value: v, Origin: "sec.ini:1"}
	}
	r := realm.Read(c)
	s, _ := ReadSettings(r, "")
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	l := New(s, trust.New(nil, slog.Default()))
	t.Cleanup(func() { l.Close() })
	return l
}

func login(t *testing.T, c *Client, password string) realm.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return loginIn(ctx, t, c, password)
}

func loginIn(ctx context.Context, t *testing.T, c *Client, password string) realm.Result {
	t.Helper()
	n := 0
	err := c.Login(ctx, "uid=alice,dc=x", password, func(ctx context.Context, search Search) error {
		entries, err := search(ctx, Query{Base: "dc=x", Filter: "(uid=alice)", Attributes: []string{"objectClass"}})
		n = len(entries)
		return err
	})
	if err != nil {
		return Outcome(err)
	}
	if n != 1 {
		t.Errorf("%d entries", n)
	}
	return realm.Result{Outcome: realm.Authenticated}
}

func TestLogins(t *testing.T) {
	s := (&ldaptest.Server{Entries: directory()}).Start(t)
	c := client(t, map[string]string{"url": s.URL()})
	for password, want := range map[string]realm.Outcome{"secret": realm.Authenticated, "wrong": realm.Unknown, "": realm.Unknown} {
		if got := login(t, c, password); got.Outcome != want {
			t.Errorf("%q: %+v", password, got)
		}
	}
	if s.Binds.Load() != 2 {
		t.Errorf("%d binds: an empty password must not reach the server", s.Binds.Load())
	}
	if s.Dials.Load() != 1 {
		t.Errorf("%d connections for logins one after the other", s.Dials.Load())
	}
}

func TestAServerThatRestartsCostsNoLogin(t *testing.T) {
	s := (&ldaptest.Server{Entries: directory()}).Start(t)
	c := client(t, map[string]string{"url": s.URL(), "systemUsername": "cn=system,dc=x", "systemPassword": "machine"})
	for range 5 {
		if got := login(t, c, "secret"); got.Outcome != realm.Authenticated {
			t.Fatalf("%+v", got)
		}
		s.Drop()
	}
}

// A system account that the server refuses for a while: no login passes meanwhile with what an
// anonymous search finds, and all do afterwards without a reload.
func TestARefusedSystemAccountPoisonsNothing(t *testing.T) {
	var refused atomic.Bool
	refused.Store(true)
	s := (&ldaptest.Server{Entries: directory(), Refuse: func(dn string) bool { return dn == "cn=system,dc=x" && refused.Load() }}).Start(t)
	c := client(t, map[string]string{"url": s.URL(), "systemUsername": "cn=system,dc=x", "systemPassword": "machine"})
	for range 3 {
		if got := login(t, c, "secret"); got.Outcome != realm.Unavailable || !strings.Contains(got.Reason, "system account") {
			t.Errorf("while it is refused: %+v", got)
		}
	}
	refused.Store(false)
	for range 3 {
		if got := login(t, c, "secret"); got.Outcome != realm.Authenticated {
			t.Errorf("afterwards: %+v", got)
		}
	}
	if n := s.Anonymous.Load(); n != 0 {
		t.Errorf("%d searches on connections whose bind failed", n)
	}
}

// hasty has a minute, but little for one of the servers.
type hasty struct {
	context.Context
	c    *Client
	slow int // index of the server
}

func (h hasty) Deadline() (time.Time, bool) {
	left := time.Minute
	if h.c.users.firstServer() == h.slow {
		left = time.Second
	}
	return time.Now().Add(left), true
}

func TestAnotherServerTakesOver(t *testing.T) {
	gone := (&ldaptest.Server{}).Start(t)
	gone.Stop()
	silent, good := (&ldaptest.Server{}).Start(t), (&ldaptest.Server{Entries: directory()}).Start(t)
	silent.Hang.Store(true)
	c := client(t, map[string]string{"url": gone.URL() + ", " + silent.URL() + " " + good.URL()})
	for range 3 {
		if got := loginIn(hasty{t.Context(), c, 1}, t, c, "secret"); got.Outcome != realm.Authenticated {
			t.Fatalf("%+v", got)
		}
	}
	if n := silent.Dials.Load(); n > 1 {
		t.Errorf("the silent server was asked %d times; once is enough to learn", n)
	}
	good.Hang.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r := Outcome(c.Login(ctx, "uid=alice,dc=x", "secret", nil)); r.Outcome != realm.Unavailable {
		t.Errorf("all silent: %+v", r)
	}
}

func TestResultCodes(t *testing.T) {
	for code, want := range map[uint16]struct {
		outcome realm.Outcome
		text    string
	}{
		49: {realm.Unknown, "the account is disabled"}, 32: {realm.Unknown, "no such entry"}, 53: {realm.Unknown, "will not log this user in"},
		13: {realm.Unavailable, "startTLS"}, 10: {realm.Unavailable, "not followed"}, 51: {realm.Unavailable, "Busy"}, 80: {realm.Unavailable, "Other"},
	} {
		s := (&ldaptest.Server{BindCode: code, Diagnostic: "80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data 533, v1db1"}).Start(t)
		got := login(t, client(t, map[string]string{"url": s.URL()}), "secret")
		if got.Outcome != want.outcome || !strings.Contains(got.Reason, want.text) || strings.Contains(got.Reason, "secret") {
			t.Errorf("code %d: %+v", code, got)
		}
	}
}

func TestAWrongSystemAccountIsNoRefusalOfTheUser(t *testing.T) {
	s := (&ldaptest.Server{Entries: directory()}).Start(t)
	c := client(t, map[string]string{"url": s.URL(), "systemUsername": "cn=system,dc=x", "systemPassword": "stale"})
	if got := login(t, c, "secret"); got.Outcome != realm.Unavailable || !strings.Contains(got.Reason, "system account") {
		t.Errorf("%+v", got)
	}
}

func TestTooManyEntries(t *testing.T) {
	s := (&ldaptest.Server{Entries: directory()}).Start(t)
	c := client(t, map[string]string{"url": s.URL(), "sizeLimit": "1"})
	err := c.Login(t.Context(), "uid=alice,dc=x", "secret", func(ctx context.Context, search Search) error {
		entries, err := search(ctx, Query{Base: "dc=x", Filter: "(|(uid=alice)(!(uid=alice)))"})
		if len(entries) != 1 {
			t.Errorf("%d entries", len(entries))
		}
		return err
	})
	if !errors.Is(err, ErrSizeLimit) {
		t.Errorf("%v", err)
	}
}

// What a server's password policy says refuses a login with its reason, also where the password is right.
func TestThePasswordPolicyIsHeard(t *testing.T) {
	for name, c := range map[string]struct {
		code uint16
		says []byte
		want string
	}{
		"must be changed":         {0, []byte{0x81, 1, 2}, "the password must be changed"},
		"expired":                 {goldap.LDAPResultInvalidCredentials, []byte{0x81, 1, 0}, "the password has expired"},
		"locked":                  {goldap.LDAPResultInvalidCredentials, []byte{0x81, 1, 1}, "the account is locked"},
		"expired, grace logins":   {0, []byte{0xa0, 3, 0x81, 1, 4}, "the password has expired; it can be changed in 4 further logins"},
		"ends in a week":          {0, []byte{0xa0, 3, 0x80, 1, 7}, ""},
		"nothing":                 {0, []byte{}, ""},
		"no control":              {0, nil, ""},
		"wrong, and nothing said": {goldap.LDAPResultInvalidCredentials, []byte{}, "user unknown or password wrong"},
	} {
		s := (&ldaptest.Server{Entries: directory(), BindCode: c.code, Policy: func(string) []byte { return c.says }}).Start(t)
		got := login(t, client(t, map[string]string{"url": s.URL()}), "secret")
		if refused := c.want != ""; refused != (got.Outcome == realm.Unknown) || got.Reason != c.want {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
}
