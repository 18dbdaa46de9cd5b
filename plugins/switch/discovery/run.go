package discovery

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Scope says what a discovery is for.
type Scope int

// All finds switches, ports and edges. Switches leaves the edges as they are.
// Edges asks only switches that are known, and neither adds nor removes one.
const (
	All Scope = iota
	Switches
	Edges
)

// interim is how long those that answered wait for those that do not: after it
// what is there is published, and again at the end.
const interim = 2 * time.Second

// run is a discovery under way.
type run struct {
	cause   Cause
	by      string // who asked, of a command
	quick   bool   // read only what has changed, if a switch reports it
	scope   Scope
	started time.Time
	done    chan struct{} // closed at the end
	sum     Summary
	err     error
}

// Cause is why switches were read.
type Cause string

// The causes: somebody asked, the interval, a new switch list, traps, their counters, or another process
// that has read them.
const (
	Command  Cause = "command"
	Interval Cause = "periodic"
	List     Cause = "list"
	Trap     Cause = "trap"
	Polled   Cause = "counters"
	Adopted  Cause = "adopted"
)

// Discover asks the switches and returns a summary. It fails with fault.InUse
// while another run is active. When ctx ends first the run goes on without the
// caller. progress may be nil; it is called from one goroutine. total grows when switches are asked for more.
func (s *Surveyor) Discover(
	ctx context.Context,
	scope Scope,
	progress func(done, total int),
) (Summary, error) {
	who, _ := caller.From(ctx)
	return s.startRun(ctx, &run{
		scope: scope,
		cause: Command,
		by:    who.ID(),
	}, progress)
}

// Periodic is what the interval brings about: it reads only what has changed, where
// switches report.
func (s *Surveyor) Periodic(ctx context.Context) (Summary, error) {
	return s.startRun(ctx, &run{
		scope: All,
		cause: Interval,
		quick: true,
	}, nil)
}

func (s *Surveyor) startRun(
	ctx context.Context,
	r *run,
	progress func(done, total int),
) (Summary, error) {
	err := s.beginRun(r)
	if err != nil {
		return Summary{}, err
	}
	calls := make(chan [2]int, 1)
	go func() {
		defer s.wg.Done() // begin counted it
		defer close(calls)
		s.runDiscovery(r, func(done, total int) {
			select { // the newest counts
			case <-calls:
			default:
			}
			calls <- [2]int{done, total}
		})
	}()
	for {
		select {
		case c, more := <-calls:
			if !more {
				return r.sum, r.err
			}
			if progress != nil {
				progress(c[0], c[1])
			}
		case <-ctx.Done():
			return Summary{}, fault.Wrap(
				fault.Timeout,
				ctx.Err(),
				"the discovery continues, but the time limit of this call has ended",
			)
		}
	}
}

// Idle waits until no discovery is active.
func (s *Surveyor) Idle(ctx context.Context) error {
	s.mu.Lock()
	active := s.active
	s.mu.Unlock()
	if active == nil {
		return nil
	}
	select {
	case <-active.done:
		return nil
	case <-ctx.Done():
		return fault.Wrap(
			fault.InUse,
			ctx.Err(),
			"a discovery has been running for %s",
			time.Since(active.started).Round(100*time.Millisecond),
		)
	}
}

func (s *Surveyor) beginRun(r *run) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return fault.New(fault.Unavailable, "the plugin is stopping")
	}
	if a := s.active; a != nil {
		return fault.New(
			fault.InUse,
			"a discovery has been running for %s; wait for its end",
			time.Since(a.started).Round(100*time.Millisecond),
		)
	}
	s.wg.Add(1)
	r.started, r.done = time.Now(), make(chan struct{})
	s.active = r
	return nil
}

// runDiscovery does the work of a run.
func (s *Surveyor) runDiscovery(r *run, progress func(done, total int)) {
	defer func() {
		if s.opt.Finished != nil {
			s.opt.Finished()
		}
		s.mu.Lock()
		s.active = nil
		s.mu.Unlock()
		close(r.done)
	}()
	switches := s.chooseSwitches(r.scope)
	progress(0, len(switches))
	read := s.opt.Observe
	if r.quick {
		read = func(ctx context.Context, sw *switchdriver.Switch) (*Observation, error) {
			return s.refreshSwitch(ctx, sw, false)
		}
	}
	answers := s.askSwitches(switches, read)
	early := time.NewTimer(interim)
	defer early.Stop()
	for n := 0; n < len(switches); {
		select {
		case a := <-answers:
			s.takeAnswer(r, a)
			n++
			progress(n, len(switches))
		case <-early.C:
			s.publishNetwork(r)
		}
	}
	if s.ctx.Err() != nil {
		r.err = fault.New(fault.Unavailable, "the plugin is stopping")
		return
	}
	s.forgetUnlisted()
	s.readEvidence(func(done, total int) {
		progress(len(switches)+done, len(switches)+total)
	})
	s.publishNetwork(r)
	s.summariseRun(r, len(switches))
}

// chooseSwitches returns the switches a run asks.
func (s *Surveyor) chooseSwitches(scope Scope) []*switchdriver.Switch {
	all := s.opt.Inventory.All()
	s.mu.Lock()
	defer s.mu.Unlock()
	if scope != Edges || len(s.observed) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(sw *switchdriver.Switch) bool {
		return s.observed[mib.MAC(sw.NodeId)] == nil
	})
}

// takeAnswer records an answer. A switch that does not answer keeps what it reported before.
func (s *Surveyor) takeAnswer(r *run, a answer) {
	m := mib.MAC(a.sw.NodeId)
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.observed[m]
	if s.asked[m].After(a.asked) {
		return // read again meanwhile, because of a trap
	}
	s.asked[m] = a.asked
	if a.err != nil {
		s.failed[m] = a.err
		r.sum.Failures = append(
			r.sum.Failures,
			Failure{
				Switch:  m.String(),
				Address: a.sw.Address,
				Error:   a.err.Error(),
			},
		)
		switch {
		case old != nil:
			stale := *old
			stale.Stale = true
			s.observed[m] = &stale
		case a.obs != nil && len(a.obs.Ports) > 0:
			a.obs.Stale = true
			s.observed[m] = a.obs
		}
		return
	}
	delete(s.failed, m)
	if old != nil && a.obs.Evidence == nil {
		a.obs.Evidence = old.Evidence
	}
	if r.scope == Switches {
		a.obs.Neighbors = nil
		if old != nil {
			a.obs.Neighbors = old.Neighbors
		}
	}
	s.observed[m] = a.obs
}

// forgetUnlisted drops what is no longer in the inventory.
func (s *Surveyor) forgetUnlisted() {
	listed := map[mib.MAC]bool{}
	for _, sw := range s.opt.Inventory.All() {
		listed[mib.MAC(sw.NodeId)] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.observed, func(m mib.MAC, _ *Observation) bool {
		return !listed[m]
	})
	maps.DeleteFunc(s.asked, func(m mib.MAC, _ time.Time) bool { return !listed[m] })
	maps.DeleteFunc(s.dues, func(m mib.MAC, _ *due) bool { return !listed[m] })
	maps.DeleteFunc(s.failed, func(m mib.MAC, _ error) bool { return !listed[m] })
}

// publishNetwork builds the network of what is known and hands it on.
func (s *Surveyor) publishNetwork(r *run) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.mu.Lock()
	var obs []*Observation
	for _, sw := range s.opt.Inventory.All() {
		if o := s.observed[mib.MAC(sw.NodeId)]; o != nil {
			obs = append(obs, o)
		}
	}
	before := s.net
	s.mu.Unlock()
	after := Build(obs, time.Now())
	s.mu.Lock()
	s.net = after
	s.mu.Unlock()
	if s.opt.Publish != nil {
		s.opt.Publish(before, after, r.cause, r.by)
	}
	if before == nil {
		close(s.first)
	}
}

// reader reads one switch.
type reader func(context.Context, *switchdriver.Switch) (*Observation, error)

// answer is what one switch gave.
type answer struct {
	sw    *switchdriver.Switch
	obs   *Observation
	err   error
	asked time.Time
}

// askSwitches has the workers read all switches; exactly one answer comes for each.
func (s *Surveyor) askSwitches(switches []*switchdriver.Switch, read reader) <-chan answer {
	todo := make(chan *switchdriver.Switch)
	answers := make(chan answer, s.opt.Workers)
	var workers sync.WaitGroup
	for range min(s.opt.Workers, len(switches)) {
		workers.Go(func() {
			for sw := range todo {
				ctx, cancel := context.WithTimeout(s.ctx, s.opt.Deadline)
				asked := time.Now()
				obs, err := read(ctx, sw)
				cancel()
				answers <- answer{sw, obs, err, asked}
			}
		})
	}
	s.wg.Go(func() {
		for _, sw := range switches {
			todo <- sw
		}
		close(todo)
		workers.Wait()
	})
	return answers
}
