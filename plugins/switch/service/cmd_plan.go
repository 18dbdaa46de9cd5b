package service

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// maxPlanFile is the largest file of a plan that is read, in octets.
const maxPlanFile = 2 << 20

func (s *Service) planCommands() []commands.Command {
	return []commands.Command{
		s.cmdPlan(),
		{
			Name:    "switch:plans",
			Summary: "Show the plans that were applied",
			Safe:    true,
			Run: func(ctx context.Context, in *commands.Invocation) error {
				out, err := s.getPlans(ctx, operations.None{})
				if err != nil {
					return err
				}
				return in.Emit(plansTable(out), nil)
			},
		},
		s.cmdPlanShow(),
		s.cmdPlanMove("switch:plan-apply", "Apply a plan again that failed, was stopped or undone", s.applyAgain),
		s.cmdPlanMove("switch:plan-undo", "Take back all that a plan has changed", s.undoPlan),
		s.cmdPlanMove("switch:plan-stop", "Stop applying or undoing a plan; what is written stays", s.stopPlan),
	}
}

func (s *Service) cmdPlan() commands.Command {
	return commands.Command{
		Name:    "switch:plan",
		Summary: "Show what a plan for many switches would change, or apply it",
		Help: "The file says VLANs with their names, and ports with their VLANs, descriptions and states: YAML, JSON or CSV\n" +
			"(docs: Switch operations, Plans). Without --apply only the differences are shown. A plan that is applied goes\n" +
			"on after a restart; Ctrl-C ends only the waiting.\n\n" +
			"Example: switch:plan import/office.yaml\n         switch:plan import/office.yaml --apply",
		Arguments: []commands.Argument{{
			Name:     "file",
			Help:     "the plan; - is the standard input",
			Type:     commands.File,
			Required: true,
			Complete: commands.Files(s.base, ".yaml"),
		}},
		Options: []commands.Option{
			{Name: "apply", Type: commands.Bool, Help: "apply it, and wait for the end"},
			{Name: "parallel", Type: commands.Int, Default: "16", Help: "switches that are changed at a time"},
			{Name: "continue", Type: commands.Bool, Help: "go on with other switches after a fault"},
			{Name: "force", Type: commands.Bool, Help: "in spite of risks and gaps"},
		},
		Run: s.runPlanCommand,
	}
}

func (s *Service) runPlanCommand(ctx context.Context, in *commands.Invocation) error {
	text, err := in.ReadFile(s.base, in.Arg("file"), maxPlanFile)
	if err != nil {
		return err
	}
	document := documentIn{string(text)}
	if !in.Flag("apply") {
		out, err := s.previewDocument(ctx, document)
		if err != nil {
			return err
		}
		return in.Emit(out, out.formatTable)
	}
	parallel, err := strconv.Atoi(in.Option("parallel"))
	if err != nil || parallel < 1 || parallel > 256 {
		return fault.At(fault.Invalid, "parallel", "%.20q is not a number from 1 to 256", in.Option("parallel"))
	}
	asked := applyIn{documentIn: document, Parallel: parallel, Force: in.Flag("force")}
	if in.Flag("continue") {
		asked.OnFault = "continue"
	}
	p, err := s.applyPlan(ctx, asked)
	if err != nil {
		return err
	}
	return s.showEnd(ctx, in, p.Plan)
}

// showEnd waits until nothing is done for a plan any more, and shows what came of it.
func (s *Service) showEnd(ctx context.Context, in *commands.Invocation, id string) error {
	progress := func(done, total int) {
		if in.Terminal != nil {
			in.Progress(commands.Progress{
				Text:  "plan " + id,
				Done:  int64(done),
				Total: int64(total),
			})
		}
	}
	_, err := s.awaitPlan(ctx, id, progress)
	if in.Terminal != nil {
		in.Progress(commands.Progress{})
	}
	if err != nil {
		return fault.Wrap(fault.Timeout, err, "plan %s goes on; switch:plan-show %s shows how far it is", id, id)
	}
	out, err := s.getPlan(ctx, planIn{Plan: id})
	if err != nil {
		return err
	}
	if err := in.Emit(out, out.formatTable); err != nil {
		return err
	}
	if out.Failed > 0 {
		return fault.New(fault.Downstream, "plan %s failed at %d switches", id, out.Failed)
	}
	return nil
}

func (s *Service) applyAgain(ctx context.Context, in planIn) (*planSummary, error) {
	return s.applyPlan(ctx, applyIn{Plan: in.Plan, Force: in.Force})
}

func (s *Service) planArgument() []commands.Argument {
	return []commands.Argument{{
		Name:     "plan",
		Help:     "its id",
		Required: true,
		Complete: s.completePlan,
	}}
}

func (s *Service) completePlan(_ context.Context, prefix string) (out []string) {
	for _, p := range s.listPlans() {
		if strings.HasPrefix(p.ID, prefix) {
			out = append(out, p.ID)
		}
	}
	return out
}

func (s *Service) cmdPlanShow() commands.Command {
	return commands.Command{
		Name:      "switch:plan-show",
		Summary:   "Show a plan, and what came of it at each switch",
		Help:      "With --drift the switches are read and compared with the plan.\n\nExample: switch:plan-show 20261128T080000.000-ABCD --drift",
		Safe:      true,
		Arguments: s.planArgument(),
		Options: []commands.Option{{
			Name: "drift",
			Type: commands.Bool,
			Help: "how the switches differ from it now",
		}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			which := planIn{Plan: in.Arg("plan")}
			if in.Flag("drift") {
				out, err := s.getDrift(ctx, which)
				if err != nil {
					return err
				}
				return in.Emit(out, out.formatTable)
			}
			out, err := s.getPlan(ctx, which)
			if err != nil {
				return err
			}
			return in.Emit(out, out.formatTable)
		},
	}
}

// cmdPlanMove makes the command of an RPC that begins or ends something of a plan.
func (s *Service) cmdPlanMove(name, summary string, move func(context.Context, planIn) (*planSummary, error)) commands.Command {
	return commands.Command{
		Name:      name,
		Summary:   summary,
		Arguments: s.planArgument(),
		Options: []commands.Option{{
			Name: "force",
			Type: commands.Bool,
			Help: "in spite of risks and gaps; of an undo: also what was changed since",
		}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			p, err := move(ctx, planIn{in.Arg("plan"), in.Flag("force")})
			if err != nil {
				return err
			}
			return s.showEnd(ctx, in, p.Plan)
		},
	}
}

func (o *differencesOut) formatTable() string {
	t := commands.Table{
		Empty: fmt.Sprintf("All %d switches are as planned.", o.Switches),
		Columns: []commands.Column{
			{Title: "Switch", Max: 32},
			{Title: "Change", Max: 48},
			{Title: "Detail", Max: 100},
		},
	}
	for _, d := range o.Differences {
		for _, c := range d.Changes {
			t.Add(d.Switch, c.Change, c.Detail)
		}
		for _, text := range d.Problems {
			t.Add(d.Switch, "not possible", text)
		}
		for _, text := range d.Risks {
			t.Add(d.Switch, "only with force", text)
		}
	}
	for _, text := range o.Gaps {
		t.Add("", "only with force", text)
	}
	return t.String()
}

func plansTable(o *plansOut) commands.Table {
	t := commands.Table{
		Empty: "No plan was applied.",
		Columns: []commands.Column{
			{Title: "Plan", Key: "plan"},
			{Title: "Name", Key: "name", Max: 32},
			{Title: "By", Key: "by"},
			{Title: "State", Key: "state"},
			{Title: "Switches", Key: "switches", Right: true},
			{Title: "Ended", Key: "ended-switches", Right: true},
			{Title: "Failed", Key: "failed-switches", Right: true},
		},
	}
	for _, p := range o.Entries {
		t.Add(p.Plan, p.Name, p.By, string(p.State), p.Switches, p.Done, p.Failed)
	}
	return t
}

func (o *planOut) formatTable() string {
	t := commands.Table{
		Columns: []commands.Column{
			{Title: "Switch", Max: 32},
			{Title: "State"},
			{Title: "Changes", Right: true},
			{Title: "Detail", Max: 100},
		},
	}
	for _, e := range o.Entries {
		t.Add(e.Switch, e.State, e.Changes, e.Detail)
	}
	return fmt.Sprintf("Plan %s %s is %s: %d of %d switches ended, %d failed.\n", o.Plan, o.Name, o.State, o.Done,
		o.Switches, o.Failed) + t.String()
}
