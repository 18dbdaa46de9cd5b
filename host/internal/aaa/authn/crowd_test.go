package authn_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/sdk/realm"
)

// gate is a realm that answers when it is let, and knows the password "pw".
type gate struct {
	asked  chan string // names, as they are asked for
	answer chan struct{}
}

func (g *gate) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	g.asked <- c.Password
	select {
	case <-g.answer:
	case <-ctx.Done():
		return realm.Result{}, ctx.Err()
	}
	if c.Password != "pw" {
		return realm.Result{Outcome: realm.Unknown}, nil
	}
	return realm.Result{Outcome: realm.Authenticated, Principal: c.User}, nil
}

func (g *gate) Close() error { return nil }

func gated(t *testing.T) (*lab, *gate) {
	g := &gate{make(chan string), make(chan struct{})}
	return open(t, authn.Realm{Name: "gate", Outside: g, Timeout: time.Hour}), g
}

// slowRealm knows everybody, after a while.
type slowRealm time.Duration

func (s slowRealm) Authenticate(_ context.Context, c realm.Credentials) (realm.Result, error) {
	<-time.After(time.Duration(s))
	return realm.Result{Outcome: realm.Authenticated, Principal: c.User}, nil
}

func (slowRealm) Close() error { return nil }

var somewhere = netip.MustParseAddrPort("192.0.2.1:1")

// 1,000 users come at once after a restart, and each takes long: they wait for their
// turn for as long as they like to.
func TestAMinuteInTheQueueIsNoRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, authn.Realm{Name: "slow", Outside: slowRealm(4 * time.Second), Timeout: time.Minute})
		var wg sync.WaitGroup
		for i := range 1000 { // 30 at a time
			wg.Go(func() {
				if _, err := l.Login(ctx, authn.Credentials{User: fmt.Sprint("u", i), Password: "pw", Address: somewhere}); err != nil {
					t.Errorf("u%d: %v", i, err)
				}
			})
		}
		wg.Wait()
	})
}

// oneByOne is an identity service that works on one login at a time: the more come at once, the longer
// each of them takes.
type oneByOne struct{ worker chan struct{} }

func (h oneByOne) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	select {
	case h.worker <- struct{}{}:
	case <-ctx.Done():
		return realm.Result{}, ctx.Err()
	}
	defer func() { <-h.worker }()
	<-time.After(time.Second)
	return realm.Result{Outcome: realm.Authenticated, Principal: c.User}, ctx.Err()
}

func (oneByOne) Close() error { return nil }

// 32 right logins at once at an identity service that does one in a second: waiting for a place is
// not the service's lateness, and all of them pass.
func TestManyLoginsAtASlowServiceAllPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, authn.Realm{Name: "slow", Outside: oneByOne{make(chan struct{}, 1)}, Places: make(chan struct{}, 4)})
		var wg sync.WaitGroup
		for i := range 32 {
			wg.Go(func() {
				if _, err := l.Login(ctx, authn.Credentials{User: fmt.Sprint("u", i), Password: "pw", Address: somewhere}); err != nil {
					t.Errorf("u%d: %v", i, err)
				}
			})
		}
		wg.Wait()
	})
}

// Of four logins of a user three may be under way; the client of the fourth leaves.
func TestWhoLeavesTheQueueIsNotVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := gated(t)
		var wg sync.WaitGroup
		try := func(ctx context.Context, password string, want error) {
			wg.Go(func() {
				if _, err := l.Login(ctx, authn.Credentials{User: "bob", Password: password, Address: somewhere}); !errors.Is(err, want) {
					t.Errorf("%s: %v, want %v", password, err, want)
				}
			})
			synctest.Wait()
		}
		for i := range 3 {
			try(ctx, fmt.Sprint("wrong ", i), authn.ErrRefused)
			<-g.asked
		}
		left, leave := context.WithCancel(ctx)
		try(left, "of one who leaves", context.Canceled)
		leave()
		try(ctx, "pw", nil)
		for range 3 {
			g.answer <- struct{}{}
		}
		if got := <-g.asked; got != "pw" {
			t.Errorf("the next password asked is %q", got)
			g.answer <- struct{}{}
			<-g.asked
		}
		g.answer <- struct{}{}
		wg.Wait()
	})
}

func TestAVerificationServesThoseWhoStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := gated(t)
		var wg sync.WaitGroup
		try := func(ctx context.Context, may ...error) {
			wg.Go(func() {
				if _, err := l.Login(ctx, authn.Credentials{User: "bob", Password: "pw", Address: somewhere}); !slices.Contains(may, err) {
					t.Errorf("got %v, want %v", err, may)
				}
			})
			synctest.Wait()
		}
		first, leave := context.WithCancel(ctx)
		try(first, context.Canceled) // whose verification it is
		<-g.asked
		second, depart := context.WithCancel(ctx)
		try(second, context.Canceled)
		try(ctx, nil)
		depart()
		leave()
		synctest.Wait()
		g.answer <- struct{}{} // the realm was asked once
		wg.Wait()
	})
}

// Whoever counts requests learns which of them only wait for a password.
func TestWaitingIsTold(t *testing.T) {
	g := &gate{make(chan string), make(chan struct{})}
	now := make(chan int, 10)
	a := authn.New(authn.Options{Identity: open(t).id, Realms: []authn.Realm{{Name: "gate", Outside: g, Timeout: time.Hour}}, Waiting: func(context.Context) func() {
		now <- 1
		return func() { now <- -1 }
	}})
	bob := authn.Credentials{User: "bob", Password: "pw", Address: somewhere}
	done := make(chan error)
	go func() {
		_, err := a.Login(ctx, bob)
		done <- err
	}()
	<-g.asked
	if len(now) != 1 {
		t.Errorf("called %d times while it waits", len(now))
	}
	g.answer <- struct{}{}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := a.Login(ctx, bob); err != nil || len(now) != 2 || <-now+<-now != 0 {
		t.Errorf("called %d times; %v", len(now), err)
	}
}
