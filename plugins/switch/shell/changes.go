package shell

import (
	"context"
	"time"

	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/commands"
)

// changes shows the operations that were interrupted, and those that are not ended.
func (s *Shell) changes() commands.Command {
	return commands.Command{
		Name: "switch:changes", Summary: "Show changes that were interrupted, and what became of them", Safe: true,
		Help: "A change of a switch that is cut short, by a crash perhaps, is found again in the datastore: it turns out to\n" +
			"be whole, or what was done of it is taken back (undone), or it is left because somebody else has changed\n" +
			"the same since or the switch refuses. One that waits is repaired as soon as the switch answers, at the\n" +
			"latest before its next change. Changes that are being made now are shown as queued or sent.",
		Run: func(_ context.Context, in *commands.Invocation) error {
			t := commands.Table{Empty: "No change was interrupted.", Columns: []commands.Column{{Title: "Operation", Key: "operation"}, {Title: "Begun", Key: "begun"},
				{Title: "Switch", Key: "switch"}, {Title: "Change", Key: "change"}, {Title: "Outcome", Key: "outcome"}, {Title: "Detail", Key: "detail", Max: 80}}}
			for _, r := range s.Writes.List() {
				outcome := string(r.Outcome)
				switch {
				case r.State == writes.Unknown:
					outcome = "waits"
				case outcome == "":
					outcome = string(r.State)
				}
				t.Add(r.ID, r.Begun.Format(time.RFC3339), r.Switch, r.What(), outcome, r.Text)
			}
			return in.Emit(t, nil)
		},
	}
}
