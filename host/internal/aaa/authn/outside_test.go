package authn_test

import (
	"errors"
	"runtime"
	"testing"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/datastore/memory"
)

// hashing is the memory, in bytes, of one password hash of costly.
const hashing = 8 << 20

// costly is an authenticator with the local realm and one outside, in which a hash is
// seen by the memory it takes.
func costly(t *testing.T, o *outside, edit func(*authn.Options)) *authn.Authenticator {
	t.Helper()
	store := memory.New(memory.Options{})
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
