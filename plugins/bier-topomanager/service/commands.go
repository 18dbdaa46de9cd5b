package service

import (
	"context"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-topomanager/importer"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Commands describes the console's commands of topologies.
func Commands() []commands.Command {
	return (&Service{}).commandTable()
}

// commandTable is the table of commands; those of the zero Service describe themselves only.
func (s *Service) commandTable() []commands.Command {
	topology := commands.Option{
		Name:     "topology",
		Short:    "t",
		Help:     "topology-id; all when absent",
		Complete: s.completeTopologyIDs,
	}
	number := func(name, help, absent string, values ...string) commands.Option {
		return commands.Option{
			Name:    name,
			Help:    help,
			Type:    commands.Int,
			Default: absent,
			Values:  values,
		}
	}
	return []commands.Command{
		{
			Name:    "bier:topo-list",
			Summary: "List the BIER topologies",
			Safe:    true,
			Run:     s.listTopologies,
			Help:    "Shows each topology with its size, how many nodes the network has now, and which sources have it.",
		},
		{
			Name:    "bier:topo-import",
			Summary: "Import topologies from a YAML or JSON file",
			Run:     s.importFile,
			Help: "Takes the topologies of a file, in place of what was imported under the same ids before. They survive\n" +
				"restarts until bier:topo-forget. A relative path is below the controller's home; - reads standard input.\n\n" +
				"  topology-id: lab\n  node:\n  - {node-id: r1, name: r1}\n  - {node-id: r2}\n  link:\n" +
				"  - {source: {source-node: r1, source-tp: eth0}, destination: {dest-node: r2, dest-tp: eth0}, metric: 10, bidirectional: true}\n\n" +
				"A list `topology` holds several; JSON of module network-topology is taken as well.",
			Arguments: []commands.Argument{{
				Name:     "file",
				Help:     "the file, or -",
				Type:     commands.File,
				Required: true,
				Complete: commands.Files(s.home, ".yaml", ".yml", ".json"),
			}},
		},
		{
			Name:    "bier:topo-forget",
			Summary: "Forget an imported topology",
			Help:    "Takes back bier:topo-import. Domains and nodes that are configured stay, offline.",
			Arguments: []commands.Argument{{
				Name:     "topology",
				Help:     "its id",
				Required: true,
				Complete: s.completeTopologyIDs,
			}},
			Run: func(ctx context.Context, in *commands.Invocation) error {
				return s.removeImport(ctx, in.Arg("topology"))
			},
		},
		{
			Name:    "bier:node-show",
			Summary: "Show nodes and their BIER configuration",
			Safe:    true,
			Run:     s.showNodes,
			Help:    "Without a node-id: all nodes, one line each sub-domain. With one: everything known of it.",
			Arguments: []commands.Argument{{
				Name:     "node",
				Help:     "its node-id",
				Complete: s.completeNodeIDs,
			}},
			Options: []commands.Option{topology},
		},
		{
			Name:    "bier:domain-list",
			Summary: "List domains and sub-domains",
			Safe:    true,
			Run:     s.listDomains,
			Help:    "Shows each sub-domain with the number of its members and the highest BFR-id.",
			Options: []commands.Option{topology},
		},
		{
			Name:    "bier:bift-show",
			Summary: "Show the computed forwarding table of a node",
			Safe:    true,
			Run:     s.showBIFT,
			Help: "Computes the shortest paths of the sub-domain and from them the bit index forwarding table (RFC 8279\n" +
				"section 6.4) that the node should have: for each BFR-id the next hop and the mask of bits that go there.\n" +
				"Equal ways have a line each; --entropy shows those that packets of an entropy take, where routers have a table\n" +
				"for each and choose by the remainder (section 6.7.2). A next hop over nodes that are no BFRs is reached in a tunnel (section 6.9).\n" +
				"BIFT-id is what the packet carries on the way to the next hop, an MPLS label where that is the encapsulation.",
			Arguments: []commands.Argument{{
				Name:     "node",
				Help:     "its node-id",
				Required: true,
				Complete: s.completeNodeIDs,
			}},
			Options: []commands.Option{topology, number("domain", "domain-id", "1"), number("sub-domain", "sub-domain-id", "0"),
				number(
					"bsl",
					"bitstringlength; 0 = what the node makes",
					"0",
					"0",
					"64",
					"128",
					"256",
					"512",
					"1024",
					"2048",
					"4096",
				),
				number("entropy", "0..1048575; absent = all equal ways", "")},
		},
		{
			Name:    "bier:number",
			Summary: "Number the nodes of a sub-domain",
			Run:     s.numberNodes,
			Help: "Proposes BFR-ids, BFR-prefixes and label blocks for nodes of a sub-domain, and for nodes that become members of\n" +
				"it. What a node has stays. The proposal is shown; --apply applies it, all of it or nothing.\n\n" +
				"Example: bier:number --domain 1 --sub-domain 0 --ipv4-pool 10.0.0.0/24 r1 r2 r3",
			Arguments: []commands.Argument{{
				Name:     "node",
				Help:     "node-ids; all when absent",
				Repeated: true,
				Complete: s.completeNodeIDs,
			}},
			Options: s.numberOptions(commands.Option{
				Name:     "topology",
				Short:    "t",
				Complete: s.completeTopologyIDs,
				Help:     "topology-id; needed when there are several",
			}),
		},
		{
			Name:    "bier:check",
			Summary: "Check all that is configured",
			Safe:    true,
			Run:     s.showProblems,
			Help: "Runs every check of nodes, sub-domains and deployed channels over what is stored, and shows what is\n" +
				"wrong (error) or does not work with every router (warning). Routers that are not reached, that report a\n" +
				"fault, or that do not hold what they must are shown too, and the channels that suffer from it.",
			Options: []commands.Option{topology},
		},
	}
}

// completeTopologyIDs completes topology-ids.
func (s *Service) completeTopologyIDs(_ context.Context, prefix string) []string {
	return bierplugin.Complete(slices.Values(s.data.IDs(s.data.Store.Now())), prefix)
}

// completeNodeIDs completes node-ids of all topologies.
func (s *Service) completeNodeIDs(_ context.Context, prefix string) []string {
	return bierplugin.Complete(s.data.NodeIDs(s.data.Store.Now()), prefix)
}

// selectTopologies returns the topologies that an invocation means.
func (s *Service) selectTopologies(in *commands.Invocation) (out []*bier.Topology, err error) {
	now := s.data.Store.Now()
	ids := s.data.IDs(now)
	if one := in.Option("topology"); one != "" {
		ids = []string{one}
	}
	for _, id := range ids {
		t := s.data.Topology(now, id)
		if err := model.Found(t, id); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func (s *Service) importFile(ctx context.Context, in *commands.Invocation) error {
	name := in.Arg("file")
	text, err := in.ReadFile(s.home, name, importer.MaxSize)
	if err != nil {
		return err
	}
	all, err := importer.Parse(text)
	if err != nil {
		var l fault.List
		for _, f := range fault.All(err) {
			l = append(l, fault.New(f.Kind, "%s: %v", name, f))
		}
		return append(l, fault.New(fault.Invalid, "help bier:topo-import shows the form"))
	}
	if err := s.importTopologies(ctx, all); err != nil {
		return err
	}
	t := &commands.Table{Columns: []commands.Column{{
		Title: "Topology",
		Key:   "topology-id",
	},
		{
			Title: "Nodes",
			Key:   "nodes",
			Right: true,
		}, {Title: "Links", Key: "links", Right: true}}}
	for _, x := range all {
		t.Add(x.ID, len(x.Nodes), len(x.Links))
	}
	return in.Emit(t, nil)
}
