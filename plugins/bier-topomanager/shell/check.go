package shell

import (
	"context"
	"fmt"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/commands"
)

func (s *Shell) check() commands.Command {
	return commands.Command{Name: "bier:check", Summary: "Check all that is configured", Safe: true,
		Help:    "Runs every check of nodes, sub-domains and deployed channels over what is stored, and shows what is\nwrong (error) or does not work with every router (warning).",
		Options: []commands.Option{s.topologyOption()}, Run: s.runCheck}
}

func (s *Shell) runCheck(_ context.Context, in *commands.Invocation) error {
	views, err := s.views(in)
	if err != nil {
		return err
	}
	t := &commands.Table{Empty: "Nothing is wrong.", Columns: []commands.Column{{Title: "Topology", Key: "topology-id"}, {Title: "Severity", Key: "severity"},
		{Title: "Where", Key: "where"}, {Title: "What", Key: "text"}}}
	now, errors := s.Data.Store.Now(), 0
	for key, err := range s.Data.Store.Broken() {
		t.Add("", "error", key, err.Error())
		errors++
	}
	for i := range views {
		for _, p := range append(model.Problems(&views[i]), checkChannels(&views[i], s.Data.ChannelsOf(now, views[i].ID))...) {
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

// checkChannels plans every deployed channel again.
func checkChannels(t *bier.Topology, list []bier.Channel) (out []model.Problem) {
	for i := range list {
		c := &list[i]
		if !c.Deployed() {
			continue
		}
		where := "channel " + c.Name
		plan, err := bier.PlanChannel(t, c)
		if err != nil {
			out = append(out, model.Problem{Where: where, Text: err.Error()})
			continue
		}
		for _, w := range plan.Egress {
			if w.Err != nil {
				out = append(out, model.Problem{Where: where, Text: w.Err.Error()})
			}
		}
		if other, err := bier.SameFlow(c, list); err == nil && other != "" {
			out = append(out, model.Problem{Where: where, Text: "channel " + other + " has the same flow at the same ingress"})
		}
	}
	return out
}
