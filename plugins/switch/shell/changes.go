package shell

import (
	"context"
	"fmt"
	"time"

	"ctl.internal/sdk/commands"
)

// changes shows what the journal knows of changes that were not finished.
func (s *Shell) changes() commands.Command {
	return commands.Command{
		Name: "switch:changes", Summary: "Show changes that were interrupted, and what became of them", Safe: true,
		Help: "A change of a switch that is cut short, by a crash perhaps, is found again in the journal: it turns out to be\n" +
			"whole, or what was done of it is taken back (undone), or it is left because somebody else has changed the\n" +
			"same since or the switch refuses. One that waits is settled as soon as the switch answers, at the latest\n" +
			"before its next change.",
		Run: func(_ context.Context, in *commands.Invocation) error {
			t := commands.Table{Empty: "No change was interrupted.", Columns: []commands.Column{{Title: "Begun", Key: "begun"},
				{Title: "Switch", Key: "switch"}, {Title: "Change", Key: "change"}, {Title: "Outcome", Key: "outcome"}, {Title: "Detail", Key: "detail", Max: 80}}}
			for _, r := range s.Journal.Reports() {
				t.Add(r.Begun.Format(time.RFC3339), r.Switch, r.What, string(r.Outcome), r.Text)
			}
			for _, n := range s.Journal.Nodes() {
				for _, r := range s.Journal.Unsettled(n) {
					t.Add(r.Begun.Format(time.RFC3339), r.Switch, r.What, "waits", fmt.Sprintf("%d steps", len(r.Steps)))
				}
			}
			return in.Emit(t, nil)
		},
	}
}
