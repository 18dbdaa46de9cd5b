package shell

import (
	"context"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/commands"
)

func (s *Shell) topoList() commands.Command {
	return commands.Command{Name: "bier:topo-list", Summary: "List the BIER topologies", Safe: true,
		Help: "Shows each topology with its size, how many nodes the network has now, and who tells of it.",
		Run:  s.runTopoList}
}

func (s *Shell) runTopoList(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{Empty: "No source tells of a topology; install one (ctl-switch-all) or write one down (bier:topo-import).",
		Columns: []commands.Column{{Title: "Topology", Key: "topology-id"}, {Title: "Nodes", Key: "nodes", Right: true}, {Title: "Online", Key: "online", Right: true},
			{Title: "Links", Key: "links", Right: true}, {Title: "Domains", Key: "domains", Right: true}, {Title: "Sources", Key: "sources"}}}
	err := s.Store.Look(func(m *model.Model) error {
		for _, id := range m.IDs() {
			x, err := m.Get(id)
			if err != nil {
				return err
			}
			t.Add(id, len(x.Nodes), len(x.Online), len(x.Links), len(x.Domains), commands.List(", ", s.Sources(id)))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return in.Emit(t, nil)
}
