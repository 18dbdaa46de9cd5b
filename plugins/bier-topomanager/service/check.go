package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/state"
)

func (s *Service) showProblems(_ context.Context, in *commands.Invocation) error {
	views, err := s.selectTopologies(in)
	if err != nil {
		return err
	}
	t := &commands.Table{
		Empty: "Nothing is wrong.",
		Columns: []commands.Column{{
			Title: "Topology",
			Key:   "topology-id",
		}, {Title: "Severity", Key: "severity"},
			{
				Title: "Where",
				Key:   "where",
			}, {Title: "What", Key: "text"}},
	}
	now, errors := s.data.Store.Now(), 0
	var found []model.Finding
	for key, err := range s.data.Store.Broken() {
		found = append(found, model.Finding{
			Severity: "error",
			Place:    key,
			Text:     err.Error(),
		})
	}
	for _, x := range views {
		for _, p := range model.Problems(x) {
			found = append(found, toFinding(x.ID, p))
		}
		found = append(found, s.checkChannels(now, x, s.data.ChannelsOf(now, x.ID))...)
	}
	found = append(found, s.alarmFindings(now)...)
	for _, c := range model.Causes(found) {
		t.Add(c.Topology, c.Severity, c.Where, c.Text)
		if c.Severity == severities[false] {
			errors++
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

// severities are the words for a problem that is an error, and for one that is a warning.
var severities = map[bool]string{
	false: "error",
	true:  "warning",
}

func toFinding(topology string, p model.Problem) model.Finding {
	return model.Finding{
		Topology: topology,
		Severity: severities[p.Warning],
		Place:    p.Where,
		Text:     p.Text,
	}
}

// alarmFindings are those of routers.
func (s *Service) alarmFindings(now state.Reader) (out []model.Finding) {
	for _, a := range s.data.Routers.RouterAlarms(now) {
		out = append(
			out,
			model.Finding{
				Severity: severities[a.Severity == "warning"],
				Kind:     "router",
				Place:    a.Node(),
				Text:     a.Type + ": " + a.Text,
			},
		)
	}
	return out
}

// checkChannels says of every deployed channel what is wrong with it: what bier:channel-show
// says, and flows that are in each other's way.
func (s *Service) checkChannels(
	now state.Reader,
	t *bier.Topology,
	list []bier.Channel,
) (out []model.Finding) {
	say := func(c *bier.Channel, warning bool, text string) {
		out = append(
			out,
			model.Finding{
				Topology: t.ID,
				Severity: severities[warning],
				Place:    "channel " + c.Name,
				Text:     text,
			},
		)
	}
	for i := range list {
		c := &list[i]
		if !c.Deployed() {
			continue
		}
		x := s.data.Routers.Channel(now, t, c, s.data.Channels.Revision(now, t.ID, c.Name))
		for _, r := range x.Carriers {
			if len(r.ByHand) > 0 {
				text := "no port of it has receivers of the channel; to be entered at the router: " + strings.Join(r.ByHand, "; ")
				out = append(out, model.Finding{
					Topology: t.ID,
					Severity: severities[true],
					Kind:     "router",
					Place:    r.Node,
					Text:     text,
					Channel:  c.Name,
				})
			}
			if r.State == bier.Applied ||
				r.Role == bier.RoleTransit { // what stops packets there is the reason of an egress node
				continue
			}
			out = append(out, model.Finding{
				Topology: t.ID,
				Severity: severities[r.State == bier.Pending || r.State == bier.AtRisk],
				Kind:     "router",
				Place:    r.Node,
				Text:     r.State + ": " + r.Reason,
				Channel:  c.Name,
			})
		}
		same, overlap, err := bier.Shares(c, slices.Values(list))
		if err == nil && same != "" {
			say(c, false, "channel "+same+" has the same flow at the same ingress")
		}
		for _, other := range overlap {
			say(
				c,
				true,
				"its flow overlaps with that of channel "+other+" at the same ingress; which of them carries a packet is the router's choice",
			)
		}
	}
	return out
}
