package token_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

type lab struct {
	*token.Service
	t     testing.TB
	id    *identity.Service
	store datastore.Store
	now   time.Time
}

func open(t testing.TB) *lab {
	t.Helper()
	l := &lab{t: t, store: storetest.New(storetest.Options{}), now: time.Unix(1e9, 0)}
	t.Cleanup(func() { l.store.Close() })
	l.Service = l.another()
	h, err := password.New(password.Params{MemoryKiB: 64, Time: 1, Threads: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	l.id = identity.New(identity.Options{Store: l.store, Hasher: h, Dependents: []identity.Dependent{l.Dependents}})
	l.Bind(l.id)
	if _, err := l.id.Bootstrap(ctx, identity.First{Admin: "admin", User: "user"}); err != nil {
		t.Fatal(err)
	}
	return l
}

// another is a second service on the same store, as on another node.
func (l *lab) another() *token.Service {
	return token.New(token.Options{Store: l.store, Lifetime: time.Hour, Now: func() time.Time { return l.now }})
}

func (l *lab) issue(user string) string {
	l.t.Helper()
	p, err := l.id.Principal(ctx, user)
	if err != nil {
		l.t.Fatal(err)
	}
	tok, err := l.Issue(ctx, p)
	if err != nil {
		l.t.Fatal(err)
	}
	return tok
}

func (l *lab) live(s *token.Service, tok string) bool {
	l.t.Helper()
	h, err := s.Lookup(ctx, tok, false)
	if err != nil {
		l.t.Fatal(err)
	}
	return h.Known()
}

func (l *lab) keys() (n int) {
	l.t.Helper()
	err := l.store.View(ctx, func(sn datastore.Snapshot) error {
		for _, err := range sn.Range("aaa-token", datastore.RangeOptions{}) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

func TestTokensDiffer(t *testing.T) {
	l := open(t)
	seen := map[string]bool{}
	for range 1000 {
		tok := l.issue("admin@sdn")
		if seen[tok] || !token.WellFormed(tok) {
			t.Fatalf("token %q", tok)
		}
		seen[tok] = true
	}
	for _, bad := range []string{"", "x", "00000000-0000-0000-0000-00000000000G", "000000000-000-0000-0000-000000000000"} {
		if token.WellFormed(bad) || l.live(l.Service, bad) {
			t.Errorf("%q passes for a token", bad)
		}
	}
}

func TestExpiredTokensAreSwept(t *testing.T) {
	l := open(t)
	old := l.issue("user@sdn")
	l.now = l.now.Add(50 * time.Minute)
	fresh := l.issue("user@sdn")
	if n, err := l.Sweep(ctx); n != 0 || err != nil {
		t.Errorf("swept %d, %v, before anything expired", n, err)
	}
	l.now = l.now.Add(11 * time.Minute)
	if l.live(l.Service, old) || !l.live(l.Service, fresh) {
		t.Error("the lifetime does not decide")
	}
	if n, err := l.Sweep(ctx); n != 1 || err != nil || l.keys() != 2 {
		t.Errorf("swept %d, %v; %d keys are left, want the two of the fresh token", n, err, l.keys())
	}
}

// A node whose clock is ahead removes nothing that lives on the other nodes; one that is gone delays no sweep for ever.
func TestANodeWhoseClockIsAheadSweepsNoLiveTokens(t *testing.T) {
	l := open(t)
	fast := token.New(token.Options{Store: l.store, Lifetime: time.Hour, Now: func() time.Time { return l.now.Add(48 * time.Hour) }})
	tok := l.issue("user@sdn")
	gone := l.another()
	for range 5 {
		for _, s := range []*token.Service{l.Service, fast} {
			if err := s.Stamp(ctx); err != nil {
				t.Fatal(err)
			}
			if n, err := s.Sweep(ctx); n != 0 || err != nil {
				t.Fatalf("swept %d, %v", n, err)
			}
		}
		l.now = l.now.Add(10 * time.Minute)
	}
	if !l.live(l.Service, tok) {
		t.Error("the token does not live any more")
	}
	if err := gone.Stamp(ctx); err != nil { // and never again
		t.Fatal(err)
	}
	l.now = l.now.Add(time.Hour)
	swept := 0
	for range 5 {
		for _, s := range []*token.Service{l.Service, fast} {
			if err := s.Stamp(ctx); err != nil {
				t.Fatal(err)
			}
			n, err := s.Sweep(ctx)
			if err != nil {
				t.Fatal(err)
			}
			swept += n
		}
		l.now = l.now.Add(10 * time.Minute)
	}
	if swept != 1 || l.keys() != 2 {
		t.Errorf("%d swept, %d keys are left, want the stamps of the two nodes", swept, l.keys())
	}
}

func TestEndOfAUserRemovesTokens(t *testing.T) {
	l := open(t)
	l.issue("user@sdn")
	p, err := l.id.Principal(ctx, "user@sdn")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Grant(ctx, token.Holder{Principal: p}); err != nil { // with a refresh token
		t.Fatal(err)
	}
	keep := l.issue("admin@sdn")
	if err := l.id.DeleteUser(ctx, "user@sdn"); err != nil {
		t.Fatal(err)
	}
	if n := l.keys(); n != 2 {
		t.Errorf("%d keys are left, want the two of the administrator's token", n)
	}
	l.now = l.now.Add(2 * time.Hour)
	if _, err := l.Sweep(ctx); err != nil || l.keys() != 0 {
		t.Errorf("%d keys after the sweep, %v", l.keys(), err)
	}
	if l.live(l.Service, keep) {
		t.Error("an expired token lives")
	}
}

// Whoever has asked for very many tokens can be disabled like anybody else.
func TestManyTokensEndInASmallTransaction(t *testing.T) {
	l := open(t)
	tokens := make([]string, 1500)
	for i := range tokens {
		tokens[i] = l.issue("user@sdn")
	}
	before, off, on := l.keys(), false, true
	if _, err := l.id.UpdateUser(ctx, "user@sdn", identity.UserChange{Enabled: &off}); err != nil {
		t.Fatal(err)
	}
	if n := before - l.keys(); n == 0 || n > 2000 {
		t.Errorf("one transaction removed %d keys", n)
	}
	if _, err := l.id.UpdateUser(ctx, "user@sdn", identity.UserChange{Enabled: &on}); err != nil {
		t.Fatal(err)
	}
	for i, tok := range tokens {
		if l.live(l.Service, tok) {
			t.Fatalf("token %d lives on", i)
		}
	}
	l.now = l.now.Add(2 * time.Hour)
	if _, err := l.Sweep(ctx); err != nil || l.keys() != 0 {
		t.Errorf("%d keys after the sweep, %v", l.keys(), err)
	}
}

func TestRevocationOnAnotherNodeReachesTheCache(t *testing.T) {
	l := open(t)
	tok := l.issue("admin@sdn")
	if !l.live(l.Service, tok) {
		t.Fatal("the token does not live")
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	// The watch may not have begun yet, so the other node makes and revokes tokens
	// until word of one comes through.
	for range 10_000 {
		if !l.live(l.Service, tok) {
			return
		}
		other := l.another()
		other.Bind(l.id)
		if _, err := other.Revoke(ctx, tok); err != nil && !errors.Is(err, datastore.ErrConflict) {
			t.Fatal(err)
		}
		if _, err := other.Revoke(ctx, l.issue("admin@sdn")); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("the revoked token still lives")
}

func BenchmarkIssue(b *testing.B) {
	l := open(b)
	for b.Loop() {
		l.issue("admin@sdn")
	}
}

func BenchmarkLookup(b *testing.B) {
	l := open(b)
	tok := l.issue("admin@sdn")
	b.ReportAllocs()
	for b.Loop() {
		if !l.live(l.Service, tok) {
			b.Fatal("dead")
		}
	}
}

// A token, a refresh token and a session of a node whose clock was a year ahead end when
// they are used on a node whose clock is right; a few minutes are borne.
func TestTokensOfAWrongClockEnd(t *testing.T) {
	l := open(t)
	right := l.now
	p, err := l.id.Principal(ctx, "user@sdn")
	if err != nil {
		t.Fatal(err)
	}
	for ahead, want := range map[time.Duration]bool{0: true, time.Minute: true, 10 * time.Minute: false, 365 * 24 * time.Hour: false} {
		l.now = right.Add(ahead)
		pair, err := l.Grant(ctx, token.Holder{Principal: p})
		if err != nil {
			t.Fatal(err)
		}
		if !l.live(l.Service, pair.Access) {
			t.Errorf("%v ahead: the node itself does not take it", ahead)
		}
		l.now = right
		other := l.another()
		other.Bind(l.id)
		if got := l.live(other, pair.Access); got != want {
			t.Errorf("a token of a clock %v ahead: alive %v, want %v", ahead, got, want)
		}
		_, who, err := other.Exchange(ctx, pair.Refresh, func(token.Holder) error { return nil })
		if err != nil || who.Known() != want {
			t.Errorf("a refresh token of a clock %v ahead: taken %v, %v, want %v", ahead, who.Known(), err, want)
		}
	}
}

// silent is a store whose cluster does not answer.
type silent struct{ datastore.Store }

var errSilent = errors.New("no majority")

func (silent) View(context.Context, func(datastore.Snapshot) error) error { return errSilent }

// Who asks for what this node knows is answered without the cluster: users, their tokens,
// and who the token is of.
func TestLocalReadsOfIdentities(t *testing.T) {
	l := open(t)
	tok := l.issue("admin@sdn")
	h, err := password.New(password.Params{MemoryKiB: 64, Time: 1, Threads: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	id := identity.New(identity.Options{Store: silent{l.store}, Hasher: h})
	s := token.New(token.Options{Store: silent{l.store}, Lifetime: time.Hour, Now: func() time.Time { return l.now }})
	s.Bind(id)
	if _, err := s.Lookup(ctx, tok, false); !errors.Is(err, errSilent) {
		t.Errorf("the newest state: %v", err)
	}
	if _, err := id.Users(ctx, identity.Page{}); !errors.Is(err, errSilent) {
		t.Errorf("the newest users: %v", err)
	}
	local := datastore.AskLocal(ctx)
	if who, err := s.Lookup(local, tok, false); err != nil || who.ID() != "admin@sdn" {
		t.Errorf("the local state: %v", err)
	}
	if _, err := id.Users(local, identity.Page{}); err != nil {
		t.Errorf("the local users: %v", err)
	}
}
