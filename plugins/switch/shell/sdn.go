package shell

import (
	"context"
	"time"

	"ctl.internal/plugins/switch/sdn"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

func (s *Shell) sdnSettings() commands.Command {
	return commands.Command{
		Name: "switch:sdn", Summary: "Show or apply the settings that SDN needs on switches",
		Help: "Without options shows what was done last. --dry-run tells what would be done, --apply does it: at one\n" +
			"switch, or at all of the list. What is to be switched off is set under sdn in etc/switch.yaml.\n\n" +
			"Example: switch:sdn --dry-run 90:94:e4:23:13:e0",
		Arguments: []commands.Argument{s.switchArgument(false)},
		Options: []commands.Option{{Name: "apply", Help: "do it", Type: commands.Bool},
			{Name: "dry-run", Help: "only tell what would be done", Type: commands.Bool}},
		Run: s.runSDN,
	}
}

func (s *Shell) runSDN(ctx context.Context, in *commands.Invocation) error {
	reports := s.SDN.Reports()
	if in.Flag("apply") || in.Flag("dry-run") {
		if !s.SDN.Settings().Any() {
			return fault.New(fault.Invalid, "nothing is to be switched off: see sdn in etc/switch.yaml")
		}
		switches := s.Inventory.All()
		if arg := in.Arg("switch"); arg != "" {
			sw, err := s.named(arg)
			if err != nil {
				return err
			}
			switches = []*switchdriver.Switch{sw}
		}
		reports = nil
		for i, sw := range switches {
			if in.Terminal != nil {
				in.Progress(commands.Progress{Text: "settings for SDN", Done: int64(i), Total: int64(len(switches))})
			}
			reports = append(reports, s.SDN.Apply(ctx, sw, !in.Flag("apply")))
		}
		if in.Terminal != nil {
			in.Progress(commands.Progress{})
		}
	}
	return in.Emit(sdnTable(reports), nil)
}

func sdnTable(reports []sdn.Report) commands.Table {
	t := commands.Table{Empty: "No switch has been given the settings.", Columns: []commands.Column{{Title: "Switch", Key: "switch"},
		{Title: "At", Key: "at"}, {Title: "Dry run", Key: "dry-run"}, {Title: "Report", Key: "report"}}}
	for _, r := range reports {
		lines := r.Lines
		if r.Failure != "" {
			lines = append(lines, "failed: "+r.Failure)
		}
		t.Add(r.Switch, r.At.Format(time.RFC3339), r.Dry, commands.List("; ", lines))
	}
	return t
}
