// Package shell is the shell commands of topologies, one file each. RPCs are
// package operations.
package shell

import (
	"context"
	"strings"

	"ctl.internal/internal/bier"
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
func (s *Shell) topologies(_ context.Context, prefix string) (out []string) {
	for _, id := range s.Data.IDs(s.Data.Store.Now()) {
		if strings.HasPrefix(id, prefix) {
			out = append(out, id)
		}
	}
	return out
}

// nodes completes node-ids of all topologies.
func (s *Shell) nodes(_ context.Context, prefix string) (out []string) {
	seen := map[string]bool{}
	for _, n := range s.Data.Nodes.All(s.Data.Store.Now()) {
		if strings.HasPrefix(n.ID, prefix) && !seen[n.ID] && len(out) < maxCompletions {
			seen[n.ID] = true
			out = append(out, n.ID)
		}
	}
	return out
}

// maxCompletions bounds what a large network offers.
const maxCompletions = 200

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
