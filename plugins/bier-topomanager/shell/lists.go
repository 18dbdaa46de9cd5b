package shell

import (
	"context"
	"encoding/json"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
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

func (s *Shell) domainList() commands.Command {
	return commands.Command{Name: "bier:domain-list", Summary: "List domains and sub-domains", Safe: true,
		Help:    "Shows each sub-domain with the number of its members and the highest BFR-id.",
		Options: []commands.Option{s.topologyOption()}, Run: s.runDomainList}
}

func (s *Shell) runDomainList(_ context.Context, in *commands.Invocation) error {
	views, err := s.views(in)
	if err != nil {
		return err
	}
	t := &commands.Table{Empty: "There are no domains; the RPC bier-topology-api:configure-domain makes them.", Columns: []commands.Column{
		{Title: "Topology", Key: "topology-id"}, {Title: "Domain", Key: "domain-id", Right: true}, {Title: "Sub-domain", Key: "sub-domain-id", Right: true},
		{Title: "Members", Key: "members", Right: true}, {Title: "Highest BFR-id", Key: "highest-bfr-id", Right: true}}}
	for i := range views {
		for _, d := range views[i].Domains {
			for _, sub := range d.SubDomains {
				members, highest := 0, uint16(0)
				for _, m := range memberIDs(&views[i], d.ID, sub.ID) {
					members, highest = members+1, max(highest, m)
				}
				t.Add(views[i].ID, d.ID, sub.ID, members, highest)
			}
		}
	}
	return in.Emit(t, nil)
}

func (s *Shell) nodeShow() commands.Command {
	return commands.Command{Name: "bier:node-show", Summary: "Show nodes and their BIER configuration", Safe: true,
		Help:      "Without a node-id: all nodes, one line each sub-domain. With one: everything known of it.",
		Arguments: []commands.Argument{{Name: "node", Help: "its node-id", Complete: s.nodes}},
		Options:   []commands.Option{s.topologyOption()},
		Run:       s.runNodeShow}
}

func (s *Shell) runNodeShow(_ context.Context, in *commands.Invocation) error {
	views, err := s.views(in)
	if err != nil {
		return err
	}
	if id := in.Arg("node"); id != "" {
		return s.showNode(in, views, id)
	}
	t := &commands.Table{Empty: "There are no nodes.", Columns: []commands.Column{{Title: "Topology", Key: "topology-id"}, {Title: "Node", Key: "node-id"},
		{Title: "Online", Key: "online"}, {Title: "Domain", Key: "domain-id", Right: true}, {Title: "Sub-domain", Key: "sub-domain-id", Right: true},
		{Title: "BFR-id", Key: "bfr-id", Right: true}, {Title: "Makes", Key: "imposition"}, {Title: "Takes", Key: "disposition"}, {Title: "IGP", Key: "igp-type"},
		{Title: "IPv4 prefix", Key: "ipv4-bfr-prefix"}, {Title: "IPv6 prefix", Key: "ipv6-bfr-prefix"}}}
	now := s.Data.Store.Now()
	for i := range views {
		seen, _ := s.Data.Observed.Get(now, views[i].ID)
		for j := range views[i].Nodes {
			rows(t, views[i].ID, &views[i].Nodes[j], slices.Contains(seen.Nodes, views[i].Nodes[j].ID))
		}
	}
	return in.Emit(t, nil)
}

func rows(t *commands.Table, topology string, n *bier.Node, online bool) {
	if len(n.Params.Domains) == 0 {
		t.Add(topology, n.ID, online)
	}
	for i := range n.Params.Domains {
		d := &n.Params.Domains[i]
		for j := range d.Global.SubDomains {
			x := &d.Global.SubDomains[j]
			t.Add(topology, n.ID, online, d.ID, x.ID, bier.BFRID(d, x), int(bier.Imposition(d, x)), numbers(bier.Disposition(d, x)), x.IGP,
				d.Global.IPv4Prefix, d.Global.IPv6Prefix)
		}
	}
}

func numbers(in []bier.BSL) []int {
	out := []int{}
	for _, b := range in {
		out = append(out, int(b))
	}
	return out
}

type shown struct {
	Topology string `json:"topology-id"`
	bier.Node
}

func (s *Shell) showNode(in *commands.Invocation, views []bier.Topology, id string) error {
	var out []shown
	for i := range views {
		if n := views[i].Node(id); n != nil {
			out = append(out, shown{views[i].ID, *n})
		}
	}
	if len(out) == 0 {
		return fault.New(fault.NotFound, "no topology has a node %q", id)
	}
	return in.Emit(out, func() string {
		text, _ := json.MarshalIndent(out, "", "  ") // numbers and strings only: cannot fail
		return string(text) + "\n"
	})
}
