package service

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"ctl.internal/plugins/switch/plan"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// planRPCs registers the RPCs of module switch-plan.
func (s *Service) planRPCs(m operations.Mux) {
	registerHandler(m, "switch-plan:preview", s.previewDocument)
	registerHandler(m, "switch-plan:apply", s.applyPlan)
	registerHandler(m, "switch-plan:stop", s.stopPlan)
	registerHandler(m, "switch-plan:undo", s.undoPlan)
	registerHandler(m, "switch-plan:get-plans", s.getPlans)
	registerHandler(m, "switch-plan:get-plan", s.getPlan)
	registerHandler(m, "switch-plan:get-drift", s.getDrift)
}

type documentIn struct {
	Document string `json:"document"`
}

type plannedChange struct {
	Change string `json:"change"`
	Detail string `json:"detail,omitempty"`
}

type difference struct {
	Switch   string          `json:"switch"`
	Node     string          `json:"node-id,omitempty"`
	Changes  []plannedChange `json:"change,omitempty"`
	Problems []string        `json:"problem,omitempty"`
	Risks    []string        `json:"risk,omitempty"`
}

type differencesOut struct {
	Differences []difference `json:"difference"`
	Switches    int          `json:"switches"`
	Changes     int          `json:"changes"`
	Gaps        []string     `json:"gap,omitempty"`
}

func (s *Service) previewDocument(ctx context.Context, in documentIn) (*differencesOut, error) {
	p, err := plan.Parse([]byte(in.Document))
	if err != nil {
		return nil, err
	}
	found, err := s.previewPlan(ctx, p)
	if err != nil {
		return nil, err
	}
	return found.output(), nil
}

func (p *preview) output() *differencesOut {
	out := &differencesOut{
		Differences: []difference{},
		Switches:    len(p.switches),
		Gaps:        p.gaps,
	}
	for _, sw := range p.switches {
		if len(sw.changes)+len(sw.problems) == 0 {
			continue
		}
		d := difference{Switch: sw.name, Problems: sw.problems, Risks: sw.risks}
		if sw.sw != nil {
			d.Node = strconv.FormatUint(sw.sw.NodeId, 10)
		}
		for _, c := range sw.changes {
			d.Changes = append(d.Changes, plannedChange{c.What, c.Detail})
		}
		out.Changes += len(sw.changes)
		out.Differences = append(out.Differences, d)
	}
	return out
}

// The values of on-fault.
const (
	onFaultStop     = "stop"
	onFaultContinue = "continue"
)

// defaultParallel is how many switches are changed at a time where the input does not say.
const defaultParallel = 16

type applyIn struct {
	documentIn
	Plan     string `json:"plan"`
	Parallel int    `json:"parallel"`
	OnFault  string `json:"on-fault"`
	Force    bool   `json:"force"`
	Wait     bool   `json:"wait"`
}

// planSummary is what is shown of a plan.
type planSummary struct {
	Plan     string    `json:"plan"`
	Name     string    `json:"name,omitempty"`
	By       string    `json:"by,omitempty"`
	Begun    string    `json:"begun"`
	Ended    string    `json:"ended,omitempty"`
	State    planState `json:"state"`
	Switches int       `json:"switches"`
	Done     int       `json:"ended-switches"`
	Failed   int       `json:"failed-switches"`
}

func (s *Service) summaryOf(p *planRecord) *planSummary {
	out := &planSummary{
		Plan:     p.ID,
		Name:     p.Name,
		By:       p.By,
		Begun:    p.Begun.Format(time.RFC3339),
		State:    p.State,
		Switches: len(p.Nodes),
	}
	if !p.Ended.IsZero() {
		out.Ended = p.Ended.Format(time.RFC3339)
	}
	for _, step := range s.stepsOf(s.store.Now(), p) {
		out.Done++
		if step.Failed {
			out.Failed++
		}
	}
	return out
}

// applyPlan checks a plan and begins to apply it.
func (s *Service) applyPlan(ctx context.Context, in applyIn) (*planSummary, error) {
	if (in.Document == "") == (in.Plan == "") {
		return nil, fault.At(fault.Invalid, "document", "write either a document or the id of a plan")
	}
	document := in.Document
	if in.Plan != "" {
		p, err := s.findPlan(s.store.Now(), in.Plan)
		if err != nil {
			return nil, err
		}
		document = p.Document
	}
	if err := (&planRecord{Document: document}).checkSize(); err != nil {
		return nil, err
	}
	doc, err := plan.Parse([]byte(document))
	if err != nil {
		return nil, err
	}
	found, err := s.previewPlan(ctx, doc)
	if err == nil {
		err = found.refuse(in.Force)
	}
	if err != nil {
		return nil, err
	}
	p, err := s.beginApplying(ctx, &in, doc, found)
	if err != nil {
		return nil, err
	}
	if !in.Wait {
		return s.summaryOf(&p), nil
	}
	return s.awaitApplied(ctx, p.ID)
}

// awaitApplied waits for the end of a plan; one that fails is an error.
func (s *Service) awaitApplied(ctx context.Context, id string) (*planSummary, error) {
	if _, err := s.awaitPlan(ctx, id, nil); err != nil {
		return nil, fault.Wrap(fault.Timeout, err, "plan %s goes on; switch:plan-show %s shows how far it is", id, id)
	}
	out, err := s.getPlan(ctx, planIn{Plan: id})
	if err != nil {
		return nil, err
	}
	if out.State == planApplied {
		return &out.planSummary, nil
	}
	l := fault.List{fault.New(fault.Downstream, "plan %s is %s", id, out.State)}
	for _, e := range out.Entries {
		if e.State == "failed" {
			l = append(l, fault.New(fault.Downstream, "switch %s: %s", e.Switch, e.Detail))
		}
	}
	return nil, l.Err()
}

// beginApplying begins a plan that was checked.
func (s *Service) beginApplying(
	ctx context.Context,
	in *applyIn,
	doc *plan.Plan,
	found *preview,
) (p planRecord, err error) {
	var nodes []uint64
	changes := 0
	for _, sw := range found.switches {
		nodes = append(nodes, sw.sw.NodeId)
		changes += len(sw.changes)
	}
	if in.Plan == "" {
		return s.beginPlan(ctx, planRecord{
			Name:     doc.Name,
			Document: in.Document,
			Nodes:    nodes,
			Parallel: cmp.Or(in.Parallel, defaultParallel),
			GoOn:     in.OnFault == onFaultContinue,
		}, changes)
	}
	if err := s.makeRoom(ctx, in.Plan, changes); err != nil {
		return p, err
	}
	again := func(p *planRecord) {
		p.Nodes, p.Force = nodes, false
		p.Parallel = cmp.Or(in.Parallel, p.Parallel)
		if in.OnFault != "" {
			p.GoOn = in.OnFault == onFaultContinue
		}
	}
	return s.movePlan(
		ctx,
		in.Plan,
		planApplying,
		again,
		planFailed,
		planStopped,
		planUndone,
		planApplied,
		planUndoFailed,
	)
}

type planIn struct {
	Plan  string `json:"plan"`
	Force bool   `json:"force,omitempty"`
}

func (s *Service) stopPlan(ctx context.Context, in planIn) (*planSummary, error) {
	p, err := s.movePlan(ctx, in.Plan, planStopped, func(*planRecord) {}, planApplying, planUndoing)
	if err != nil {
		return nil, err
	}
	return s.summaryOf(&p), nil
}

// undoPlan begins to undo a plan, also at switches that it was applied to before and that its names mean no more. One that
// is undone may have left what was changed since; force overwrites that.
func (s *Service) undoPlan(ctx context.Context, in planIn) (*planSummary, error) {
	from := []planState{planApplied, planFailed, planStopped, planUndoFailed}
	if in.Force {
		from = append(from, planUndone)
	}
	p, err := s.movePlan(ctx, in.Plan, planUndoing, func(p *planRecord) {
		p.Force = in.Force
		for _, r := range s.writer.Done(p.ID) {
			holds := r.Operation.Undo == "" && r.UndoneBy == ""
			if holds && !slices.Contains(p.Nodes, r.Node) {
				p.Nodes = append(p.Nodes, r.Node)
			}
		}
	}, from...)
	if err != nil {
		return nil, err
	}
	return s.summaryOf(&p), nil
}

type plansOut struct {
	Entries []*planSummary `json:"entry"`
}

func (s *Service) getPlans(context.Context, operations.None) (*plansOut, error) {
	out := &plansOut{Entries: []*planSummary{}}
	for _, p := range s.listPlans() {
		out.Entries = append(out.Entries, s.summaryOf(&p))
	}
	return out, nil
}

// stepLine is what came of a plan at a switch.
type stepLine struct {
	Switch  string `json:"switch"`
	Node    string `json:"node-id"`
	State   string `json:"state"`
	Changes int    `json:"changes"`
	Detail  string `json:"detail,omitempty"`
}

type planOut struct {
	planSummary
	Document string     `json:"document"`
	Entries  []stepLine `json:"entry"`
}

func (s *Service) getPlan(_ context.Context, in planIn) (*planOut, error) {
	p, err := s.findPlan(s.store.Now(), in.Plan)
	if err != nil {
		return nil, err
	}
	out := &planOut{
		planSummary: *s.summaryOf(&p),
		Document:    p.Document,
		Entries:     []stepLine{},
	}
	steps := s.stepsOf(s.store.Now(), &p)
	for _, node := range p.Nodes {
		step, ended := steps[node]
		line := stepLine{
			Switch:  s.planSwitchName(node),
			Node:    strconv.FormatUint(node, 10),
			State:   "waiting",
			Changes: step.Changes,
			Detail:  step.Text,
		}
		switch {
		case step.Failed:
			line.State = "failed"
		case ended:
			line.State = "done"
		}
		out.Entries = append(out.Entries, line)
	}
	return out, nil
}

func (s *Service) getDrift(ctx context.Context, in planIn) (*differencesOut, error) {
	p, err := s.findPlan(s.store.Now(), in.Plan)
	if err != nil {
		return nil, err
	}
	found, err := s.differencesOf(ctx, &p)
	if err != nil {
		return nil, err
	}
	return found.output(), nil
}
