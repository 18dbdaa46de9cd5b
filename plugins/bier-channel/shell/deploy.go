package shell

import (
	"context"
	"strings"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/plugins/bier-channel/operations"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func (s *Shell) channelDeploy() commands.Command {
	return commands.Command{Name: "bier:channel-deploy", Summary: "Deploy a channel, or change its routers",
		Help: "Configures the ingress and egress routers; those not named any more lose the channel.\n\nExample: bier:channel-deploy tv 1 2 3",
		Arguments: []commands.Argument{s.channelArgument(), {Name: "ingress", Help: "node-id of the BFIR", Required: true, Complete: s.nodes},
			{Name: "egress", Help: "node-ids of the BFERs", Required: true, Repeated: true, Complete: s.nodes}},
		Options: []commands.Option{s.topologyOption(), {Name: "check", Type: commands.Bool, Help: "only show the ways and what to be warned of; nothing is changed"}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			topology, err := s.topology(in)
			if err != nil {
				return err
			}
			if topology == "" {
				return fault.New(fault.NotFound, "there is no channel %s; add-channel makes it", in.Arg("channel"))
			}
			d := channels.Deployment{Topology: topology, Name: in.Arg("channel"), Ingress: in.Arg("ingress")}
			for _, e := range in.Args["egress"] {
				d.Egress = append(d.Egress, bier.EgressNode{ID: e})
			}
			if in.Flag("check") {
				return s.try(in, d)
			}
			out, err := s.Deploy(ctx, d)
			if err != nil {
				return err
			}
			return finish(in, out)
		}}
}

func (s *Shell) channelRemove() commands.Command {
	return commands.Command{Name: "bier:channel-remove", Summary: "Remove a channel, from its routers too",
		Help:      "Removes the channel. Routers that cannot be reached now lose it when they return.",
		Arguments: []commands.Argument{s.channelArgument()}, Options: []commands.Option{s.topologyOption()},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			topology, err := s.topology(in)
			if err != nil {
				return err
			}
			out, err := s.Remove(ctx, operations.RemoveIn{Topology: topology, Name: in.Arg("channel")})
			if err != nil {
				return err
			}
			return finish(in, out)
		}}
}

// try shows what deploying would come to.
func (s *Shell) try(in *commands.Invocation, d channels.Deployment) error {
	plan, warnings, err := s.Try(d)
	if err != nil {
		return err
	}
	t := &commands.Table{Columns: []commands.Column{{Title: "Egress", Key: "node-id"}, {Title: "BFR-id", Key: "bfr-id", Right: true}, {Title: "Way", Key: "path"}, {Title: "Warning", Key: "warning"}}}
	for i, w := range plan.Egress {
		t.Add(w.Node, w.ID, commands.List(" ", w.Path), strings.Join(warnings[i], "; "))
	}
	return in.Emit(t, nil)
}
