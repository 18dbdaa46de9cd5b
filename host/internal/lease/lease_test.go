package lease

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
)

// within runs Hold with a limit.
func within(t *testing.T, m *Manager, d time.Duration, role string) *Term {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	began := time.Now()
	term, err := m.Hold(ctx, role, "p")
	if err != nil {
		t.Fatalf("%s did not get %s within %s: %v", m.o.Node.ID, role, d, err)
	}
	t.Logf("%s got %s after %s, epoch %d", m.o.Node.ID, role, time.Since(began), term.Epoch())
	return term
}

// fenced commits under the condition that a term is held.
func fenced(s datastore.Store, term *Term) error {
	_, err := s.Commit(context.Background(), datastore.Txn{Compares: []datastore.Compare{term.Condition()}, Ops: []datastore.Op{datastore.Put("acts", "x", nil)}})
	return err
}

// pass lets time pass in a bubble, where it costs none.
func pass(d time.Duration) { <-time.After(d) }

func lost(term *Term) bool {
	synctest.Wait()
	select {
	case <-term.Lost():
		return true
	default:
		return false
	}
}

func TestOneHolderAmongNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShared(t)
		a, _ := node(s, "a")
		b, _ := node(s, "b")
		defer a.Close()
		defer b.Close()
		first := within(t, a, time.Second, "poll")
		got := make(chan *Term, 1)
		go func() { got <- within(t, b, time.Minute, "poll") }()
		pass(time.Minute / 2)
		if len(got) > 0 || lost(first) {
			t.Fatal("a second holder, or the first has lost it")
		}
		if until := time.Duration(first.Until() - a.o.Clock()); until < 2*time.Second || until > 4*time.Second {
			t.Errorf("held for certain for %s, of a lease of 6s", until)
		}
		began := time.Now()
		first.Release()
		second := <-got
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("an orderly hand-over took %s", took)
		}
		if second.Epoch() <= first.Epoch() {
			t.Errorf("epoch %d after %d", second.Epoch(), first.Epoch())
		}
		synctest.Wait()
		if r, _ := a.Holder("poll"); r.Since.Before(began.UTC()) {
			t.Errorf("it is held since %s, before the hand-over at %s", r.Since, began)
		}
		if err := fenced(s, first); !errors.Is(err, datastore.ErrConflict) {
			t.Errorf("the holder before commits: %v", err)
		}
		if err := fenced(s, second); err != nil {
			t.Errorf("the holder: %v", err)
		}
		second.Release()
	})
}

func TestADeadNodeLosesItsRoles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShared(t)
		a, ca := node(s, "a")
		b, _ := node(s, "b")
		defer b.Close()
		first := within(t, a, time.Second, "poll")
		ca.set(func(c *client) { c.cut = true }) // as kill -9 looks from outside
		began := time.Now()
		until := first.Until()
		second := within(t, b, 10*time.Second, "poll")
		if int64(time.Now().UnixNano()) < until {
			t.Errorf("the role was given away after %s, before the term of the first ended", time.Since(began))
		}
		if !lost(first) {
			t.Error("the first does not know that its term is over")
		}
		if err := fenced(s, first); !errors.Is(err, datastore.ErrConflict) {
			t.Errorf("it commits: %v", err)
		}
		ca.set(func(c *client) { c.cut = false })
		first.Release() // late, and harmless
		pass(30 * time.Second)
		if lost(second) {
			t.Error("the second lost it when the first came back")
		}
		if n := len(b.Members()); n != 2 {
			t.Errorf("%d members after the first came back: %v, lease of a %s, of b %s", n, b.Members(), a.Valid(), b.Valid())
		}
		second.Release()
		a.Close()
	})
}

func TestALostLease(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(s *shared, c *client)
		keep bool // the role stays where it is
	}{
		"revoked": {harm: func(s *shared, c *client) { s.revoke(c.last) }},
		"revoked, and renewals succeed all the same after one was lost": {harm: func(s *shared, c *client) {
			c.set(func(c *client) { c.undead, c.cut = true, true })
			s.revoke(c.last)
			time.AfterFunc(2500*time.Millisecond, func() { c.set(func(c *client) { c.cut = false }) })
		}},
		"one answer to a renewal is lost": {keep: true, harm: func(s *shared, c *client) {
			c.set(func(c *client) { c.mute = true })
			time.AfterFunc(1600*time.Millisecond, func() { c.set(func(c *client) { c.mute = false }) })
		}},
		"the key is stolen": {harm: func(s *shared, c *client) {
			_, _ = s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put(Namespace, rolePrefix+"poll", []byte(`{"node":"thief","instance":"x"}`))}})
		}},
		"the key is deleted": {harm: func(s *shared, c *client) {
			_, _ = s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Delete(Namespace, rolePrefix+"poll")}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShared(t)
				a, ca := node(s, "a")
				defer a.Close()
				term := within(t, a, time.Second, "poll")
				c.harm(s, ca)
				pass(4*time.Second + a.callLimit())
				if lost(term) == c.keep {
					t.Errorf("lost: %v", !c.keep)
				}
				term.Release()
				pass(time.Second)
			})
		})
	}
}

// A waiting node whose lease is revoked must not come to hold a role under it.
func TestLeaseRevokedWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShared(t)
		a, _ := node(s, "a")
		b, cb := node(s, "b")
		defer a.Close()
		defer b.Close()
		first := within(t, a, time.Second, "poll")
		got := make(chan *Term, 1)
		go func() { got <- within(t, b, time.Minute, "poll") }()
		pass(10 * time.Second)
		s.revoke(cb.last)
		first.Release()
		second := <-got
		e, err := datastore.Get(context.Background(), s, Namespace, rolePrefix+"poll")
		if err != nil || uint64(e.Revision) != second.Epoch() {
			t.Fatalf("it believes in epoch %d, the store says %d %v", second.Epoch(), e.Revision, err)
		}
		pass(20 * time.Second)
		if lost(second) {
			t.Error("lost")
		}
		second.Release()
	})
}

// A node that stood still wakes up without its roles, whatever its lease says by then.
func TestStandingStill(t *testing.T) {
	for _, still := range []time.Duration{5 * time.Second, 15 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := newShared(t)
			a, ca := node(s, "a")
			defer a.Close()
			term := within(t, a, time.Second, "poll")
			ca.set(func(c *client) { c.cut = true })
			pass(still)
			ca.set(func(c *client) { c.cut = false })
			if !lost(term) {
				t.Errorf("after %s it still holds the role", still)
			}
			term.Release()
			again := within(t, a, 10*time.Second, "poll")
			if again.Epoch() <= term.Epoch() {
				t.Error("the epoch did not change")
			}
			again.Release()
		})
	}
}

func TestProcessesOfANodeQueue(t *testing.T) {
	for name, leases := range map[string]bool{"with leases": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShared(t)
				var a *Manager
				if leases {
					a, _ = node(s, "a")
				} else {
					a = New(Options{Store: s, Node: Node{ID: "a"}})
				}
				b, _ := node(s, "b")
				defer a.Close()
				defer b.Close()
				old := within(t, a, time.Second, "poll")
				got := make(chan *Term, 1)
				go func() { got <- within(t, a, time.Minute, "poll") }()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				if leases {
					go func() { _, _ = b.Hold(ctx, "poll", "p") }() // another node wants it, too
				}
				synctest.Wait()
				if len(got) > 0 {
					t.Fatal("two processes hold the role")
				}
				old.Drain()
				if old.Until() == 0 || !old.Draining() {
					t.Errorf("until %d while the holder is asked to stop", old.Until())
				}
				old.Release()
				next := <-got // the reload leaves the role on this node
				if next.Epoch() <= old.Epoch() || lost(next) {
					t.Errorf("epoch %d after %d, lost %v", next.Epoch(), old.Epoch(), lost(next))
				}
				next.Release()
			})
		})
	}
}

func TestStepDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShared(t)
		a, _ := node(s, "a")
		b, _ := node(s, "b")
		defer a.Close()
		defer b.Close()
		hold := func(m *Manager) (ended chan time.Time) {
			ended = make(chan time.Time, 1)
			term := within(t, m, time.Minute, "poll")
			go func() {
				for !term.Draining() {
					<-term.Renewed()
				}
				term.Release()
				ended <- time.Now()
			}()
			return ended
		}
		ended := hold(a)
		if given := a.StepDown(context.Background(), nil, 20*time.Second); !slices.Equal(given, []string{"poll"}) {
			t.Errorf("gave up %v", given)
		}
		<-ended
		again := make(chan time.Duration, 1)
		began := time.Now()
		go func() { term := within(t, a, time.Minute, "poll"); again <- time.Since(began); term.Release() }()
		second := within(t, b, time.Second, "poll")
		pass(5 * time.Second)
		second.Release()
		if waited := <-again; waited < 19*time.Second {
			t.Errorf("it took the role back after %s", waited)
		}
		// A holder that does not stop loses the role all the same.
		stuck := within(t, b, time.Second, "stuck")
		b.StepDown(context.Background(), []string{"stuck"}, time.Second)
		if !lost(stuck) {
			t.Error("a holder that does not stop keeps the role")
		}
	})
}

func TestMembersAndReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShared(t)
		a, _ := node(s, "a")
		b, _ := node(s, "b")
		a.Report([]byte("one"))
		pass(5 * time.Second)
		if m := b.Members(); len(m) != 2 || m[0].ID != "a" || m[1].ID != "b" || string(b.Reports()["a"]) != "one" {
			t.Errorf("%v %q", m, b.Reports())
		}
		a.Close()
		synctest.Wait()
		if m := b.Members(); len(m) != 1 || len(b.Reports()) != 0 {
			t.Errorf("after an orderly end: %v %v", m, b.Reports())
		}
		b.Close()
		// A node of the same identity in another home is a copy.
		// So is one at the same path of another machine of that name.
		for _, place := range []Node{{ID: "c", Host: "h", Home: "/copy", Inode: 1}, {ID: "c", Host: "h", Home: "/c", Inode: 2}} {
			original := &client{shared: s}
			first := New(Options{Store: original, Leases: original, Node: Node{ID: "c", Host: "h", Home: "/c", Inode: 1}})
			synctest.Wait()
			copied := &client{shared: s}
			other := New(Options{Store: copied, Leases: copied, Node: place})
			pass(time.Minute)
			if other.Valid() != 0 || first.Valid() == 0 {
				t.Errorf("a copy of a home pushed the original out: %+v", place)
			}
			first.Close()
			other.Close()
		}
		// After kill -9 the next process of the home need not wait for the lease to run out.
		killed, ck := node(s, "d")
		within(t, killed, time.Second, "poll")
		ck.set(func(c *client) { c.cut = true })
		next, _ := node(s, "d")
		within(t, next, time.Second, "poll").Release()
		next.Close()
		killed.Close()
	})
}

func TestAloneARoleIsGrantedAtOnce(t *testing.T) {
	s := storetest.New(storetest.Options{})
	defer s.Close()
	m := New(Options{Store: s, Node: Node{ID: "a"}})
	defer m.Close()
	term := within(t, m, time.Minute, "poll")
	if term.Until() != 0 {
		t.Errorf("until %d", term.Until())
	}
	if r := m.Roles(); len(r) != 1 || r[0].Name != "poll" {
		t.Errorf("roles %v", r)
	}
	term.Release()
	again := within(t, m, time.Minute, "poll")
	if again.Epoch() <= term.Epoch() {
		t.Errorf("epoch %d after %d", again.Epoch(), term.Epoch())
	}
	if err := fenced(s, term); !errors.Is(err, datastore.ErrConflict) {
		t.Errorf("the holder before commits: %v", err)
	}
	again.Release()
}
