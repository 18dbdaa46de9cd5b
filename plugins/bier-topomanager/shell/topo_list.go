package shell

import (
	"context"

	"ctl.internal/sdk/commands"
)

func (s *Shell) topoList() commands.Command {
	return commands.Command{Name: "bier:topo-list", Summary: "List the BIER topologies", Safe: true,
		Help: "Shows each topology with its size, how many nodes the network has now, and which sources have it.",
		Run:  s.runTopoList}
}

func (s *Shell) runTopoList(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{Empty: "No source has a topology; install one (ctl-switch-all) or write one down (bier:topo-import).",
		Columns: []commands.Column{{Title: "Topology", Key: "topology-id"}, {Title: "Nodes", Key: "nodes", Right: true}, {Title: "Online", Key: "online", Right: true},
			{Title: "Links", Key: "links", Right: true}, {Title: "Domains", Key: "domains", Right: true}, {Title: "Sources", Key: "sources"}}}
	now := s.Data.Store.Now()
	for _, id := range s.Data.IDs(now) {
		x := s.Data.Topology(now, id)
		seen, _ := s.Data.Observed.Get(now, id)
		t.Add(id, len(x.Nodes), len(seen.Nodes), len(x.Links), len(x.Domains), commands.List(", ", seen.Sources))
	}
	return in.Emit(t, nil)
}
