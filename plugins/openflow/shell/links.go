package shell

import (
	"context"
	"time"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/sdk/commands"
)

func (s *Shell) links() commands.Command {
	return commands.Command{Name: "openflow:links", Summary: "Show the links between OpenFlow switches", Safe: true,
		Help: "Shows each direction of each link: a cable is two links. \"Both\" is false while frames pass in one direction\n" +
			"only. With a switch, only the links that begin there.\n\nExample: openflow:links openflow:1",
		Arguments: s.nodeArgument(), Run: s.runLinks}
}

func (s *Shell) runLinks(ctx context.Context, in *commands.Invocation) error {
	t := commands.Table{Empty: "No link is known.", Columns: []commands.Column{
		{Title: "From", Key: "source-tp"}, {Title: "To", Key: "dest-tp"}, {Title: "Both", Key: "both"},
		{Title: "Since", Key: "since"}, {Title: "Confirmed", Key: "confirmed"},
	}}
	var failed error
	err := s.Ask(ctx, func(c *discovery.Core) {
		var want func(uint64) bool
		if want, failed = wanted(c, in); failed != nil {
			return
		}
		for _, l := range c.Links() {
			if want(l.From.Datapath) {
				t.Add(l.From.String(), l.To.String(), l.Both, l.Since.UTC().Format(time.RFC3339), l.Seen.UTC().Format(time.RFC3339))
			}
		}
	})
	if err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return in.Emit(t, nil)
}
