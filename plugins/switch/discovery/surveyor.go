// Package discovery makes a network of what single switches report. It is the
// decision core: observations in, nodes, ports and edges out, no input or output.
//
// Assemble turns the tables of one switch into an Observation; Build joins the
// observations of all switches into a Network. A Surveyor has the observations
// made, in parallel and over and over.
package discovery

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Options say how to discover. Zero values mean the defaults named.
type Options struct {
	Inventory *switchlist.Inventory
	// Observe asks one switch; on error what it returns is used only when nothing
	// better is known.
	Observe func(context.Context, *switchdriver.Switch) (*Observation, error)
	// Refresh reads what has changed since old, with the neighbours if that is asked
	// for; nil: Observe is used.
	Refresh func(ctx context.Context, sw *switchdriver.Switch, old *Observation, neighbors bool) (*Observation, error)
	// Infer reads other evidence of links, for switches without LLDP and CDP and
	// those around them; nil: such links are not found.
	Infer    func(ctx context.Context, sw *switchdriver.Switch, o *Observation, want map[mib.MAC]bool) (*Evidence, error)
	Workers  int           // switches asked at the same time, 256
	Deadline time.Duration // for one switch, 20 s
	Log      *slog.Logger
	// Publish gets each result with the one before it (nil for the first) and why the
	// switches were read, one at a time.
	Publish func(before, after *Network, cause Cause, by string)
	// Finished is called after each run.
	Finished func()
}

// Surveyor runs discoveries between Start and Close. At other times it shows what the
// process that does has observed (Adopt). It is safe for concurrent use.
type Surveyor struct {
	opt    Options
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	rearm  chan struct{} // the interval has changed
	first  chan struct{} // closed once there is a result

	mu       sync.Mutex
	interval time.Duration
	active   *run
	observed map[mib.MAC]*Observation
	failed   map[mib.MAC]error
	asked    map[mib.MAC]time.Time // when the reading of what was observed began
	dues     map[mib.MAC]*due      // read again because of traps
	reread   map[mib.MAC]time.Time // when, lately
	touched  chan struct{}         // something is due
	net      *Network
	last     Summary

	running bool // Start was called, and Close was not since

	publishing sync.Mutex
}

// New makes a Surveyor; Start starts it, Close ends it, and it may be started again.
func New(o Options) *Surveyor {
	o.Workers, o.Deadline = cmp.Or(o.Workers, 256), cmp.Or(o.Deadline, 20*time.Second)
	o.Log = cmp.Or(o.Log, slog.Default())
	s := &Surveyor{
		opt:      o,
		rearm:    make(chan struct{}, 1),
		first:    make(chan struct{}),
		observed: map[mib.MAC]*Observation{},
		failed:   map[mib.MAC]error{},
		asked:    map[mib.MAC]time.Time{},
		dues:     map[mib.MAC]*due{},
		reread:   map[mib.MAC]time.Time{},
		touched:  make(chan struct{}, 1),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Start discovers now, after each change of the inventory, periodically, and what
// Touch asks for.
func (s *Surveyor) Start() {
	s.mu.Lock()
	if s.running = true; s.ctx.Err() != nil {
		s.ctx, s.cancel = context.WithCancel(context.Background())
	}
	s.mu.Unlock()
	s.wg.Go(s.discoveryLoop)
	s.wg.Go(s.runRereads)
}

// Close ends a run under way and waits for it.
func (s *Surveyor) Close() {
	s.mu.Lock() // so that no run begins after it
	s.cancel()
	s.mu.Unlock()
	s.wg.Wait()
	s.mu.Lock()
	s.running = false
	clear(s.dues)
	s.mu.Unlock()
}

func (s *Surveyor) discoveryLoop() {
	round := 1
	for s.ctx.Err() == nil {
		changed := s.opt.Inventory.Changed()
		if len(s.opt.Inventory.All()) > 0 || s.Network() != nil {
			s.discoverAutomatically(List, false)
		}
		for wait := true; wait; {
			timer := s.intervalTimer()
			select {
			case <-s.ctx.Done():
				wait = false
			case <-changed:
				wait = false
			case <-timer:
				s.discoverAutomatically(Interval, round%fullEvery != 0)
				round++
			case <-s.rearm:
			}
		}
	}
}

// intervalTimer fires when the next periodic discovery is due, with some jitter so that
// controllers do not fall into step; nil, which never fires, without an interval.
func (s *Surveyor) intervalTimer() <-chan time.Time {
	d := s.Interval()
	if d == 0 {
		return nil
	}
	return time.After(d - d/20 + rand.N(d/10+1))
}

// fullEvery is how often a periodic discovery reads everything, even what switches
// say has not changed.
const fullEvery = 10

// discoverAutomatically discovers; while another discovery runs, it waits for that to end and
// then discovers, so that a change of the list is never missed.
func (s *Surveyor) discoverAutomatically(cause Cause, quick bool) {
	for s.ctx.Err() == nil {
		sum, err := s.startRun(s.ctx, &run{
			scope: All,
			cause: cause,
			quick: quick,
		}, nil)
		if err == nil {
			s.opt.Log.Info("discovery finished", "result", sum.String())
			return
		}
		if fault.KindOf(err) != fault.InUse {
			if s.ctx.Err() == nil {
				s.opt.Log.Warn("discovery failed", "err", err)
			}
			return
		}
		if s.Idle(s.ctx) != nil {
			return
		}
	}
}

// Interval returns the time between periodic discoveries; 0 = none.
func (s *Surveyor) Interval() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interval
}

// SetInterval changes the time between periodic discoveries, from now on; 0 turns
// them off.
func (s *Surveyor) SetInterval(d time.Duration) {
	s.mu.Lock()
	s.interval = d
	s.mu.Unlock()
	together.Notify(s.rearm)
}

// Network returns the latest result; nil before the first one.
func (s *Surveyor) Network() *Network {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.net
}

// Await returns the latest result. While the first discovery is under way it waits
// for it; without a switch list the result is empty.
func (s *Surveyor) Await(ctx context.Context) (*Network, error) {
	if n := s.Network(); n != nil {
		return n, nil
	}
	if len(s.opt.Inventory.All()) == 0 {
		return &Network{}, nil
	}
	select {
	case <-s.first:
		return s.Network(), nil
	case <-ctx.Done():
		return nil, fault.New(fault.Unavailable, "the first discovery is not finished yet")
	}
}

// Failure returns why a switch did not answer the last time; nil when it did.
func (s *Surveyor) Failure(m mib.MAC) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[m]
}

// Impostor returns which other switch of the list answers at the address of one, by what
// it calls its bridge; 0: none, or it has not been asked since the list was read.
func (s *Surveyor) Impostor(m mib.MAC) mib.MAC {
	o := s.Observation(m)
	if o == nil || o.Bridge == 0 || o.Bridge == m || o.Observed.Before(s.opt.Inventory.Last().At) {
		return 0
	}
	if _, err := s.opt.Inventory.Find(o.Bridge); err != nil {
		return 0
	}
	return o.Bridge
}

// Observation returns what a switch last reported; nil when it never did.
func (s *Surveyor) Observation(m mib.MAC) *Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.observed[m]
}

// Known is what is known of the switches.
type Known struct {
	Observed map[mib.MAC]*Observation
	Failed   map[mib.MAC]error // why a switch did not answer the last time
	Last     Summary           // of the last discovery that was finished
}

// Known returns what is known now. The observations must not be changed.
func (s *Surveyor) Known() Known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Known{maps.Clone(s.observed), maps.Clone(s.failed), s.last}
}

// Adopt shows what another process has observed. While this one observes by itself it
// does nothing.
func (s *Surveyor) Adopt(k Known) {
	s.mu.Lock()
	if s.running {
		s.mu.Unlock()
		return
	}
	s.observed, s.failed, s.last = maps.Clone(k.Observed), maps.Clone(k.Failed), k.Last
	nothing := len(s.observed) == 0 && s.net == nil
	s.mu.Unlock()
	if !nothing {
		s.publishNetwork(&run{cause: Adopted})
	}
}
