package device

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

// watched collects the events of one router.
type watched struct {
	t      *testing.T
	events chan *bierdriver.Event
	stop   context.CancelFunc
	done   chan error
}

func watch(t *testing.T, d *Driver, r *bierdriver.Router) *watched {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watched{t: t, events: make(chan *bierdriver.Event, 100), stop: cancel, done: make(chan error, 1)}
	go func() {
		w.done <- d.Watch(ctx, r, func(e *bierdriver.Event) error {
			select {
			case w.events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-w.done; !errors.Is(err, context.Canceled) {
			t.Errorf("the watch ended with %v", err)
		}
	})
	return w
}

// until waits for an event that is looked for.
func (w *watched) until(what string, is func(*bierdriver.Event) bool) *bierdriver.Event {
	w.t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for {
		select {
		case e := <-w.events:
			if is(e) {
				return e
			}
		case <-limit.C:
			w.t.Fatalf("no %s", what)
		}
	}
}

func (w *watched) state(s bierdriver.SessionState) *bierdriver.Session {
	w.t.Helper()
	return w.until(s.String(), func(e *bierdriver.Event) bool { return e.Session.GetState() == s }).Session
}

func TestWatchComesBack(t *testing.T) {
	sim, r := start(t, simrouter.Options{})
	w := watch(t, newDriver(quick()), r)
	w.state(bierdriver.Connecting)
	if s := w.state(bierdriver.Up); s.HostKey != sim.HostKey() || s.Dialect == "" || len(s.Capabilities) == 0 {
		t.Errorf("up: %v", s)
	}
	sim.Drop()
	if s := w.state(bierdriver.Down); s.Reason == "" {
		t.Errorf("down: %v", s)
	}
	w.state(bierdriver.Up)
	sim.Down()
	w.state(bierdriver.Down)
	if err := sim.Up(""); err != nil {
		t.Fatal(err)
	}
	w.state(bierdriver.Up)
	if err := sim.NewHostKey(); err != nil {
		t.Fatal(err)
	}
	sim.Drop()
	if s := w.state(bierdriver.Refused); !strings.Contains(s.Reason, "host key") {
		t.Errorf("refused: %v", s)
	}
}

func TestWatchAndCallsShareASession(t *testing.T) {
	sim, r := start(t, simrouter.Options{})
	d := newDriver(quick())
	w := watch(t, d, r)
	w.state(bierdriver.Up)
	var all sync.WaitGroup
	for i := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			a, err := d.Apply(within(t, time.Minute), r, config(uint32(1+i), 1, 2), bierdriver.Always)
			if err != nil || a.State != bierdriver.Applied {
				t.Errorf("%v, %v", a, err)
			}
		}()
	}
	all.Wait()
	if n := sim.Sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestDriftIsTold(t *testing.T) {
	for name, o := range map[string]simrouter.Options{
		"notification": {}, "second session": {Leave: []string{netconf.Interleave}}, "audit": {Leave: []string{netconf.Notifications}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, r := start(t, o)
			s := quick()
			if name == "audit" {
				s.Audit.Duration = 10 * time.Millisecond
			}
			d := newDriver(s)
			w := watch(t, d, r)
			w.state(bierdriver.Up)
			apply(t, d, r, config(3, 1, 2), bierdriver.Applied) // our own change is none
			b := simrouter.NSBier
			global := xmltree.New(b, "bier-global", xmltree.Leaf(b, "bfr-id", "99"))
			if err := sim.Change(xmltree.New("", "", xmltree.New(simrouter.NSRoutingEx, "routing", xmltree.New(b, "bier", global)))); err != nil {
				t.Fatal(err)
			}
			e := w.until("drift", func(e *bierdriver.Event) bool { return e.Drift != nil })
			if !strings.Contains(e.Drift.What, "bfr-id = 3") || name != "audit" && e.Drift.By == "" {
				t.Errorf("%v", e.Drift)
			}
			apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
			if name == "audit" {
				return
			}
			sim.Notify(simrouter.BFRIDCollision(7))
			if e := w.until("collision", func(e *bierdriver.Event) bool { return e.Drift != nil || e.Notification != nil }); e.Notification.GetBfrId() != 7 {
				t.Errorf("our own repair is told as %v", e)
			}
		})
	}
}

func TestNotificationsOfTheRouter(t *testing.T) {
	sim, r := start(t, simrouter.Options{})
	w := watch(t, newDriver(quick()), r)
	w.state(bierdriver.Up)
	sim.Notify(xmltree.New("urn:vendor", "fan-failed"))
	sim.Notify(simrouter.BFRIDCollision(7))
	sim.Notify(simrouter.BFRZero("192.0.2.9/32", "2001:db8::9/128"))
	sim.Notify(simrouter.SubDomainIDCollision(5, 2))
	next := func() *bierdriver.Notification {
		return w.until("notification", func(e *bierdriver.Event) bool { return e.Notification != nil }).Notification
	}
	if n := next(); n.Kind != bierdriver.BFRIDCollision || n.BfrId != 7 || n.At == nil {
		t.Errorf("%v", n)
	}
	if n := next(); n.Kind != bierdriver.BFRZero || n.Ipv4BfrPrefix != "192.0.2.9/32" || n.Ipv6BfrPrefix != "2001:db8::9/128" {
		t.Errorf("%v", n)
	}
	if n := next(); n.Kind != bierdriver.SubDomainIDCollision || n.SubDomainId != 5 || n.MtId != 2 {
		t.Errorf("%v", n)
	}
}

func TestARouterThatWaitsForAnotherIsPending(t *testing.T) {
	sim, r := start(t, simrouter.Options{})
	other, err := netconf.Dial(within(t, time.Minute), netconf.Target{Host: sim.Host(), Port: sim.Port(), User: "lab", Password: "lab"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(within(t, time.Minute))
	if err := other.OK(within(t, time.Minute), netconf.LockOp(netconf.CandidateDS)); err != nil {
		t.Fatal(err)
	}
	d := newDriver(quick())
	apply(t, d, r, config(3), bierdriver.Pending)
	if err := other.OK(within(t, time.Minute), netconf.UnlockOp(netconf.CandidateDS)); err != nil {
		t.Fatal(err)
	}
	apply(t, d, r, config(3), bierdriver.Applied)
}
