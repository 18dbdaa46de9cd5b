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

// The options of commands of plans.
const (
	optionParallel = "parallel"
	optionContinue = "continue"
	optionForce    = "force"
)

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
		s.cmdPlanApply(),
		s.cmdPlanUndo(),
		s.cmdPlanStop(),
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
			{Name: optionParallel, Type: commands.Int, Default: "16", Help: "switches that are changed at a time"},
			{Name: optionContinue, Type: commands.Bool, Help: "go on with other switches after a fault"},
			{Name: optionForce, Type: commands.Bool, Help: "in spite of risks and gaps"},
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
	return s.applyAndShow(ctx, in, applyIn{documentIn: document})
}

// applyAndShow applies a plan as the options say.
func (s *Service) applyAndShow(ctx context.Context, in *commands.Invocation, asked applyIn) (err error) {
	if text := in.Option(optionParallel); text != "" {
		asked.Parallel, err = strconv.Atoi(text)
		if err != nil || asked.Parallel < 1 || asked.Parallel > 256 {
			return fault.At(fault.Invalid, optionParallel, "%.20q is not a number from 1 to 256", text)
		}
	}
	asked.Force, asked.OnFault = in.Flag(optionForce), onFaultStop
	if in.Flag(optionContinue) {
		asked.OnFault = onFaultContinue
	}
	p, err := s.applyPlan(ctx, asked)
	if err != nil {
		return err
	}
	return s.showEnd(ctx, in, p.Plan, planApplied)
}

// showEnd waits until nothing is done for a plan any more, and shows what came of it; another state than the one that was
// asked for is an error.
func (s *Service) showEnd(ctx context.Context, in *commands.Invocation, id string, want planState) error {
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
	if out.State != want {
		return fault.New(fault.Downstream, "plan %s is %s, not %s; it failed at %d switches", id, out.State, want, out.Failed)
	}
	return nil
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

func (s *Service) cmdPlanApply() commands.Command {
	return commands.Command{
		Name:      "switch:plan-apply",
		Summary:   "Apply a plan again that failed, was stopped or undone",
		Help:      "At the switches that its names mean now.\n\nExample: switch:plan-apply 20261128T080000.000-ABCD --continue",
		Arguments: s.planArgument(),
		Options: []commands.Option{
			{Name: optionParallel, Type: commands.Int, Help: "switches that are changed at a time; as before if it is not given"},
			{Name: optionContinue, Type: commands.Bool, Help: "go on with other switches after a fault"},
			{Name: optionForce, Type: commands.Bool, Help: "in spite of risks and gaps"},
		},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return s.applyAndShow(ctx, in, applyIn{Plan: in.Arg("plan")})
		},
	}
}

func (s *Service) cmdPlanUndo() commands.Command {
	return commands.Command{
		Name:    "switch:plan-undo",
		Summary: "Take back all that a plan has changed",
		Help: "What was changed since is left and named; with --force, also of a plan that is undone, it is overwritten.\n\n" +
			"Example: switch:plan-undo 20261128T080000.000-ABCD",
		Arguments: s.planArgument(),
		Options: []commands.Option{{
			Name: optionForce,
			Type: commands.Bool,
			Help: "also what was changed since",
		}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			p, err := s.undoPlan(ctx, planIn{in.Arg("plan"), in.Flag(optionForce)})
			if err != nil {
				return err
			}
			return s.showEnd(ctx, in, p.Plan, planUndone)
		},
	}
}

func (s *Service) cmdPlanStop() commands.Command {
	return commands.Command{
		Name:      "switch:plan-stop",
		Summary:   "Stop applying or undoing a plan; what is written stays",
		Help:      "The write that is under way at a switch is ended.\n\nExample: switch:plan-stop 20261128T080000.000-ABCD",
		Arguments: s.planArgument(),
		Run: func(ctx context.Context, in *commands.Invocation) error {
			p, err := s.stopPlan(ctx, planIn{Plan: in.Arg("plan")})
			if err != nil {
				return err
			}
			return s.showEnd(ctx, in, p.Plan, planStopped)
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
