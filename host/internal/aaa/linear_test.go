package aaa_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/policy"
	"ctl.internal/host/internal/aaa/throttle"
)

// TestEveryChangeCountsFromTheNextRequestOn changes one thing again and again
// while 64 clients send requests. Each client reads the state before and after
// its request; when both are the same and no change ran between, the answer must
// be the one that the state demands.
func TestEveryChangeCountsFromTheNextRequestOn(t *testing.T) {
	never := throttle.Settings{UserFree: 1 << 30, UserBlock: 1 << 30, AddressFree: 1 << 30, AddressBlock: 1 << 30}
	l := open(t, defaultINI, func(o *aaa.Options) { o.Throttle = never })
	l.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	l.user("bob", "user")
	id := l.Identity()
	set := func(c identity.UserChange) func() {
		return func() { _, err := id.UpdateUser(ctx, "bob@sdn", c); must(t, err) }
	}
	yes, no, one, two := true, false, "password1", "password2"
	role := identity.Grant{User: "bob@sdn", Role: "user@sdn", Domain: "sdn"}
	for name, c := range map[string]struct{ open, shut func() }{
		"disabling": {set(identity.UserChange{Enabled: &yes}), set(identity.UserChange{Enabled: &no})},
		"password":  {set(identity.UserChange{Password: &one}), set(identity.UserChange{Password: &two})},
		"grant":     {func() { must(t, id.CreateGrant(ctx, role)) }, func() { must(t, id.DeleteGrant(ctx, role)) }},
		"policy": {func() { must(t, l.Policies().Set(nil)) },
			func() { must(t, l.Policies().Set([]policy.Policy{permit("/x/**", "admin", "get")})) }},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "grant" {
				must(t, id.DeleteGrant(ctx, role)) // open makes it again
			}
			alternate(t, l, c.open, c.shut)
			c.open()
			if name == "password" {
				l.want(200, "GET", "/x", "bob:password1", "")
			}
		})
	}
}

// alternate runs open and shut in turn under 64 clients. state is even while
// nothing changes; state/2 reports which of the two was done last.
func alternate(t *testing.T, l *lab, open, shut func()) {
	var state atomic.Int64 // 0: open and applied
	open()
	var decided atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				before := state.Load()
				r, _ := http.NewRequest("GET", l.URL+"/x", nil)
				r.SetBasicAuth("bob", "password1")
				resp, err := l.Client().Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				resp.Body.Close()
				after := state.Load()
				if before != after || before%2 == 1 {
					continue // a change ran beside it: either answer is right
				}
				decided.Add(1)
				want := http.StatusOK
				if before/2%2 == 1 {
					want = http.StatusUnauthorized
				}
				if resp.StatusCode != want {
					t.Errorf("state %d: answered %d, want %d", before, resp.StatusCode, want)
					return
				}
			}
		})
	}
	for i := range 10 {
		for from := decided.Load(); decided.Load() < from+64 && !t.Failed(); {
			// Let every state be seen; the clients do the waiting.
			l.do("GET", "/x", "", "")
		}
		state.Add(1)
		if i%2 == 0 {
			shut()
		} else {
			open()
		}
		state.Add(1)
	}
	close(stop)
	wg.Wait()
	shut()
}
