package discovery

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeNet is switches without a wire: each answers as the test says.
type fakeNet struct {
	mu     sync.Mutex
	silent map[uint64]bool
	hold   chan struct{} // while not nil, nobody answers before it is closed
	asked  map[uint64]int
}

func (f *fakeNet) observe(ctx context.Context, sw *switchdriver.Switch) (*Observation, error) {
	f.mu.Lock()
	f.asked[sw.NodeId]++
	silent, hold := f.silent[sw.NodeId], f.hold
	f.mu.Unlock()
	o := &Observation{Node: mib.MAC(sw.NodeId)}
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return o, ctx.Err()
		}
	}
	if silent {
		return o, errors.New("no answer")
	}
	next := sw.NodeId%3 + 1 // 1 → 2 → 3 → 1
	o.Ports = []Port{{ID: "1", Number: 1, Admin: 1, LLDP: Identifier{Subtype: 5, ID: []byte("a")}}}
	o.Chassis = Identifier{Subtype: 7, ID: fmt.Append(nil, sw.NodeId)}
	o.Neighbors = []Neighbor{{LocalPort: "1", Chassis: Identifier{Subtype: 7, ID: fmt.Append(nil, next)},
		Port: Identifier{Subtype: 5, ID: []byte("a")}}}
	o.Observed = time.Now()
	return o, nil
}

func (f *fakeNet) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func entries(nodes ...uint64) []switchlist.Entry {
	var out []switchlist.Entry
	for i, n := range nodes {
		out = append(out, switchlist.Entry{Line: i + 2, MAC: mib.MAC(n), Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), Port: 161})
	}
	return out
}

type results struct {
	*Surveyor
	net  *fakeNet
	inv  *switchlist.Inventory
	seen chan *Network
}

func newSurvey(t *testing.T, interval time.Duration, nodes ...uint64) *results {
	t.Helper()
	r := &results{net: &fakeNet{silent: map[uint64]bool{}, asked: map[uint64]int{}}, inv: switchlist.New(nil), seen: make(chan *Network, 1000)}
	r.inv.Set("list", entries(nodes...), nil)
	r.Surveyor = New(Options{Inventory: r.inv, Observe: r.net.observe, Workers: 4,
		Publish: func(_, n *Network, _ Cause, _ string) { r.seen <- n }})
	r.SetInterval(interval)
	t.Cleanup(r.Close)
	return r
}

func (r *results) discover(t *testing.T, s Scope) Summary {
	t.Helper()
	sum, err := r.Discover(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func names(n *Network) []string {
	var out []string
	for _, node := range n.Nodes {
		if node.Kind != SNMP {
			continue
		}
		s := node.ID
		if node.Stale {
			s += " stale"
		}
		out = append(out, s)
	}
	return out
}

// A switch that falls silent keeps what it reported, marked; one that never answered is
// not there, and neither changes anything for the others.
func TestSilentSwitches(t *testing.T) {
	r := newSurvey(t, 0, 1, 2, 3)
	r.net.set(func() { r.net.silent[3] = true })
	if s := r.discover(t, All); s.Answered != 2 || s.Switches != 2 || len(s.Failures) != 1 || s.Failures[0].Error != "no answer" {
		t.Errorf("%+v", s)
	}
	r.net.set(func() { r.net.silent = map[uint64]bool{1: true} })
	r.discover(t, All)
	if got := names(r.Network()); !slices.Equal(got, []string{"1 stale", "2", "3"}) {
		t.Errorf("nodes %v", got)
	}
	if r.Failure(1) == nil || r.Failure(3) != nil {
		t.Errorf("failures %v, %v", r.Failure(1), r.Failure(3))
	}
	r.net.set(func() { r.net.silent = nil })
	r.discover(t, All)
	if got := names(r.Network()); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("nodes %v", got)
	}
}

func TestScopes(t *testing.T) {
	r := newSurvey(t, 0, 1, 2)
	if s := r.discover(t, Switches); s.Switches != 2 || s.Links != 0 {
		t.Errorf("switches only: %+v", s)
	}
	r.inv.Set("list", entries(1, 2, 3), nil)
	if s := r.discover(t, Edges); s.Asked != 2 || s.Switches != 2 || s.OneEnded != 1 {
		t.Errorf("edges only: %+v", s)
	}
	if s := r.discover(t, Switches); s.Switches != 3 || s.Links != 2 {
		t.Errorf("the third switch does not report its edge yet: %+v", s)
	}
	r.inv.Set("list", entries(2), nil)
	if s := r.discover(t, All); s.Switches != 1 {
		t.Errorf("after two were taken from the list: %+v", s)
	}
}

func TestOneAtATime(t *testing.T) {
	r := newSurvey(t, 0, 1)
	hold := make(chan struct{})
	r.net.set(func() { r.net.hold = hold })
	started, done := make(chan struct{}, 10), make(chan error)
	go func() {
		_, err := r.Discover(t.Context(), All, func(int, int) { started <- struct{}{} })
		done <- err
	}()
	<-started
	if _, err := r.Discover(t.Context(), All, nil); fault.KindOf(err) != fault.InUse {
		t.Errorf("a second one: %v", err)
	}
	close(hold)
	if err := <-done; err != nil {
		t.Error(err)
	}
	r.discover(t, All)
}

// The caller's time ends; the discovery goes on and is not lost.
func TestCallerGoesAway(t *testing.T) {
	r := newSurvey(t, 0, 1)
	hold := make(chan struct{})
	r.net.set(func() { r.net.hold = hold })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Discover(ctx, All, nil); fault.KindOf(err) != fault.Timeout {
		t.Errorf("error %v", err)
	}
	close(hold)
	if n, err := r.Await(t.Context()); err != nil || len(names(n)) != 1 {
		t.Errorf("%v, %v", n, err)
	}
}

// Discovery begins by itself, follows the list, and repeats at the interval as it
// is changed.
func TestLoop(t *testing.T) {
	r := newSurvey(t, 0, 1)
	r.Start()
	if n := <-r.seen; len(names(n)) != 1 {
		t.Errorf("at the start: %v", names(n))
	}
	r.inv.Set("list", entries(1, 2), nil)
	for len(names(<-r.seen)) != 2 {
		continue // one under way when the list changed
	}
	r.SetInterval(time.Millisecond)
	for range 3 {
		<-r.seen
	}
	r.SetInterval(0)
	if r.Interval() != 0 {
		t.Error("the interval is still set")
	}
}

// Without a list the answer is empty at once; with one it waits for the first
func TestAwaitWithoutList(t *testing.T) {
	r := newSurvey(t, 0)
	n, err := r.Await(t.Context())
	if err != nil || len(n.Nodes) != 0 {
		t.Errorf("%v, %v", n, err)
	}
	r.inv.Set("list", entries(1), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Await(ctx); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("before the first discovery: %v", err)
	}
}

func TestClosed(t *testing.T) {
	r := newSurvey(t, 0, 1)
	r.Start()
	r.Close()
	if _, err := r.Discover(t.Context(), All, nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("error %v", err)
	}
}
