package shell

import (
	"context"
	"strings"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/plugins/bier-topomanager/store"
	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/topology"
)

// Shell is what the commands need. The zero Shell describes them; it cannot run one.
type Shell struct {
	Home    string // the controller's, for relative paths
	Store   *store.Store
	Sources func(topology string) []string
	Import  func(context.Context, []topology.Topology) error
	Forget  func(ctx context.Context, topology string) error
	Uses    func(context.Context) (*bier.Channels, error)
}

// Commands returns the table of commands.
func (s *Shell) Commands() []commands.Command {
	return []commands.Command{s.topoList(), s.topoImport(), s.topoForget(), s.nodeShow(), s.domainList(), s.biftShow(), s.check()}
}

// topologies completes topology-ids.
func (s *Shell) topologies(_ context.Context, prefix string) (out []string) {
	_ = s.Store.Look(func(m *model.Model) error {
		for _, id := range m.IDs() {
			if strings.HasPrefix(id, prefix) {
				out = append(out, id)
			}
		}
		return nil
	})
	return out
}

// nodes completes node-ids of all topologies.
func (s *Shell) nodes(_ context.Context, prefix string) (out []string) {
	_, views, _ := s.Store.Views("")
	seen := map[string]bool{}
	for _, t := range views {
		for i := range t.Nodes {
			if id := t.Nodes[i].ID; strings.HasPrefix(id, prefix) && !seen[id] && len(out) < maxCompletions {
				seen[id] = true
				out = append(out, id)
			}
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
func (s *Shell) views(in *commands.Invocation) ([]bier.Topology, error) {
	_, v, err := s.Store.Views(in.Option("topology"))
	return v, err
}
