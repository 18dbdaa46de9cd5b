package authn_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/aaa/secini"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/realm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// outside is a realm that knows users by their password, or answers with fault.
type outside struct {
	mu    sync.Mutex
	users map[string]string
	fault error
	hang  bool
	asked int
}

func (o *outside) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	o.mu.Lock()
	o.asked++
	hang, fault, known := o.hang, o.fault, o.users[c.User] == c.Password
	o.mu.Unlock()
	if hang {
		<-ctx.Done()
		return realm.Result{}, ctx.Err()
	}
	if fault != nil || !known {
		return realm.Result{Outcome: realm.Unknown}, fault
	}
	return realm.Result{Outcome: realm.Authenticated, Principal: c.User, Roles: []string{"staff"}}, nil
}

func (o *outside) Close() error { return nil }

func (o *outside) calls() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked
}

type lab struct {
	*authn.Authenticator
	id    *identity.Service
	mu    sync.Mutex
	tries []authn.Attempt
	waits []time.Duration
	now   time.Time
}

func open(t testing.TB, realms ...authn.Realm) *lab {
	t.Helper()
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	h, err := password.New(password.Params{MemoryKiB: 64, Time: 1, Threads: 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{id: identity.New(identity.Options{Store: store, Hasher: h}), now: time.Unix(1e9, 0)}
	if _, err := l.id.Bootstrap(ctx, identity.First{Admin: "admin", User: "us:er"}); err != nil {
		t.Fatal(err)
	}
	if realms == nil {
		realms = []authn.Realm{{Name: "local"}}
	}
	l.Authenticator = authn.New(authn.Options{
		Identity: l.id, Realms: realms, Now: func() time.Time { return l.now },
		Attempt: func(_ context.Context, a authn.Attempt) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.tries = append(l.tries, a)
		},
		Wait: func(_ context.Context, d time.Duration) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.waits = append(l.waits, d)
			return nil
		},
	})
	return l
}

// peer is where a request says it came from.
func peer(r *http.Request) netip.AddrPort { return netip.MustParseAddrPort(r.RemoteAddr) }

func basic(user, password string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	r.SetBasicAuth(user, password)
	return r
}

func (l *lab) login(user, password string) (*authn.Login, error) {
	r := basic(user, password)
	who, _, err := l.Request(ctx, r.Header, peer(r), rules.Basic)
	return who, err
}

func TestColonsInPasswordsAreKept(t *testing.T) {
	l := open(t)
	if who, err := l.login("user", "us:er"); err != nil || who.User != "user" {
		t.Errorf("%+v, %v", who, err)
	}
	if _, err := l.login("user", "us"); !errors.Is(err, authn.ErrRefused) {
		t.Errorf("half a password: %v", err)
	}
}

func TestRealmsAreTriedInOrder(t *testing.T) {
	first, second := &outside{users: map[string]string{"bob": "one"}}, &outside{users: map[string]string{"bob": "two", "eve": "x"}}
	l := open(t, authn.Realm{Name: "first", Outside: first}, authn.Realm{Name: "local"}, authn.Realm{Name: "second", Outside: second})
	for _, c := range []struct{ user, password, realm string }{
		{"bob", "one", "first"}, {"bob", "two", "second"}, {"admin", "admin", "local"}, {"eve", "x", "second"}, {"eve", "y", ""},
	} {
		who, err := l.login(c.user, c.password)
		if (err == nil) != (c.realm != "") || err == nil && who.Realm != c.realm {
			t.Errorf("%s:%s: %+v, %v, want realm %q", c.user, c.password, who, err, c.realm)
		}
	}
	if n := first.calls(); n != 5 {
		t.Errorf("the first realm was asked %d times, want each time", n)
	}
	if n := second.calls(); n != 3 {
		t.Errorf("the second realm was asked %d times, want only when the others did not know", n)
	}
}

func TestRealmThatCannotBeReachedIsSkippedLoggedAndNotRemembered(t *testing.T) {
	down := &outside{users: map[string]string{"bob": "pw"}, fault: errors.New("connection refused")}
	l := open(t, authn.Realm{Name: "down", Outside: down}, authn.Realm{Name: "local"})
	if _, err := l.login("admin", "admin"); err != nil {
		t.Errorf("the realm after it was not asked: %v", err)
	}
	if silent := new(authn.UnavailableError); !errors.As(second(l.login("bob", "pw")), &silent) || silent.Realm != "down" {
		t.Error("a login that could not be verified is called wrong")
	}
	logged := false
	for _, a := range l.tries {
		logged = logged || a.Realm == "down" && strings.Contains(a.Reason, "connection refused")
	}
	if !logged {
		t.Errorf("nothing says why: %+v", l.tries)
	}
	down.mu.Lock()
	down.fault = nil
	down.mu.Unlock()
	if who, err := l.login("bob", "pw"); err != nil || who.Realm != "down" {
		t.Errorf("being down was kept as a refusal: %v", err)
	}
}

func TestRealmThatHangsHasATimeOfItsOwn(t *testing.T) {
	l := open(t, authn.Realm{Name: "slow", Outside: &outside{hang: true}, Timeout: time.Millisecond}, authn.Realm{Name: "local"})
	if _, err := l.login("admin", "admin"); err != nil {
		t.Error(err)
	}
}

func TestOutsideLoginsAreBelievedForAWhile(t *testing.T) {
	o := &outside{users: map[string]string{"bob": "pw"}}
	l := open(t, authn.Realm{Name: "o", Outside: o})
	in := func() {
		t.Helper()
		if who, err := l.login("bob", "pw"); err != nil || who.Roles[0] != "staff" {
			t.Fatal(who, err)
		}
	}
	in()
	in()
	if o.calls() != 1 {
		t.Errorf("asked %d times, want once", o.calls())
	}
	l.now = l.now.Add(2 * time.Minute)
	in()
	if o.calls() != 2 {
		t.Error("not asked again after the time")
	}
	if err := l.id.CreateRole(ctx, identity.Role{Name: "x", Domain: "sdn"}); err != nil {
		t.Fatal(err)
	}
	in()
	if o.calls() != 3 {
		t.Error("a change of identities did not end it")
	}
}

func TestManyEqualLoginsAreVerifiedOnce(t *testing.T) {
	o := &outside{users: map[string]string{"bob": "pw"}}
	l := open(t, authn.Realm{Name: "o", Outside: o})
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if _, err := l.login("bob", "pw"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := o.calls(); n != 1 {
		t.Errorf("64 equal logins asked %d times", n)
	}
}

func TestGuessingIsDelayedAndThenRefused(t *testing.T) {
	l := open(t)
	var slow *throttle.BlockedError
	for i := range 8 {
		if _, err := l.login("admin", "wrong"); !errors.Is(err, authn.ErrRefused) {
			t.Fatalf("guess %d: %v", i, err)
		}
	}
	if _, err := l.login("admin", "admin"); !errors.As(err, &slow) || slow.Wait < 29*time.Second {
		t.Errorf("the right password while refused: %v", err)
	}
	for i, a := range l.tries {
		if a.Throttled != (i == 8) {
			t.Errorf("try %d counts as throttled: %v", i, a.Throttled)
		}
	}
	if len(l.waits) != 5 || l.waits[0] != 250*time.Millisecond || l.waits[4] != 4*time.Second {
		t.Errorf("delays %v", l.waits)
	}
	l.now = l.now.Add(time.Minute)
	if _, err := l.login("admin", "admin"); err != nil {
		t.Errorf("after the announced time: %v", err)
	}
}

func TestManyUsersMayLogInAtOnceFromOneAddress(t *testing.T) {
	users := map[string]string{}
	for i := range 500 {
		users[fmt.Sprint("u", i)] = "pw"
	}
	l := open(t, authn.Realm{Name: "local"}, authn.Realm{Name: "o", Outside: &outside{users: users}})
	var wg sync.WaitGroup
	for user := range users {
		wg.Go(func() {
			if _, err := l.login(user, "pw"); err != nil {
				t.Errorf("%s: %v", user, err)
			}
		})
	}
	wg.Wait()
	if len(l.waits) > 0 {
		t.Errorf("right passwords were delayed: %v", l.waits)
	}
}

func TestAnOutageOfARealmLocksNobodyOut(t *testing.T) {
	o := &outside{users: map[string]string{"bob": "pw"}, fault: errors.New("down")}
	l := open(t, authn.Realm{Name: "local"}, authn.Realm{Name: "o", Outside: o})
	for range 200 {
		if silent := new(authn.UnavailableError); !errors.As(second(l.login("bob", "pw")), &silent) {
			t.Fatal("while the realm is down a login is called wrong")
		}
	}
	for range 9 {
		_, _ = l.login("user", "guess")
	}
	if slow := new(throttle.BlockedError); !errors.As(second(l.login("user", "us:er")), &slow) {
		t.Error("during the outage a local user's password may be guessed")
	}
	o.mu.Lock()
	o.fault = nil
	o.mu.Unlock()
	l.waits = nil
	if _, err := l.login("bob", "pw"); err != nil || len(l.waits) > 0 {
		t.Errorf("after the outage: %v, delayed by %v", err, l.waits)
	}
}

func second[T any](_ T, err error) error { return err }

func TestUserAlreadyLoggedInIsNotThrottled(t *testing.T) {
	l := open(t)
	good, bad := basic("admin", "admin"), basic("admin", "wrong")
	if _, _, err := l.Request(ctx, good.Header, peer(good), rules.Basic); err != nil {
		t.Fatal(err)
	}
	bad.RemoteAddr = "192.0.2.9:1"
	for range 20 {
		_, _, _ = l.Request(ctx, bad.Header, peer(bad), rules.Basic)
	}
	if _, _, err := l.Request(ctx, good.Header, peer(good), rules.Basic); err != nil {
		t.Errorf("guessing locks out who is logged in: %v", err)
	}
}

func TestINIUsers(t *testing.T) {
	f, err := secini.Parse("sec.ini", []byte("[users]\nop = \"a,b\", staff, ops\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := authn.INIRealm(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		user, domain, password string
		want                   realm.Outcome
	}{{"op", "", "a,b", realm.Authenticated}, {"op", "sdn", "a,b", realm.Authenticated}, {"op", "lab", "a,b", realm.Unknown}, {"op", "", "a", realm.Unknown}, {"x", "", "", realm.Unknown}} {
		res, err := r.Authenticate(ctx, realm.Credentials{User: c.user, Domain: c.domain, Password: c.password})
		if err != nil || res.Outcome != c.want || c.want == realm.Authenticated && strings.Join(res.Roles, ",") != "staff,ops" {
			t.Errorf("%+v: %+v, %v", c, res, err)
		}
	}
}

// The argon2 hash has commas between its parameters, which also part the roles.
func TestINIUsersWithHashes(t *testing.T) {
	const sha = "$shiro1$SHA-256$1000$MDEyMzQ1Njc4OWFiY2RlZg==$JeXw7KpJkabgk+WPNgbJWQ3oUJPrwb1FDLpKVbLy/04="
	const argon = "$shiro2$argon2id$v=19$m=4096,t=3,p=4$MTIzNDU2Nzg5MDEyMzQ1Ng$bjcHqfb0LPHyS13eVaNcBga9LF12I3k34H5ULt2gyoI"
	f, err := secini.Parse("sec.ini", []byte("[users]\nlab = "+sha+", staff, ops\nbare = "+argon+", staff, ops\nquoted = \""+argon+"\", staff, ops\nplain = adm\\in\\\\pw, staff, ops\n"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := password.New(password.Params{MemoryKiB: 64, Time: 1, Threads: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := authn.INIRealm(f, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ user, right, wrong string }{
		{"lab", "p:w\u00fc", sha}, {"bare", "secret#shiro,password;Jo8opech", argon}, {"quoted", "secret#shiro,password;Jo8opech", argon},
		{"plain", `adm\in\\pw`, `adm\in\pw`}, {"nobody", "", sha},
	} {
		res, err := r.Authenticate(ctx, realm.Credentials{User: c.user, Password: c.wrong})
		if err != nil || res.Outcome != realm.Unknown {
			t.Errorf("%s with what is written in the file: %+v, %v", c.user, res, err)
		}
		if c.right == "" {
			continue
		}
		res, err = r.Authenticate(ctx, realm.Credentials{User: c.user, Password: c.right})
		if err != nil || res.Outcome != realm.Authenticated || strings.Join(res.Roles, ",") != "staff,ops" {
			t.Errorf("%s: %+v, %v", c.user, res, err)
		}
	}
	bad, err := secini.Parse("sec.ini", []byte("[users]\na = $6$salt$hash, x\nb = {SSHA}AAAA\nc =\nd = good\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = authn.INIRealm(bad, h)
	for _, want := range []string{`sec.ini:2: user "a": the form $6$`, `sec.ini:3: user "b": `, `sec.ini:4: user "c" has no password`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

func FuzzBasic(f *testing.F) {
	l := open(f)
	for _, s := range []string{"Basic YWRtaW46YWRtaW4=", "Basic", "basic  ", "Bearer x", "Basic " + base64.StdEncoding.EncodeToString([]byte("admin@:admin")), "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, h string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), 1).String()
		r.Header["Authorization"] = []string{h}
		who, present, err := l.Request(ctx, r.Header, peer(r), rules.Basic|rules.Bearer)
		if !present || (who == nil) == (err == nil) {
			t.Fatalf("%q: %+v, %v, %v", h, who, present, err)
		}
		if err == nil && !strings.Contains(h, base64.StdEncoding.EncodeToString([]byte("admin:admin"))) &&
			!strings.Contains(h, base64.StdEncoding.EncodeToString([]byte("admin@sdn:admin"))) {
			t.Fatalf("%q logs in as %+v", h, who)
		}
	})
}
