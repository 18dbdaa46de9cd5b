package service

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/together"
	"ctl.internal/plugins/bier-service/drivers"
	"ctl.internal/plugins/bier-service/reconcile"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
)

// acting is the service while this process holds the role.
type acting struct {
	*Service
	term    *state.Term
	engine  *reconcile.Engine
	planner reconcile.Planner // of the goroutine of follow
	records *records

	mu       sync.Mutex
	sessions map[string]*bierdriver.Session
}

// runActing holds the routers to what topologies and channels say, until the role ends.
func (s *Service) runActing(ctx context.Context, term *state.Term) {
	a := &acting{
		Service:  s,
		term:     term,
		records:  newRecords(s.data, term),
		sessions: map[string]*bierdriver.Session{},
	}
	now := s.data.store.Now()
	var managed []string
	for node := range s.data.managed.All(now, "") {
		managed = append(managed, node)
	}
	known := map[string]bier.Status{}
	for key, x := range s.data.status.All(now, bier.RouterKey("")) {
		known[strings.TrimPrefix(key, bier.RouterKey(""))] = x
	}
	a.engine = reconcile.New(ctx, reconcile.Options{
		Target:   a.routerTarget,
		Apply:    a.applyConfig,
		Check:    a.findUnwritable,
		Read:     a.readRouter,
		Release:  a.releaseRouter,
		Status:   a.recordStatus,
		Drift:    a.recordDrift,
		Report:   s.reportToOperator,
		Timeout:  s.set.ApplyTimeout.Duration,
		RetryMin: s.set.RetryMin.Duration,
		RetryMax: s.set.RetryMax.Duration,
		Parallel: s.set.Parallel,
		Repair:   s.set.Drift != "report",
	}, managed, known)
	s.setActing(a)
	var group sync.WaitGroup
	group.Go(func() { a.records.runWriter(ctx) })
	group.Go(func() { newProver(a).run(ctx) })
	a.followConfig(ctx)
	s.setActing(nil)
	a.engine.Wait()
	group.Wait()
	s.registry.ForgetAll()
}

// maxRest bounds how long changes are gathered when they come closely: under many of
// them, computing takes a fifth of the time.
const maxRest = 100 * time.Millisecond

// followConfig has the engine want what is configured, until ctx ends.
func (a *acting) followConfig(ctx context.Context) {
	var audit <-chan time.Time
	if a.set.Audit.Duration > 0 {
		t := time.NewTicker(a.set.Audit.Duration)
		defer t.Stop()
		audit = t.C
	}
	together.Notify(a.asked)
	for a.computeDesired(); ; {
		select {
		case <-ctx.Done():
			return
		case <-a.intent:
			began := time.Now()
			a.computeDesired()
			host.Pause(ctx, min(4*time.Since(began), maxRest))
		case <-a.asked:
			a.takeCompareRequests()
		case <-audit:
			a.engine.Kick(nil, 0)
		}
	}
}

// computeDesired computes what routers must hold from one snapshot of all that is configured.
func (a *acting) computeDesired() {
	now := a.data.store.Now()
	if why := a.data.findUnreadable(); why != "" {
		before, _ := a.data.status.Get(now, bier.ServiceKey)
		a.records.setProcessed(before.Processed, why)
		return
	}
	desired, changed := a.planner.Wanted(a.data.Network(now))
	a.engine.Want(desired, changed, now.Revision())
	a.records.setProcessed(now.Revision(), "")
}

// takeCompareRequests takes requests to compare routers in.
func (a *acting) takeCompareRequests() {
	now := a.data.store.Now()
	var asked []string
	for node := range a.data.asked.All(now, "") {
		asked = append(asked, node)
	}
	if len(asked) == 0 {
		return
	}
	nodes := asked
	if slices.Contains(asked, all) {
		nodes = nil
	}
	a.engine.Kick(nodes, now.Revision())
	a.records.removeServedRequests(asked)
}

func (a *acting) routerTarget(node string) *bierdriver.Router {
	return a.data.Mounts.Get(a.data.store.Now(), node)
}

// handleRemount is called when routers may be reached otherwise, nil: all of them.
func (a *acting) handleRemount(nodes []string) {
	now := a.data.store.Now()
	for _, node := range nodes {
		if a.data.Mounts.Get(now, node) == nil {
			a.registry.Forget(node)
			a.mu.Lock()
			delete(a.sessions, node)
			a.mu.Unlock()
			a.records.putSession(node, nil)
		}
	}
	a.engine.Kick(nodes, now.Revision())
}

// recordSession notes a session and returns the state before.
func (a *acting) recordSession(node string, n *bierdriver.Session) bierdriver.SessionState {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.sessions[node]
	if n.State == bierdriver.Connecting &&
		(before.GetState() == bierdriver.Down || before.GetState() == bierdriver.Refused) {
		return before.GetState() // it is down until it is up
	}
	if len(n.Capabilities) == 0 { // what it announced last still helps to choose a driver
		n.Capabilities = before.GetCapabilities()
	}
	a.sessions[node] = n
	a.records.putSession(node, drivers.NewSession(n))
	return before.GetState()
}

// applyConfig chooses a driver and lets it apply.
func (a *acting) applyConfig(
	ctx context.Context,
	r *bierdriver.Router,
	d *reconcile.Desired,
	dryRun bool,
) (*bierdriver.Result, string, error) {
	ctx, cancel, err := a.term.Act(ctx, a.set.ApplyTimeout.Duration)
	if err != nil {
		return nil, "", err
	}
	defer cancel()
	a.mu.Lock()
	capabilities := a.sessions[r.NodeId].GetCapabilities()
	a.mu.Unlock()
	name, client, err := a.registry.Choose(ctx, r, capabilities)
	if err != nil && fault.KindOf(err) == fault.Unsupported {
		return &bierdriver.Result{
			State:  bierdriver.Failed,
			Reason: err.Error(),
		}, name, nil
	}
	if err != nil {
		return nil, name, err
	}
	members := len(d.Config.Members) > 0
	if members {
		if members, err = a.registry.WantsMembers(ctx, name); err != nil {
			return nil, name, fmt.Errorf("driver %s: %w", name, err)
		}
	}
	p := &permit{acting: a, node: r.NodeId, hash: d.Hash}
	var asked bierdriver.Permit
	if !dryRun {
		asked = p
	}
	began := time.Now()
	res, err := client.Apply(ctx, r, d.Wire(members), asked)
	a.measures.observeApply(name, began, callOutcome(res, err))
	if err != nil {
		return nil, name, fmt.Errorf("driver %s: %w", name, err)
	}
	if res.State == bierdriver.Applied &&
		!dryRun &&
		!p.begun { // it holds all that it must, and that is ours from now on
		if err := p.takeOwnership(ctx, ""); err != nil {
			return nil, name, err
		}
	}
	first, err := a.data.Trust(ctx, a.term, r, res.GetSession().GetHostKey())
	switch {
	case err != nil:
		slog.Warn("the host key of a router was not kept", "node", r.NodeId, "error", err)
	case first:
		slog.Warn(
			"the host key of a router is trusted because it is the first it showed; compare it with the router's",
			"node",
			r.NodeId,
			"host-key",
			res.GetSession().GetHostKey(),
		)
		other := a.data.KeyOf(a.data.store.Now(), r.NodeId, res.GetSession().GetHostKey())
		if other != "" {
			a.reportToOperator(
				r.NodeId,
				"it shows the host key of router "+other+": they may be the same router",
			)
		}
	}
	return res, name, nil
}

// callOutcome is a call of a driver in a word.
func callOutcome(res *bierdriver.Result, err error) string {
	switch {
	case err != nil:
		return "error"
	case res.State == bierdriver.Applied:
		return bier.Applied
	case res.State == bierdriver.Failed:
		return bier.Failed
	}
	return bier.Pending
}

// releaseRouter forgets a router that holds nothing of ours any more.
func (a *acting) releaseRouter(ctx context.Context, node string) error {
	a.registry.Forget(node)
	_, err := a.term.Update(ctx, func(tx *state.Tx) error {
		a.data.managed.Delete(tx, node)
		return nil
	})
	return err
}
