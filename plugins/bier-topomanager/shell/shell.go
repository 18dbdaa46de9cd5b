// Package shell is the shell commands of topologies. RPCs are
// package operations.
package shell

import (
	"context"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-topomanager/data"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/topology"
)

// Shell is what the commands need. The zero Shell describes them; it cannot run one.
type Shell struct {
	Home   string // the controller's, for relative paths
	Data   *data.Data
	Import func(context.Context, []topology.Topology) error
	Forget func(ctx context.Context, topology string) error
}

// Commands returns the table of commands.
func (s *Shell) Commands() []commands.Command {
	return []commands.Command{s.topoList(), s.topoImport(), s.topoForget(), s.nodeShow(), s.domainList(), s.biftShow(), s.check()}
}

// topologies completes topology-ids.
func (s *Shell) topologies(_ context.Context, prefix string) []string {
	return bierplugin.Complete(slices.Values(s.Data.IDs(s.Data.Store.Now())), prefix)
}

// nodes completes node-ids of all topologies.
func (s *Shell) nodes(_ context.Context, prefix string) []string {
	return bierplugin.Complete(s.Data.NodeIDs(s.Data.Store.Now()), prefix)
}

// topologyOption chooses a topology where there are several.
func (s *Shell) topologyOption() commands.Option {
	return commands.Option{Name: "topology", Short: "t", Help: "topology-id; all when absent", Complete: s.topologies}
}

// views returns the topologies that an invocation means.
func (s *Shell) views(in *commands.Invocation) (out []bier.Topology, err error) {
	now := s.Data.Store.Now()
	ids := s.Data.IDs(now)
	if one := in.Option("topology"); one != "" {
		ids = []string{one}
	}
	for _, id := range ids {
		t := s.Data.Topology(now, id)
		if err := model.Found(t, id); err != nil {
			return nil, err
		}
		out = append(out, *t)
	}
	return out, nil
}
