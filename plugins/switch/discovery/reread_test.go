package discovery

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/switchdriver"
)

// counted is switches whose readings are counted, by the way they were read.
type counted struct {
	mu     sync.Mutex
	full   map[mib.MAC]int
	quick  map[mib.MAC]int
	forced map[mib.MAC]int
	hold   chan struct{} // while not nil, nobody answers before it is closed
}

func (c *counted) read(ctx context.Context, sw *switchdriver.Switch) (*Observation, error) {
	m := mib.MAC(sw.NodeId)
	c.mu.Lock()
	c.full[m]++
	hold := c.hold
	c.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return &Observation{Node: m}, ctx.Err()
		}
	}
	return &Observation{Node: m, Observed: time.Now(), Marks: Marks{At: time.Now()}, Ports: []Port{{ID: "1", Number: 1, IfIndex: 101, Bridged: true}}}, nil
}

func (c *counted) refresh(_ context.Context, _ *switchdriver.Switch, old *Observation, neighbors bool) (*Observation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quick[old.Node]++
	if neighbors {
		c.forced[old.Node]++
	}
	o := *old
	o.Observed = time.Now()
	return &o, nil
}

func (c *counted) counts(m mib.MAC) (full, quick, forced int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full[m], c.quick[m], c.forced[m]
}

// touched starts a survey of switches that have been read once.
func touched(t *testing.T, nodes ...uint64) (*results, *counted) {
	t.Helper()
	c := &counted{full: map[mib.MAC]int{}, quick: map[mib.MAC]int{}, forced: map[mib.MAC]int{}}
	r := newSurvey(t, 0, nodes...)
	r.Surveyor.opt.Observe, r.Surveyor.opt.Refresh = c.read, c.refresh
	r.Start()
	<-r.seen
	if err := r.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r, c
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); {
		if time.Now().After(deadline) {
			t.Fatal("not within a minute: " + what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// Fifty thousand traps are a few readings, and memory for one switch each.
func TestStormIsFewReadings(t *testing.T) {
	r, c := touched(t, 1, 2, 3)
	begun := time.Now()
	for i := range 50_000 {
		r.Touch(Hint{Node: mib.MAC(i%4 + 1), IfIndex: uint32(i), Neighbors: i%2 == 0}) // 4 is not listed
	}
	r.mu.Lock()
	waiting := len(r.dues)
	r.mu.Unlock()
	if waiting > 3 {
		t.Errorf("%d switches wait", waiting)
	}
	eventually(t, "all are read again", func() bool {
		for m := range mib.MAC(3) {
			if _, quick, _ := c.counts(m + 1); quick == 0 {
				return false
			}
		}
		return true
	})
	for m := range mib.MAC(3) {
		full, quick, forced := c.counts(m + 1)
		most := 2 + int(time.Since(begun)/calm) // the pace, however long it took here
		if full != 1 || quick > most || forced == 0 && m == 0 {
			t.Errorf("switch %d: read %d times whole, %d times in part (at most %d), %d with neighbours", m+1, full, quick, most, forced)
		}
	}
	if _, quick, _ := c.counts(4); quick != 0 {
		t.Error("a switch that is not listed was read")
	}
}

// A link that came up and has no neighbour yet is looked at again; one that has is not.
func TestRepeat(t *testing.T) {
	old := retries
	retries = []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}
	t.Cleanup(func() { retries = old })
	r, c := touched(t, 1, 2)
	r.mu.Lock()
	with := *r.observed[2]
	with.Neighbors = []Neighbor{{LocalPort: "1", SysName: "x", Chassis: Identifier{Subtype: 7, ID: []byte("x")}}}
	r.observed[2] = &with
	r.mu.Unlock()
	r.Touch(Hint{Node: 1, IfIndex: 101, Repeat: true})
	r.Touch(Hint{Node: 2, IfIndex: 101, Repeat: true})
	eventually(t, "the link without a neighbour is read four times", func() bool {
		_, quick, _ := c.counts(1)
		return quick == 1+len(retries)
	})
	if _, quick, _ := c.counts(2); quick != 1 {
		t.Errorf("the switch that has its neighbour was read %d times", quick)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.dues) != 0 {
		t.Errorf("%d readings wait", len(r.dues))
	}
}

// A discovery that began before a trap does not undo what the trap showed.
func TestNewerReadingWins(t *testing.T) {
	r, c := touched(t, 1)
	hold := make(chan struct{})
	c.mu.Lock()
	c.hold = hold
	c.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		_, err := r.Discover(t.Context(), All, nil)
		done <- err
	}()
	eventually(t, "the discovery asks", func() bool { full, _, _ := c.counts(1); return full == 2 })
	r.Touch(Hint{Node: 1})
	eventually(t, "it is read again", func() bool { _, quick, _ := c.counts(1); return quick == 1 })
	eventually(t, "what was read is known", r.rereadOne)
	again := r.Observation(1).Observed
	close(hold)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := r.Observation(1).Observed; !got.Equal(again) {
		t.Errorf("observed at %s, the newer reading was at %s", got, again)
	}
}

// rereadOne reports whether the reading of switch 1 because of a trap was taken.
func (r *results) rereadOne() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, done := r.reread[1]
	return done
}

// What another process has observed is shown, and holds for those that do not answer now.
func TestAdopt(t *testing.T) {
	r := newSurvey(t, 0, 1, 2)
	r.net.set(func() { r.net.silent[2] = true })
	at := time.Now().Add(-time.Hour)
	r.Adopt(Known{Observed: map[mib.MAC]*Observation{1: {Node: 1, Observed: at}, 2: {Node: 2, Observed: at, Ports: []Port{{ID: "1"}}}, 9: {Node: 9, Observed: at}},
		Failed: map[mib.MAC]error{2: errors.New("silent there, too")}})
	if got := names(r.Network()); len(got) != 2 || got[0] != "1" || got[1] != "2" || r.Failure(2) == nil {
		t.Errorf("nodes %v, %v", got, r.Failure(2))
	}
	r.discover(t, All)
	if got := names(r.Network()); len(got) != 2 || got[0] != "1" || got[1] != "2 stale" {
		t.Errorf("nodes %v", got)
	}
	if o := r.Observation(2); !o.Observed.Equal(at) {
		t.Errorf("the age of old data is lost: %s", o.Observed)
	}
	if err := errors.Join(r.Failure(1)); err != nil {
		t.Error(err)
	}
	r.Start()
	r.Adopt(Known{})
	if len(r.Known().Observed) != 2 {
		t.Error("one that observes by itself shows what another process has observed")
	}
	r.Close()
	r.Adopt(Known{})
	if n := r.Network(); len(n.Nodes) != 0 {
		t.Errorf("afterwards: %v", names(n))
	}
}

// Periodic discoveries read what has changed, and now and then everything.
func TestPeriodicIsIncremental(t *testing.T) {
	r, c := touched(t, 1)
	r.SetInterval(time.Millisecond)
	eventually(t, "it was read in whole twice and often in part", func() bool {
		full, quick, _ := c.counts(1)
		return full >= 3 && quick >= 2*(fullEvery-1)
	})
	r.SetInterval(0)
	if err := r.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if full, quick, _ := c.counts(1); full > quick/(fullEvery-2)+2 {
		t.Errorf("read %d times whole and %d times in part", full, quick)
	}
}
