package shell

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ctl.internal/plugins/switch/survey"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func (s *Shell) topoDiscover(name string, scope survey.Scope, summary, help string) commands.Command {
	return commands.Command{Name: name, Summary: summary, Help: help,
		Run: func(ctx context.Context, in *commands.Invocation) error { return s.runDiscover(ctx, in, scope) }}
}

func (s *Shell) runDiscover(ctx context.Context, in *commands.Invocation, scope survey.Scope) error {
	if len(s.Inventory.All()) == 0 {
		return fault.New(fault.NotFound, "the switch list is empty; load one with switch:ReadDB")
	}
	progress := func(p commands.Progress) {
		if in.Terminal != nil {
			in.Progress(p)
		}
	}
	defer progress(commands.Progress{})
	for {
		sum, err := s.Discover(ctx, scope, func(done, total int) {
			progress(commands.Progress{Text: "asking switches", Done: int64(done), Total: int64(total)})
		})
		if fault.KindOf(err) != fault.InUse || err == nil {
			return finish(in, sum, err)
		}
		// One that began by itself, after switch:ReadDB perhaps, is not in the user's way.
		progress(commands.Progress{Text: "waiting for the discovery under way"})
		if err := s.Survey.Idle(ctx); err != nil {
			return err
		}
		select { // the discovery of another node is asked for again
		case <-time.After(again):
		case <-ctx.Done():
			return err
		}
	}
}

// again is the time between two tries to begin a discovery.
const again = 100 * time.Millisecond

// finish shows the result.
func finish(in *commands.Invocation, sum survey.Summary, err error) error {
	if err != nil {
		return err
	}
	return in.Emit(sum, func() string { return summaryText(sum) })
}

// maxFailures is how many silent switches the text shows; JSON has all.
const maxFailures = 20

func summaryText(s survey.Summary) string {
	var b strings.Builder
	for i, f := range s.Failures {
		if i == maxFailures {
			fmt.Fprintf(&b, "… and %d more\n", len(s.Failures)-i)
			break
		}
		fmt.Fprintf(&b, "%s\n", f.Error)
	}
	fmt.Fprintf(&b, "%s\n", s)
	return b.String()
}
