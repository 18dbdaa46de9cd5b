package shell

import (
	"context"
	"fmt"

	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/commands"
)

func (s *Shell) check() commands.Command {
	return commands.Command{Name: "bier:check", Summary: "Check all that is configured", Safe: true,
		Help:    "Runs every check of nodes, sub-domains and deployed channels over what is stored, and shows what is\nwrong (error) or does not work with every router (warning).",
		Options: []commands.Option{s.topologyOption()}, Run: s.runCheck}
}

func (s *Shell) runCheck(ctx context.Context, in *commands.Invocation) error {
	views, err := s.views(in)
	if err != nil {
		return err
	}
	t := &commands.Table{Empty: "Nothing is wrong.", Columns: []commands.Column{{Title: "Topology", Key: "topology-id"}, {Title: "Severity", Key: "severity"},
		{Title: "Where", Key: "where"}, {Title: "What", Key: "text"}}}
	channels, err := s.Uses(ctx)
	if err != nil {
		return err
	}
	errors := 0
	for i := range views {
		for _, p := range append(views[i].Check(), checkChannels(&views[i], channels)...) {
			severity := "warning"
			if !p.Warning {
				severity = "error"
				errors++
			}
			t.Add(views[i].ID, severity, p.Where, p.Text)
		}
	}
	if err := in.Emit(t, nil); err != nil {
		return err
	}
	if errors > 0 {
		return fmt.Errorf("%d errors", errors)
	}
	return nil
}

// checkChannels plans every deployed channel anew.
func checkChannels(t *bier.Topology, channels *bier.Channels) (out []bier.Problem) {
	if channels == nil {
		return nil
	}
	list := channels.ByTopology[t.ID]
	for i := range list {
		c := &list[i]
		if !c.Deployed() {
			continue
		}
		if _, err := bier.PlanChannel(t, c); err != nil {
			out = append(out, bier.Problem{Where: "channel " + c.Name, Text: err.Error()})
		}
		if other, err := bier.SameFlow(c, list); err == nil && other != "" {
			out = append(out, bier.Problem{Where: "channel " + c.Name, Text: "channel " + other + " has the same flow at the same ingress"})
		}
	}
	return out
}
