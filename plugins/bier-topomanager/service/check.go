package service

import (
	"context"
	"fmt"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/state"
)

func (s *Service) showProblems(_ context.Context, in *commands.Invocation) error {
	views, err := s.views(in)
	if err != nil {
		return err
	}
	t := &commands.Table{Empty: "Nothing is wrong.", Columns: []commands.Column{{Title: "Topology", Key: "topology-id"}, {Title: "Severity", Key: "severity"},
		{Title: "Where", Key: "where"}, {Title: "What", Key: "text"}}}
	now, errors := s.data.Store.Now(), 0
	for key, err := range s.data.Store.Broken() {
		t.Add("", "error", key, err.Error())
		errors++
	}
	for _, x := range views {
		for _, p := range append(model.Problems(x), s.checkChannels(now, x, s.data.ChannelsOf(now, x.ID))...) {
			severity := "warning"
			if !p.Warning {
				severity = "error"
				errors++
			}
			t.Add(x.ID, severity, p.Where, p.Text)
		}
	}
	for _, a := range s.data.Routers.RouterAlarms(now) {
		if a.Severity == "warning" {
			t.Add("", a.Severity, a.Resource, a.Type+": "+a.Text)
			continue
		}
		t.Add("", "error", a.Resource, a.Type+": "+a.Text)
		errors++
	}
	if err := in.Emit(t, nil); err != nil {
		return err
	}
	if errors > 0 {
		return fmt.Errorf("%d errors", errors)
	}
	return nil
}

// checkChannels says of every deployed channel what is wrong with it: what bier:channel-show
// says, and flows that are in each other's way.
func (s *Service) checkChannels(now state.Reader, t *bier.Topology, list []bier.Channel) (out []model.Problem) {
	for i := range list {
		c := &list[i]
		if !c.Deployed() {
			continue
		}
		where := "channel " + c.Name
		x := s.data.Routers.Channel(now, t, c, s.data.Channels.Revision(now, t.ID, c.Name))
		for _, r := range x.Carriers {
			if r.State != bier.Applied {
				out = append(out, model.Problem{Warning: r.State == bier.Pending, Where: where, Text: fmt.Sprintf("%s %s is %s: %s", r.Role, r.Node, r.State, r.Reason)})
			}
		}
		if x.Plan != nil {
			out = append(out, s.checkNeeds(now, where, x.Plan)...)
		}
		same, overlap, err := bier.Shares(c, slices.Values(list))
		if err == nil && same != "" {
			out = append(out, model.Problem{Where: where, Text: "channel " + same + " has the same flow at the same ingress"})
		}
		for _, other := range overlap {
			out = append(out, model.Problem{Warning: true, Where: where, Text: "its flow overlaps with that of channel " + other + " at the same ingress; which of them carries a packet is the router's choice"})
		}
	}
	return out
}

// checkNeeds warns of tunnels, which a router may or may not make. One that is known not to
// is an error of its egress node.
func (s *Service) checkNeeds(now state.Reader, where string, plan *bier.Plan) (out []model.Problem) {
	var said []bier.Need
	for _, w := range plan.Egress {
		for _, n := range w.Needs {
			if n.Ability != bier.Tunnel || slices.Contains(said, n) || s.data.Routers.Lacks(now, n.Node, n.Ability) {
				continue
			}
			said = append(said, n)
			out = append(out, model.Problem{Warning: true, Where: where, Text: fmt.Sprintf(
				"router %s needs a tunnel (RFC 8279 section 6.9) %s; routers may drop, re-encapsulate or tunnel, and which is not known of this one", n.Node, n.For)})
		}
	}
	return out
}
