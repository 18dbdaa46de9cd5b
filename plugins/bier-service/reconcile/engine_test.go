package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab is an engine with routers that do what apply says.
type lab struct {
	*Engine
	ctx     context.Context
	mu      sync.Mutex
	states  map[string]*bier.Status
	written int
	applied []string // hashes, in order
	apply   func(n int) (*bierdriver.Result, error)
	changed chan struct{}
}

func newLab(t *testing.T, managed []string, known map[string]bier.Status) *lab {
	t.Helper()
	l := &lab{states: map[string]*bier.Status{}, changed: make(chan struct{}, 1),
		apply: func(int) (*bierdriver.Result, error) { return &bierdriver.Result{State: bierdriver.Applied}, nil }}
	var stop context.CancelFunc
	l.ctx, stop = context.WithTimeout(t.Context(), time.Minute)
	l.Engine = New(l.ctx, Options{Parallel: 4, Repair: true, RetryMin: time.Millisecond, RetryMax: time.Millisecond, Timeout: time.Minute,
		Target: func(node string) *bierdriver.Router { return &bierdriver.Router{NodeId: node, Host: "x"} },
		Apply: func(_ context.Context, _ *bierdriver.Router, d *Desired, _ bool) (*bierdriver.Result, string, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.applied = append(l.applied, d.Hash)
			res, err := l.apply(len(l.applied))
			return res, "driver", err
		},
		Release: func(context.Context, string) error { return nil },
		Drift:   func(string, bool) {},
		Report:  func(string, string) {},
		Status: func(node string, s *bier.Status) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.states[node] = s
			l.written++
			select {
			case l.changed <- struct{}{}:
			default:
			}
		}}, managed, known)
	t.Cleanup(func() { stop(); l.Wait() })
	return l
}

// until waits for a state of a router.
func (l *lab) until(t *testing.T, node, what string, ok func(s *bier.Status) bool) {
	t.Helper()
	for {
		l.mu.Lock()
		s, known := l.states[node]
		l.mu.Unlock()
		if known && ok(s) {
			return
		}
		select {
		case <-l.changed:
		case <-l.ctx.Done():
			t.Fatalf("never: %s: %+v", what, s)
		}
	}
}

func carrying(bfr uint32) map[string]*Desired {
	return map[string]*Desired{"a": {Hash: fmt.Sprint(bfr), Config: &bierdriver.Config{Global: &bierdriver.Global{BfrId: bfr}}}}
}

// A router that should carry something and cannot be given any of it is not "applied",
// though there is nothing to send to it.
func TestWhatCannotBeHadIsNotApplied(t *testing.T) {
	l := newLab(t, nil, nil)
	for i := range uint64(3) {
		l.Want(map[string]*Desired{"a": {Hash: "x", Config: &bierdriver.Config{}, Problems: []string{"no bfr-id"}}}, nil, 2*i+1)
		l.until(t, "a", "it failed", func(s *bier.Status) bool {
			return s != nil && s.State == bier.Failed && s.Reason == "no bfr-id" && s.Answered == 2*i+1
		})
		l.Want(nil, nil, 2*i+2)
		l.until(t, "a", "it is left alone", func(s *bier.Status) bool { return s == nil })
	}
	if len(l.applied) > 0 {
		t.Errorf("%d calls of a driver for nothing", len(l.applied))
	}
}

// Each change is answered under its revision; the same again is no change.
func TestAChangeIsAnsweredUnderItsRevision(t *testing.T) {
	l := newLab(t, nil, nil)
	for _, revision := range []uint64{5, 8} {
		l.Want(carrying(uint32(revision)), nil, revision)
		l.until(t, "a", "it is applied", func(s *bier.Status) bool {
			return s != nil && s.State == bier.Applied && s.Intent == revision && s.Answered == revision
		})
	}
	l.Want(carrying(8), nil, 9)
	l.Kick([]string{"a"}, 12) // somebody asks for a comparison
	l.until(t, "a", "it was compared", func(s *bier.Status) bool { return s.Intent == 12 && s.Answered == 12 })
	if len(l.applied) != 3 || l.applied[1] != l.applied[2] {
		t.Errorf("applied %v", l.applied)
	}
}

// A process that takes over finds what was wanted already: it compares, and says nothing
// while nothing is different.
func TestTakingOverSaysNothingNew(t *testing.T) {
	l := newLab(t, []string{"a"}, map[string]bier.Status{"a": {Intent: 5, Answered: 5, State: bier.Applied, Hash: carrying(1)["a"].Hash},
		"gone": {Intent: 4, Answered: 4, State: bier.Applied}})
	l.Want(carrying(1), nil, 77)
	l.until(t, "a", "it was compared", func(s *bier.Status) bool { return s.Intent == 5 && s.Answered == 5 && s.State == bier.Applied })
	l.until(t, "gone", "the record of a router that is not ours goes", func(s *bier.Status) bool { return s == nil })
}

// A router that cannot be reached is pending with the reason, is tried again, and is
// applied when it can.
func TestPendingIsTriedAgain(t *testing.T) {
	l := newLab(t, nil, nil)
	seen := make(chan struct{}, 1)
	l.apply = func(n int) (*bierdriver.Result, error) {
		switch n {
		case 1:
			return nil, errors.New("no route")
		case 2:
			seen <- struct{}{}
			return &bierdriver.Result{State: bierdriver.Pending, Reason: "locked"}, nil
		}
		return &bierdriver.Result{State: bierdriver.Applied}, nil
	}
	l.Want(carrying(1), nil, 3)
	<-seen
	l.until(t, "a", "it is applied", func(s *bier.Status) bool { return s.State == bier.Applied && s.Answered == 3 })
}

// A router that was applied and then cannot be compared is unverified, not pending; it is compared until that succeeds.
func TestAComparisonInVainIsUnverified(t *testing.T) {
	l := newLab(t, nil, nil)
	again := make(chan struct{})
	l.apply = func(n int) (*bierdriver.Result, error) {
		switch n {
		case 1:
		case 2:
			return nil, errors.New("no route")
		case 3:
			return &bierdriver.Result{State: bierdriver.Pending, Reason: "locked"}, nil
		default:
			select {
			case <-again:
			default:
				return nil, errors.New("no route")
			}
		}
		return &bierdriver.Result{State: bierdriver.Applied}, nil
	}
	l.Want(carrying(1), nil, 3)
	l.until(t, "a", "it is applied", func(s *bier.Status) bool { return s.State == bier.Applied && s.Answered == 3 })
	l.Kick([]string{"a"}, 0)
	l.until(t, "a", "it was compared in vain", func(s *bier.Status) bool {
		return s.State == bier.Unverified && s.Reason == "no route" && s.Answered == 3
	})
	close(again)
	l.until(t, "a", "it is applied again", func(s *bier.Status) bool { return s.State == bier.Applied && s.Answered == 3 && s.Reason == "" })
}

// What a router held of ours is taken away when nothing is wanted of it any more, also by
// a process that did not give it to it.
func TestManagedRoutersAreCleaned(t *testing.T) {
	l := newLab(t, []string{"a"}, nil)
	l.Want(nil, nil, 3)
	l.until(t, "a", "it is forgotten", func(s *bier.Status) bool { return s == nil })
	if len(l.applied) != 1 {
		t.Errorf("applied %d times", len(l.applied))
	}
}

// A router that refuses the login is not known to be wrong: what it held before is unverified, and what
// it never held is pending.
func TestARefusedLoginIsNoFailure(t *testing.T) {
	l := newLab(t, nil, nil)
	refused := false
	l.apply = func(int) (*bierdriver.Result, error) {
		if refused {
			return &bierdriver.Result{State: bierdriver.Failed, Reason: "wrong password", Session: &bierdriver.Session{State: bierdriver.Refused}}, nil
		}
		return &bierdriver.Result{State: bierdriver.Applied}, nil
	}
	l.Want(carrying(1), nil, 1)
	l.until(t, "a", "it is applied", func(s *bier.Status) bool { return s != nil && s.State == bier.Applied && s.Answered == 1 })
	l.mu.Lock()
	refused = true
	l.mu.Unlock()
	l.Kick([]string{"a"}, 0)
	l.until(t, "a", "it is unverified", func(s *bier.Status) bool { return s.State == bier.Unverified && s.Reason == "wrong password" })
	l.Want(carrying(2), nil, 2)
	l.until(t, "a", "the change is pending", func(s *bier.Status) bool {
		return s.State == bier.Pending && s.Answered == 2 && s.Reason == "wrong password"
	})
}
