package service

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/plan"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

// The bounds of plans: how many are kept, and how many changes of all of them, which each plan keeps for its undo; keys
// that are removed at once; the time for one switch; how often the begin of the term is looked for, and how often a switch
// is compared again after its changes.
const (
	maxPlans      = 100
	maxPlanned    = 2 * maxChanges
	maxRemoved    = 500
	planStepTime  = 10 * time.Minute
	planPerChange = time.Minute
	planHoldLook  = 10 * time.Millisecond
	maxCompared   = 3
	maxShown      = 10 // problems of a switch that keep a plan from being applied there
)

const (
	planPrefix = "plan/"
	stepPrefix = "planstep/"
)

// planState is how far a plan is.
type planState string

// The states of a plan. Applying and undoing go on by themselves, at whichever node acts on switches.
const (
	planApplying   planState = "applying"
	planApplied    planState = "applied"
	planFailed     planState = "failed"
	planStopped    planState = "stopped"
	planUndoing    planState = "undoing"
	planUndone     planState = "undone"
	planUndoFailed planState = "undo-failed"
)

// isRunning reports whether something is being done for a plan.
func (p planState) isRunning() bool { return p == planApplying || p == planUndoing }

// planRecord is a plan that was applied.
type planRecord struct {
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"`
	By       string    `json:"by,omitempty"`
	Begun    time.Time `json:"begun"`
	Ended    time.Time `json:"ended,omitzero"`
	State    planState `json:"state"`
	Document string    `json:"document"`
	Nodes    []uint64  `json:"nodes"`
	Parallel int       `json:"parallel"`
	GoOn     bool      `json:"go-on,omitempty"` // at a fault
	Force    bool      `json:"force,omitempty"` // of the undo
	Asked    string    `json:"asked,omitempty"` // by whom, for the present run
	Run      int       `json:"run"`             // steps of an earlier run count no more
}

// planStep is what came of a plan at one switch.
type planStep struct {
	Node    uint64    `json:"node"`
	Run     int       `json:"run"`
	Failed  bool      `json:"failed,omitempty"`
	Changes int       `json:"changes"`
	Kept    int       `json:"kept,omitempty"` // changes of all runs that were kept for the undo
	Gone    int       `json:"gone,omitempty"` // of them, when it is undone, those that are not kept any more
	Text    string    `json:"text,omitempty"`
	At      time.Time `json:"at"`
}

func stepKey(plan string, node uint64) string { return fmt.Sprintf("%s/%012x", plan, node) }

// plans is what was planned, and how far it is.
type plans struct {
	records *state.Table[planRecord]
	steps   *state.Table[planStep]
	news    chan struct{}
	// do has an operation carried out.
	do func(context.Context, *switchdriver.Switch, writes.Operation) (string, []string, error)
}

// planCodec packs plans.
func planCodec() state.Codec[planRecord] {
	return state.Packed(func(*planRecord) bool { return false })
}

// checkSize refuses a plan whose record would be too large.
func (p *planRecord) checkSize() error {
	if _, err := planCodec().Encode("", *p); err != nil {
		return fault.At(
			fault.Invalid,
			"document",
			"the plan is too large to be kept: its document and the list of its switches, packed by gzip, take more than 64 KiB; divide it",
		)
	}
	return nil
}

func newPlans(w *writes.Writer) *plans {
	p := &plans{
		records: state.NewTableWith(state.Private(planPrefix), planCodec()),
		steps:   state.NewTable[planStep](state.Private(stepPrefix)),
		news:    make(chan struct{}, 1),
		do:      w.DoRecorded,
	}
	p.records.Notify(func([]string) { together.Notify(p.news) })
	return p
}

// listPlans returns the plans, the newest first.
func (s *Service) listPlans() (out []planRecord) {
	for _, p := range s.plans.records.All(s.store.Now(), "") {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b planRecord) int { return strings.Compare(b.ID, a.ID) })
	return out
}

func (s *Service) findPlan(r state.Reader, id string) (planRecord, error) {
	p, ok := s.plans.records.Get(r, id)
	if !ok {
		return p, fault.At(fault.NotFound, "plan", "there is no plan %.40q; switch:plans lists them", id)
	}
	return p, nil
}

// stepsOf are the steps of the plan's present run, by node.
func (s *Service) stepsOf(r state.Reader, p *planRecord) map[uint64]planStep {
	out := map[uint64]planStep{}
	for _, step := range s.plans.steps.All(r, p.ID+"/") {
		if step.Run == p.Run {
			out[step.Node] = step
		}
	}
	return out
}

// runPlans applies and undoes plans, one after the other, for one term of the role.
func (s *Service) runPlans(ctx context.Context, term *state.Term) {
	for !s.writer.Holds() && ctx.Err() == nil { // the writer begins its term beside this
		host.Pause(ctx, planHoldLook)
	}
	for {
		all := s.listPlans()
		for _, p := range slices.Backward(all) {
			if p.State.isRunning() && ctx.Err() == nil {
				s.runRecovered(ctx, term, p)
			}
		}
		select {
		case <-s.plans.news:
		case <-ctx.Done():
			return
		}
	}
}

// runRecovered is runPlan; a panic ends the plan as failed, and the process lives.
func (s *Service) runRecovered(ctx context.Context, term *state.Term, p planRecord) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("a plan panicked", "plan", p.ID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			s.endPlan(ctx, term, p, true)
		}
	}()
	s.runPlan(ctx, term, p)
}

// runPlan does what is left of a plan. One that is cut short goes on with the next holder of the role.
func (s *Service) runPlan(ctx context.Context, term *state.Term, p planRecord) {
	doc, err := plan.Parse([]byte(p.Document))
	if err != nil { // it was read when it was begun
		s.log.Warn("a plan cannot be read", "plan", p.ID, "err", err)
		s.endPlan(ctx, term, p, true)
		return
	}
	targets := map[uint64]*plannedSwitch{}
	for i := range doc.Switches {
		if sw := s.targetOf(doc, &doc.Switches[i], maxShown); sw.sw != nil {
			targets[sw.sw.NodeId] = sw
		}
	}
	var failed, halted atomic.Bool
	note := func(step planStep) {
		failed.Store(failed.Load() || step.Failed)
		halted.Store(halted.Load() || step.Failed && step.Gone == 0 && !p.GoOn)
	}
	steps := s.stepsOf(s.store.Now(), &p)
	var g errgroup.Group
	g.SetLimit(p.Parallel)
	for _, node := range p.Nodes {
		if step, ended := steps[node]; ended {
			note(step)
			continue
		}
		g.Go(func() error {
			if ctx.Err() != nil || s.isStopped(&p) || halted.Load() {
				return nil
			}
			step := s.runStep(ctx, &p, node, targets[node])
			if ctx.Err() != nil || term.Check() != nil {
				return nil // it is done again
			}
			note(step)
			s.putStep(ctx, term, &p, step)
			return nil
		})
	}
	_ = g.Wait()
	if ctx.Err() == nil {
		s.endPlan(ctx, term, p, failed.Load())
	}
}

// isStopped reports whether a plan is to be done no more, or in another way.
func (s *Service) isStopped(p *planRecord) bool {
	now, ok := s.plans.records.Get(s.store.Now(), p.ID)
	return !ok || now.State != p.State || now.Run != p.Run
}

// planStore bounds one write of the store.
const planStore = 10 * time.Second

func (s *Service) putStep(ctx context.Context, term *state.Term, p *planRecord, step planStep) {
	ctx, cancel := context.WithTimeout(ctx, planStore)
	defer cancel()
	_, err := term.Update(ctx, func(tx *state.Tx) error {
		if _, kept := s.plans.records.Get(tx, p.ID); !kept {
			return nil
		}
		return s.plans.steps.Put(tx, stepKey(p.ID, step.Node), step)
	})
	if err != nil {
		s.log.Warn("the result of a plan is not written", "plan", p.ID, "err", err)
	}
}

// endPlan writes how a plan ended, unless it was stopped meanwhile.
func (s *Service) endPlan(ctx context.Context, term *state.Term, p planRecord, failed bool) {
	ctx, cancel := context.WithTimeout(ctx, planStore)
	defer cancel()
	to := planApplied
	switch {
	case p.State == planUndoing && failed:
		to = planUndoFailed
	case p.State == planUndoing:
		to = planUndone
	case failed:
		to = planFailed
	}
	_, err := term.Update(ctx, func(tx *state.Tx) error {
		now, ok := s.plans.records.Get(tx, p.ID)
		if !ok || now.State != p.State || now.Run != p.Run {
			return nil
		}
		now.State, now.Ended = to, time.Now().UTC()
		return s.plans.records.Put(tx, p.ID, now)
	})
	if err != nil {
		s.log.Warn("the end of a plan is not written", "plan", p.ID, "err", err)
	}
}

// runStep applies or undoes a plan at one switch. A panic is a fault of the step, and the process lives.
func (s *Service) runStep(
	ctx context.Context,
	p *planRecord,
	node uint64,
	target *plannedSwitch,
) (step planStep) {
	ctx, cancel := context.WithTimeout(ctx, planStepTime)
	defer cancel()
	before, _ := s.plans.steps.Get(s.store.Now(), stepKey(p.ID, node))
	step = planStep{Node: node, Run: p.Run, Kept: before.Kept}
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("a plan panicked", "plan", p.ID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			step.Failed, step.At = true, time.Now().UTC()
			step.Text = "internal error in the plugin; its log has the details"
		}
		if p.State == planApplying {
			step.Kept = max(step.Kept, len(s.writer.Planned(s.store.Now(), p.ID, node)))
		}
	}()
	err := s.writer.AwaitRepair(ctx, node)
	var left []string
	switch {
	case err != nil:
	case p.State == planUndoing:
		left, err = s.undoStep(ctx, p, &step)
	case target == nil:
		err = fmt.Errorf("it is not in the switch list any more")
	case len(target.problems) > 0:
		err = errors.New(strings.Join(target.problems, "; "))
	default:
		step.Changes, err = s.applyStep(ctx, p, target)
	}
	if err != nil {
		step.Failed = true
		left = append(left, err.Error())
	}
	step.Text, step.At = strings.Join(left, "; "), time.Now().UTC()
	return step
}

// applyStep makes a switch as planned: it is compared, changed, and compared again.
func (s *Service) applyStep(ctx context.Context, p *planRecord, t *plannedSwitch) (done int, err error) {
	for range maxCompared {
		if err := s.compare(ctx, t); err != nil || len(t.changes) == 0 {
			return done, err
		}
		for _, c := range t.changes {
			if s.isStopped(p) {
				return done, errStopped()
			}
			made, err := s.applyChange(ctx, p, t, c)
			if err != nil {
				return done, err
			}
			if made {
				done++
			}
		}
	}
	if err := s.compare(ctx, t); err != nil || len(t.changes) == 0 {
		return done, err
	}
	return done, fault.Device(
		fault.Downstream,
		"switch %s takes the changes and still differs: %s",
		switchdriver.Label(t.sw),
		t.changes[0].What,
	)
}

func errStopped() error { return errors.New("it was stopped") }

// applyChange makes one change. The VLAN or port is read again when nobody else of this controller changes the switch:
// what others have changed since the comparison stays. made is false if nothing is to be changed any more.
func (s *Service) applyChange(ctx context.Context, p *planRecord, t *plannedSwitch, c plan.Change) (made bool, err error) {
	err = s.doPlanned(ctx, t.sw, writes.Operation{
		What:  c.What,
		Ports: namedIn(&t.target, c.Port),
		Group: p.ID,
		By:    p.Asked,
		Current: func(ctx context.Context, o *writes.Operation) error {
			now, err := s.changeNow(ctx, t, c)
			if made = now != nil; made {
				o.What, o.Request = now.What, now.Request
			}
			return err
		},
	})
	return made, err
}

// changeNow is a change as the switch needs it now; nil: not any more.
func (s *Service) changeNow(ctx context.Context, t *plannedSwitch, c plan.Change) (*plan.Change, error) {
	now := &plannedSwitch{sw: t.sw, target: t.target}
	read := s.readPlannedVLANs
	if c.VLAN == 0 {
		read = s.readPlannedSettings
	}
	if err := read(ctx, now); err != nil {
		return nil, err
	}
	all := t.target.Changes(now.state)
	i := slices.IndexFunc(all, func(n plan.Change) bool { return n.VLAN == c.VLAN && n.Port == c.Port })
	if i < 0 {
		return nil, nil
	}
	return &all[i], nil
}

// namedIn are the ports of a plan by number, only or all (0): a port that has another number now is found by its name.
func namedIn(t *plan.Target, only uint32) map[uint32]string {
	out := map[uint32]string{}
	for number, p := range t.Ports {
		if only != 0 && number != only {
			continue
		}
		if strings.EqualFold(t.Names[number], p.Port) && p.Port != fmt.Sprint(number) {
			out[number] = t.Names[number]
		}
	}
	return out
}

func (s *Service) doPlanned(ctx context.Context, sw *switchdriver.Switch, o writes.Operation) error {
	ctx, cancel := context.WithTimeout(ctx, planPerChange)
	defer cancel()
	_, _, err := s.plans.do(ctx, sw, o)
	return err
}

// undoStep takes back what a plan has changed at a switch, the last first. What was changed since is left and named. It
// is a fault if not all of the changes are kept any more; the other switches are undone nevertheless.
func (s *Service) undoStep(ctx context.Context, p *planRecord, step *planStep) (left []string, err error) {
	sw, err := s.findSwitch(step.Node)
	if err != nil {
		return nil, err
	}
	changes := s.writer.Planned(s.store.Now(), p.ID, step.Node)
	for _, r := range changes {
		if r.UndoneBy != "" {
			continue
		}
		if s.isStopped(p) {
			return left, errStopped()
		}
		o := undoOperation(&r, p.Force)
		o.By = p.Asked
		ctx, cancel := context.WithTimeout(ctx, planPerChange)
		_, lines, err := s.plans.do(ctx, sw, o)
		cancel()
		switch {
		case isChangedSince(err):
			left = append(left, err.Error())
			continue
		case err != nil:
			return left, err
		}
		if !slices.Contains(lines, writes.NothingShows) {
			step.Changes++
			left = append(left, lines...)
		}
	}
	if step.Gone = max(0, step.Kept-len(changes)); step.Gone > 0 {
		err = fmt.Errorf("%d of %d changes are no longer kept and stay", step.Gone, step.Kept)
	}
	return left, err
}

// isChangedSince reports whether an undo found nothing that it may take back without force.
func isChangedSince(err error) bool {
	return slices.ContainsFunc(fault.All(err), func(f *fault.Error) bool {
		return f.Kind == fault.InUse && f.Path == "force"
	})
}

// awaitPlan waits until nothing is done for a plan any more; progress, if any, gets how far it is.
func (s *Service) awaitPlan(ctx context.Context, id string, progress func(done, total int)) (p planRecord, err error) {
	err = s.store.WaitUntil(ctx, func(n *state.Snapshot) bool {
		var ok bool
		p, ok = s.plans.records.Get(n, id)
		if progress != nil {
			progress(len(s.stepsOf(n, &p)), len(p.Nodes))
		}
		return !ok || !p.State.isRunning()
	})
	return p, err
}

// differencesOf compares the switches with a plan: its drift, once it is applied.
func (s *Service) differencesOf(ctx context.Context, p *planRecord) (*preview, error) {
	doc, err := plan.Parse([]byte(p.Document))
	if err != nil {
		return nil, err
	}
	return s.previewPlan(ctx, doc)
}

// planSwitchName is the name of a switch of a plan.
func (s *Service) planSwitchName(node uint64) string { return s.switchIdentity(mib.MAC(node)).Switch }
