package authn_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/realm"
)

// tokens is a realm that takes tokens alone.
type tokens struct {
	known map[string]realm.Result
	fault error
	got   []realm.Credentials
}

func (k *tokens) Takes() []realm.Kind { return []realm.Kind{realm.Bearer} }

func (k *tokens) Authenticate(_ context.Context, c realm.Credentials) (realm.Result, error) {
	k.got = append(k.got, c)
	return k.known[c.Bearer], k.fault
}

func (k *tokens) Close() error { return nil }

// bearers is an authenticator whose clock and blocks a test sets.
type bearers struct {
	*authn.Authenticator
	now     time.Time
	blocked []string
}

func openBearers(t *testing.T, realms ...authn.Realm) *bearers {
	t.Helper()
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	h, err := password.New(password.Params{MemoryKiB: 64, Time: 1, Threads: 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	b := &bearers{now: time.Unix(1e9, 0)}
	b.Authenticator = authn.New(authn.Options{
		Identity: identity.New(identity.Options{Store: store, Hasher: h}),
		Realms:   realms,
		Now:      func() time.Time { return b.now },
		Blocked: func(realm, account string) bool {
			return slices.Contains(b.blocked, realm+"/"+account)
		},
	})
	return b
}

func (b *bearers) send(token string) (*authn.Login, error) {
	h := http.Header{"Authorization": {"Bearer " + token}}
	l, _, err := b.Request(ctx, h, peer(basic("", "")), rules.Bearer)
	return l, err
}

func good(user string, ends time.Time) realm.Result {
	return realm.Result{
		Outcome:   realm.Authenticated,
		Principal: user,
		Roles:     []string{"staff"},
		Expires:   ends,
	}
}

func TestATokenOfAnotherIssuerGoesToRealmsThatTakeTokens(t *testing.T) {
	passwords := &outside{users: map[string]string{"": ""}} // would let in who sends nothing
	first := &tokens{}
	second := &tokens{known: map[string]realm.Result{"a.b.c": good("admin", time.Unix(1e9+600, 0))}}
	b := openBearers(t,
		authn.Realm{Name: "passwords", Outside: passwords},
		authn.Realm{Name: "first", Outside: first},
		authn.Realm{Name: "second", Outside: second},
	)
	l, err := b.send("a.b.c")
	if err != nil || l.User != "admin" || l.Domain != "second" || l.Local || !slices.Equal(l.Roles, []string{"staff"}) {
		t.Fatalf("%+v, %v", l, err)
	}
	if passwords.calls() != 0 || len(first.got) != 1 || len(second.got) != 1 {
		t.Errorf("asked: %d, %d, %d", passwords.calls(), len(first.got), len(second.got))
	}
	if _, err := b.send("a.b.d"); !errors.Is(err, authn.ErrRefused) {
		t.Errorf("an unknown token: %v", err)
	}
	// One of the form of the controller's own is shown to nobody.
	if _, err := b.send("01234567-89ab-cdef-0123-456789abcdef"); !errors.Is(err, authn.ErrRefused) {
		t.Errorf("one of our own form: %v", err)
	}
	if passwords.calls() != 0 || len(first.got) != 2 || len(second.got) != 2 {
		t.Errorf("asked then: %d, %d, %d", passwords.calls(), len(first.got), len(second.got))
	}
	// Nor does a realm of tokens see passwords.
	if _, err := b.Login(ctx, authn.Credentials{User: "x", Password: "a.b.c"}); !errors.Is(err, authn.ErrRefused) {
		t.Errorf("a password: %v", err)
	}
	if len(first.got) != 2 || len(second.got) != 2 {
		t.Error("a realm of tokens was sent a password")
	}
}

func TestATokenIsBelievedUntilItEnds(t *testing.T) {
	ends := time.Unix(1e9+20, 0)
	k := &tokens{known: map[string]realm.Result{"t": good("ann", ends)}}
	b := openBearers(t, authn.Realm{Name: "k", Outside: k})
	l, err := b.send("t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.send("t"); err != nil || len(k.got) != 1 {
		t.Errorf("%v; asked %d times, want once", err, len(k.got))
	}
	if _, err := b.Still(ctx, l); err != nil {
		t.Errorf("a stream before the end: %v", err)
	}
	b.now = ends
	if _, err := b.Still(ctx, l); !errors.Is(err, authn.ErrRefused) {
		t.Errorf("a stream after the end: %v", err)
	}
	if _, err := b.send("t"); !errors.Is(err, authn.ErrRefused) || len(k.got) != 2 {
		t.Errorf("after its end: %v, asked %d times", err, len(k.got))
	}
}

func TestABlockEndsTheLoginsOfTokensAtOnce(t *testing.T) {
	k := &tokens{known: map[string]realm.Result{"t": good("ann@lab.test", time.Time{})}}
	for _, spelling := range []string{"ann@lab.test", "ann@lab.test@k"} {
		b := openBearers(t, authn.Realm{Name: "k", Outside: k})
		l, err := b.send("t")
		if err != nil {
			t.Fatal(err)
		}
		b.blocked = []string{"k/" + spelling}
		if _, err := b.Still(ctx, l); !errors.Is(err, authn.ErrRefused) {
			t.Errorf("%s: a stream goes on: %v", spelling, err)
		}
		for range 2 {
			if _, err := b.send("t"); !errors.Is(err, authn.ErrRefused) {
				t.Errorf("%s: %v", spelling, err)
			}
		}
	}
}

func TestARealmOfTokensThatCannotBeAskedIsUnavailable(t *testing.T) {
	k := &tokens{fault: errors.New("down")}
	b := openBearers(t, authn.Realm{Name: "k", Outside: k})
	var silent *authn.UnavailableError
	if _, err := b.send("t"); !errors.As(err, &silent) || silent.Realm != "k" {
		t.Errorf("%v", err)
	}
}
