package service

import (
	"context"
	"time"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// cmdChanges shows the operations that were interrupted, and those that are not ended.
func (s *Service) cmdChanges() commands.Command {
	return commands.Command{
		Name:    "switch:changes",
		Summary: "Show changes that were interrupted, and what became of them",
		Safe:    true,
		Help: "A change of a switch that is cut short, by a crash perhaps, is found again in the datastore: it turns out to\n" +
			"be whole, or what was done of it is taken back (undone), or it is left because somebody else has changed\n" +
			"the same since or the switch refuses. One that waits is repaired as soon as the switch answers, at the\n" +
			"latest before its next change. Changes that are being made now are shown as queued or sent.",
		Run: func(_ context.Context, in *commands.Invocation) error {
			return in.Emit(s.changeTable(), nil)
		},
	}
}

func (s *Service) changeTable() commands.Table {
	t := commands.Table{
		Empty: "No change was interrupted.",
		Columns: []commands.Column{{
			Title: "Operation",
			Key:   "operation",
		}, {Title: "Begun", Key: "begun"},
			{
				Title: "By",
				Key:   "by",
			}, {
				Title: "Switch",
				Key:   "switch",
			}, {
				Title: "Change",
				Key:   "change",
			}, {
				Title: "Outcome",
				Key:   "outcome",
			}, {Title: "Detail", Key: "detail", Max: 80}},
	}
	for _, r := range s.writer.List() {
		outcome := string(r.Outcome)
		switch {
		case r.State == writes.Unknown:
			outcome = "waits"
		case outcome == "":
			outcome = string(r.State)
		}
		t.Add(r.ID, r.Begun.Format(time.RFC3339), r.By, r.Switch, r.What(), outcome, r.Text)
	}
	return t
}

func (s *Service) cmdSDN() commands.Command {
	return commands.Command{
		Name:    "switch:sdn",
		Summary: "Show or apply the settings that SDN needs on switches",
		Help: "Without options shows what was done last. --dry-run shows what would be done, --apply does it: at one\n" +
			"switch, or at all of the list. What is to be switched off is set under sdn in etc/switch.yaml.\n\n" +
			"Example: switch:sdn --dry-run 90:94:e4:23:13:e0",
		Arguments: s.switchArg(false),
		Options: []commands.Option{{
			Name: "apply",
			Help: "do it",
			Type: commands.Bool,
		},
			{
				Name: "dry-run",
				Help: "only show what would be done",
				Type: commands.Bool,
			}},
		Run: s.runSDN,
	}
}

func (s *Service) runSDN(ctx context.Context, in *commands.Invocation) error {
	reports := s.sdn.Reports()
	if in.Flag("apply") || in.Flag("dry-run") {
		if !s.set.SDN.Any() {
			return fault.New(
				fault.Invalid,
				"nothing is configured to be disabled: see sdn in etc/switch.yaml",
			)
		}
		switches := s.inventory.All()
		if arg := in.Arg("switch"); arg != "" {
			sw, err := s.findNamedSwitch(arg)
			if err != nil {
				return err
			}
			switches = []*switchdriver.Switch{sw}
		}
		reports = nil
		for i, sw := range switches {
			if in.Terminal != nil {
				in.Progress(commands.Progress{
					Text:  "settings for SDN",
					Done:  int64(i),
					Total: int64(len(switches)),
				})
			}
			reports = append(reports, s.sdn.Apply(ctx, sw, !in.Flag("apply")))
		}
		if in.Terminal != nil {
			in.Progress(commands.Progress{})
		}
	}
	return in.Emit(sdnTable(reports), nil)
}

func sdnTable(reports []driver.SDNReport) commands.Table {
	t := commands.Table{
		Empty: "No switch has been given the settings.",
		Columns: []commands.Column{{
			Title: "Switch",
			Key:   "switch",
		},
			{
				Title: "At",
				Key:   "at",
			}, {
				Title: "Dry run",
				Key:   "dry-run",
			}, {Title: "Report", Key: "report"}},
	}
	for _, r := range reports {
		lines := r.Lines
		if r.Failure != "" {
			lines = append(lines, "failed: "+r.Failure)
		}
		t.Add(r.Switch, r.At.Format(time.RFC3339), r.Dry, commands.List("; ", lines))
	}
	return t
}
