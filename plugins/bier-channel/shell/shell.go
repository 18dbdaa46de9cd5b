package shell

import (
	"context"
	"fmt"
	"strings"

	"ctl.internal/plugins/bier-channel/operations"
	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/commands"
)

// Shell is what the commands need. The zero Shell describes them; it cannot run one.
type Shell struct{ *operations.Handlers }

// Commands returns the table of commands.
func (s *Shell) Commands() []commands.Command {
	return []commands.Command{s.channelList(), s.channelShow(), s.channelDeploy(), s.channelRemove()}
}

// names completes names of channels.
func (s *Shell) names(_ context.Context, prefix string) (out []string) {
	for _, t := range s.Store.Topologies() {
		for _, c := range s.Store.List(t) {
			if strings.HasPrefix(c.Name, prefix) {
				out = append(out, c.Name)
			}
		}
	}
	return out
}

func (s *Shell) channelArgument() commands.Argument {
	return commands.Argument{Name: "channel", Help: "its name", Required: true, Complete: s.names}
}

func (s *Shell) topologyOption() commands.Option {
	return commands.Option{Name: "topology", Short: "t", Help: "topology-id; the default one when absent", Complete: s.topologies}
}

// topologies completes ids of topologies with channels.
func (s *Shell) topologies(_ context.Context, prefix string) (out []string) {
	for _, t := range s.Store.Topologies() {
		if strings.HasPrefix(t, prefix) {
			out = append(out, t)
		}
	}
	return out
}

// nodes completes node-ids of the default topology.
func (s *Shell) nodes(ctx context.Context, prefix string) (out []string) {
	t, err := s.Topology(ctx, s.Default)
	if err != nil {
		return nil
	}
	for i := range t.Nodes {
		if id := t.Nodes[i].ID; strings.HasPrefix(id, prefix) && len(out) < 200 {
			out = append(out, id)
		}
	}
	return out
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
