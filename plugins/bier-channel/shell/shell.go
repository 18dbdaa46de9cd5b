// Package shell is the shell commands of channels. RPCs are package
// operations.
package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/plugins/bier-channel/operations"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Shell is what the commands need. The zero Shell describes them; it cannot run one.
type Shell struct{ *operations.Handlers }

// Commands returns the table of commands.
func (s *Shell) Commands() []commands.Command {
	return []commands.Command{s.channelList(), s.channelShow(), s.channelDeploy(), s.channelRemove()}
}

// names completes names of channels.
func (s *Shell) names(_ context.Context, prefix string) []string {
	return bierplugin.Complete(func(yield func(string) bool) {
		for _, c := range s.Store.Channels.All(s.Store.Now()) {
			if !yield(c.Name) {
				return
			}
		}
	}, prefix)
}

func (s *Shell) channelArgument() commands.Argument {
	return commands.Argument{Name: "channel", Help: "its name", Required: true, Complete: s.names}
}

func (s *Shell) topologyOption() commands.Option {
	return commands.Option{Name: "topology", Short: "t", Help: "topology-id; when absent, the one that has the channel, else the default one", Complete: s.topologies}
}

// topology is that of the option; without one, that which has the channel.
func (s *Shell) topology(in *commands.Invocation) (string, error) {
	if t := in.Option("topology"); t != "" {
		return t, nil
	}
	var have []string
	now := s.Store.Now()
	for _, t := range s.Store.ChannelTopologies(now) {
		if _, ok := s.Store.Channels.Get(now, t, in.Arg("channel")); ok {
			have = append(have, t)
		}
	}
	switch len(have) {
	case 0:
		return "", nil
	case 1:
		return have[0], nil
	}
	return "", fault.New(fault.Invalid, "topologies %s have a channel %s each: choose one with --topology", strings.Join(have, " and "), in.Arg("channel"))
}

// topologies completes ids of topologies with channels.
func (s *Shell) topologies(_ context.Context, prefix string) []string {
	return bierplugin.Complete(slices.Values(s.Store.ChannelTopologies(s.Store.Now())), prefix)
}

// nodes completes node-ids.
func (s *Shell) nodes(_ context.Context, prefix string) []string {
	return bierplugin.Complete(s.Store.NodeIDs(s.Store.Now()), prefix)
}

// finish shows what deploying or removing came to; a FAILURE is the command's error.
func finish(in *commands.Invocation, out operations.Output) error {
	if out.Result.Result != "SUCCESS" {
		return fmt.Errorf("%s", *out.Result.Cause)
	}
	t := &commands.Table{Empty: "No router is concerned.", Columns: []commands.Column{{Title: "Node", Key: "node-id"}, {Title: "Role", Key: "role"},
		{Title: "State", Key: "state"}, {Title: "Reason", Key: "reason"}}}
	for _, d := range out.Deployment {
		t.Add(d.Node, d.Role, d.State, d.Reason)
	}
	for _, text := range out.Warnings {
		fmt.Fprintln(in.Stderr, "warning:", text)
	}
	return in.Emit(t, nil)
}

// carriers is the text of who carries a channel.
func carriers(c *bier.Channel) (ingress string, egress []string) {
	egress = []string{}
	for _, e := range c.EgressNodes {
		egress = append(egress, e.ID)
	}
	return c.IngressNode, egress
}

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
				return fault.New(fault.NotFound, "there is no channel %s; add-channel creates it", in.Arg("channel"))
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
