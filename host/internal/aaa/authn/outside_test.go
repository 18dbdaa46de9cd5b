package authn_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/realm"
)

// hashing is the memory, in bytes, of one password hash of costly.
const hashing = 8 << 20

// costly is an authenticator with the local realm and one outside, in which a hash is
// seen by the memory it takes.
func costly(t *testing.T, o *outside, edit func(*authn.Options)) *authn.Authenticator {
	t.Helper()
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	h, err := password.New(password.Params{MemoryKiB: hashing >> 10, Time: 1, Threads: 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	id := identity.New(identity.Options{Store: store, Hasher: h})
	if _, err := id.Bootstrap(ctx, identity.First{Admin: "admin", User: "us:er"}); err != nil {
		t.Fatal(err)
	}
	options := authn.Options{Identity: id, Realms: []authn.Realm{{Name: "local"}, {Name: "o", Outside: o}}}
	edit(&options)
	return authn.New(options)
}

func TestEachRefusalCostsOneHashAndAnOutsideLoginNone(t *testing.T) {
	a := costly(t, &outside{users: map[string]string{"bob": "pw"}}, func(*authn.Options) {})
	for name, c := range map[string]struct {
		user, password string
		hashes         uint64
		ok             bool
	}{
		"outside":              {"bob", "pw", 0, true},
		"unknown everywhere":   {"eve", "pw", 1, false},
		"known outside, wrong": {"bob", "x", 1, false},
		"local, wrong":         {"user", "x", 1, false},
		"local":                {"user", "us:er", 1, true},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := a.Login(ctx, authn.Credentials{User: c.user, Password: c.password})
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) / hashing; n != c.hashes || (err == nil) != c.ok || err != nil && !errors.Is(err, authn.ErrRefused) {
			t.Errorf("%s: %d hashes, want %d; %v", name, n, c.hashes, err)
		}
	}
}

func TestALoginCacheThatIsOff(t *testing.T) {
	o := &outside{users: map[string]string{"bob": "pw"}}
	a := costly(t, o, func(o *authn.Options) { o.CacheFor = -1 })
	for range 3 {
		if _, err := a.Login(ctx, authn.Credentials{User: "bob", Password: "pw"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := o.calls(); n != 3 {
		t.Errorf("asked %d times, want each time", n)
	}
}

func TestLoginsOfARealmGoWithIt(t *testing.T) {
	var epoch, other atomic.Uint64
	epoch.Store(7)
	o, second := &outside{users: map[string]string{"bob": "pw"}}, &outside{users: map[string]string{"eve": "pw"}}
	l := open(t, authn.Realm{Name: "local"}, authn.Realm{Name: "o", Outside: o, Epoch: epoch.Load}, authn.Realm{Name: "second", Outside: second, Epoch: other.Load})
	asked := func(user string, want int, o *outside) {
		t.Helper()
		before := o.calls()
		if _, err := l.login(user, "pw"); err != nil {
			t.Fatal(err)
		}
		if n := o.calls() - before; n != want {
			t.Errorf("%s: asked %d times, want %d", user, n, want)
		}
	}
	asked("bob", 1, o)
	asked("eve", 1, second)
	asked("bob", 0, o)
	epoch.Store(8) // reloaded
	asked("eve", 0, second)
	asked("bob", 1, o)
	asked("bob", 0, o)
	epoch.Store(0) // uninstalled
	o.users = nil
	if _, err := l.login("bob", "pw"); !errors.Is(err, authn.ErrRefused) {
		t.Errorf("a login of a realm that is gone: %v", err)
	}
	asked("eve", 0, second)
}

func TestALoginVerifiedWhileItsRealmIsReplacedIsNotRemembered(t *testing.T) {
	var epoch atomic.Uint64
	o := &outside{users: map[string]string{"bob": "pw"}}
	l := open(t, authn.Realm{Name: "o", Outside: replacing{o, &epoch}, Epoch: epoch.Load})
	for range 3 {
		if _, err := l.login("bob", "pw"); err != nil {
			t.Fatal(err)
		}
	}
	if n := o.calls(); n != 3 {
		t.Errorf("asked %d times, want each time", n)
	}
}

// replacing is replaced while it answers.
type replacing struct {
	*outside
	epoch *atomic.Uint64
}

func (r replacing) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	r.epoch.Add(1)
	return r.outside.Authenticate(ctx, c)
}

// warning is a realm that lets everybody in, with a reason.
type warning struct{}

func (warning) Authenticate(context.Context, realm.Credentials) (realm.Result, error) {
	return realm.Result{Outcome: realm.Authenticated, Principal: "bob", Reason: "1 of 2 roles are left out"}, nil
}

func (warning) Close() error { return nil }

func TestWhatARealmSaysOfAGoodLoginIsLogged(t *testing.T) {
	var said []string
	a := costly(t, &outside{}, func(o *authn.Options) {
		o.Realms = []authn.Realm{{Name: "o", Outside: warning{}}}
		o.Attempt = func(_ context.Context, one authn.Attempt) { said = append(said, one.Reason) }
	})
	if _, err := a.Login(ctx, authn.Credentials{User: "bob", Password: "pw"}); err != nil || len(said) != 1 || said[0] != "1 of 2 roles are left out" {
		t.Errorf("%q, %v", said, err)
	}
}

// alias is a realm in which b@corp is bob.
type alias struct{ warning }

func (alias) Find(context.Context, string, string) (realm.Result, error) {
	return realm.Result{Outcome: realm.Authenticated, Principal: "bob"}, nil
}

// A token of an earlier release says only what its user typed: who is blocked by the realm's name does not get in with it.
func TestATokenWithoutThePrincipalOfABlockedUser(t *testing.T) {
	blocked := false
	a := costly(t, &outside{}, func(o *authn.Options) {
		o.Realms = []authn.Realm{{Name: "o", Outside: alias{}}}
		o.Blocked = func(realm, account string) bool { return blocked && realm == "o" && account == "bob@sdn" }
	})
	who := token.Outside{Realm: "o", User: "b@corp"}
	if l, err := a.Find(ctx, who); err != nil || l.User != "bob" {
		t.Fatalf("%+v, %v", l, err)
	}
	blocked = true
	if l, err := a.Find(ctx, who); !errors.Is(err, authn.ErrRefused) {
		t.Errorf("%+v, %v", l, err)
	}
}
