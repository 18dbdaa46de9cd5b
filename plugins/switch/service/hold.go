package service

import (
	"context"
	"encoding/json"
	"net/netip"
	"sync"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

// role is held by the one process that discovers, polls, receives traps, changes
// switches and writes what they report.
const role = "switch-devices"

// holdRole acts on the switches until ctx ends.
func (s *Service) holdRole(ctx context.Context, term *state.Term) {
	s.log.Info("this process acts on the switches", "role", role, "epoch", term.Epoch())
	s.survey.Adopt(s.knownFromRecords(s.store.Now()))
	e := newExporter(s, term)
	s.exporter.Store(e)
	s.survey.SetInterval(s.interval())
	s.survey.Start() // before the writer, which may be asked for a discovery at once
	var work sync.WaitGroup
	work.Go(func() { s.writer.Run(ctx, term) })
	work.Go(func() { e.runExport(ctx) })
	work.Go(func() {
		if err := s.database.Follow(ctx, term, s.log, s.looked); err != nil {
			s.log.Warn("changes of the file of the switch list are not noticed", "err", err)
		}
	})
	work.Go(func() { s.runPlans(ctx, term) })
	work.Go(func() { s.followSDN(ctx) })
	work.Go(func() { s.reportTroubles(ctx) })
	work.Go(func() { s.pollCounters(ctx) })
	work.Go(func() { s.followStations(ctx, term) })
	if s.set.Traps.Listen != noTraps {
		work.Go(func() { s.receiveTraps(ctx, term) })
	}
	<-ctx.Done()
	s.survey.Close()
	work.Wait()
	s.exporter.Store(nil)
	together.Notify(s.seen) // what the next holder observes is adopted
}

// runDiscovery runs a discovery, here or where the role is held.
func (s *Service) runDiscovery(
	ctx context.Context,
	scope discovery.Scope,
	progress func(done, total int),
) (sum discovery.Summary, err error) {
	if s.writer.Holds() {
		return s.survey.Discover(ctx, scope, progress)
	}
	who, _ := caller.From(ctx)
	lines, err := s.writer.Do(ctx, nil, writes.Operation{
		What:  "discovery",
		Scope: int(scope),
		By:    who.ID(),
	})
	switch {
	case err != nil:
		return sum, err
	case len(lines) != 1: // perform makes one, of JSON
		return sum, fault.New(
			fault.Internal,
			"the result of the operation has %d lines, not 1",
			len(lines),
		)
	}
	return sum, json.Unmarshal([]byte(lines[0]), &sum)
}

// performOperation carries an operation out, as the holder of the role.
func (s *Service) performOperation(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *writes.Operation,
) ([]string, error) {
	switch {
	case o.Request != nil:
		return s.drivers.Perform(ctx, sw, o)
	case o.Undo != "":
		u, err := s.writer.Undoing(o)
		if err != nil {
			return nil, err
		}
		return s.drivers.Undo(ctx, sw, o, u)
	}
	if o.Scope < int(discovery.All) || o.Scope > int(discovery.Edges) {
		return nil, fault.New(fault.Internal, "there is no discovery of scope %d", o.Scope)
	}
	ctx = caller.With(ctx, caller.Caller{User: o.By})
	sum, err := s.survey.Discover(ctx, discovery.Scope(o.Scope), nil)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(sum)
	return []string{string(line)}, err
}

// finishDiscovery ends a discovery: what it has found is written, and what it needed only for itself
// is given back.
func (s *Service) finishDiscovery() {
	if e := s.exporter.Load(); e != nil {
		e.noteFinished(context.Background(), s.survey.Last())
	}
	inUse := map[netip.AddrPort]bool{}
	for _, e := range s.inventory.Entries() {
		inUse[netip.AddrPortFrom(e.Address, e.Port)] = true
	}
	s.client.Trim(idleSockets, inUse)
	s.drivers.Forget(func(node uint64) bool {
		_, err := s.findSwitch(node)
		return err == nil
	})
	together.Notify(s.discovered)
	together.Notify(s.surveyed)
	s.health(sdk.Health{
		State: sdk.Healthy,
		Details: map[string]string{
			"switches":  s.inventory.Last().Path,
			"discovery": s.survey.Last().String(),
		},
	})
}

// stop ends what New began; a change of a switch under way has the grace.
func (s *Service) stop(ctx context.Context) error {
	grace := time.Minute
	if end, ok := ctx.Deadline(); ok {
		grace = time.Until(end) * 2 / 3
	}
	drain, cancel := context.WithTimeout(ctx, grace)
	s.writer.Drain(drain)
	cancel()
	s.cancel()
	done := make(chan struct{})
	go func() {
		s.group.Wait()
		s.end()
		s.client.Close()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const intervalPrefix = "setting/discovery-interval"

// keptInterval is the time between discoveries that set-discovery-interval set. It holds
// as long as the settings file says what it said then.
type keptInterval struct {
	Set    time.Duration `json:"set"`
	Config time.Duration `json:"config"`
}

func (s *Service) interval() time.Duration {
	config := s.set.Discovery.Interval.Duration
	k, ok := s.kept.Get(s.store.Now(), "")
	if ok && k.Config == config && k.Set >= 0 {
		return k.Set
	}
	return config
}
