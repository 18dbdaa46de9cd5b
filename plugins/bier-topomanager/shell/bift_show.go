package shell

import (
	"context"
	"strconv"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func (s *Shell) biftShow() commands.Command {
	number := func(name, help string) commands.Option {
		return commands.Option{Name: name, Help: help, Type: commands.Int, Default: "0"}
	}
	length := number("bsl", "bitstringlength; 0 = what the node makes")
	length.Values = []string{"0", "64", "128", "256", "512", "1024", "2048", "4096"}
	domain := number("domain", "domain-id")
	domain.Default = "1"
	return commands.Command{Name: "bier:bift-show", Summary: "Show the computed forwarding table of a node", Safe: true,
		Help: "Computes the shortest paths of the sub-domain and from them the bit index forwarding table (RFC 8279\n" +
			"section 6.4) that the node should have: for each BFR-id the next hop and the mask of bits that go there.\n" +
			"Equal ways have a line each; --entropy shows those that packets of an entropy take, where routers have a table\n" +
			"for each and choose by the remainder (section 6.7.2). A next hop over nodes that are no BFRs is reached in a tunnel (section 6.9).\n" +
			"BIFT-id is what the packet carries on the way to the next hop, an MPLS label where that is the encapsulation.",
		Arguments: []commands.Argument{{Name: "node", Help: "its node-id", Required: true, Complete: s.nodes}},
		Options: []commands.Option{s.topologyOption(), domain, number("sub-domain", "sub-domain-id"), length,
			{Name: "entropy", Help: "0..1048575; absent = all equal ways", Type: commands.Int}},
		Run: s.runBIFTShow}
}

func (s *Shell) runBIFTShow(_ context.Context, in *commands.Invocation) error {
	views, err := s.views(in)
	if err != nil {
		return err
	}
	domain, err := option(in, "domain")
	if err != nil {
		return err
	}
	sub, err := option(in, "sub-domain")
	if err != nil {
		return err
	}
	length, err := option(in, "bsl")
	if err != nil {
		return err
	}
	entropy, one := in.Option("entropy"), in.Option("entropy") != ""
	chosen, err := strconv.ParseUint(entropy, 10, 20)
	if one && err != nil {
		return fault.New(fault.Invalid, "--entropy: %q is not within 0..1048575", entropy)
	}
	t := &commands.Table{Columns: []commands.Column{{Title: "BSL", Key: "bitstringlength", Right: true}, {Title: "SI", Key: "si", Right: true},
		{Title: "BFR-id", Key: "bfr-id", Right: true}, {Title: "Node", Key: "node-id"},
		{Title: "Next hop", Key: "bfr-nbr"}, {Title: "Tunnel over", Key: "tunnel"}, {Title: "BIFT-id", Key: "bift-id", Right: true}, {Title: "F-BM", Key: "f-bm", Max: 66}}}
	for i := range views {
		d, x := views[i].Node(in.Arg("node")).Member(domain, sub)
		if x == nil {
			continue
		}
		b := bier.BSL(length)
		if b == 0 {
			b = bier.Imposition(d, x)
		}
		if !b.Valid() {
			return fault.New(fault.Invalid, "bitstringlength %d is not one of %v", b, bier.BSLs)
		}
		for _, table := range bier.NewGraph(&views[i], domain, sub).BIFTs(in.Arg("node"), b) {
			if one {
				table = table.Deterministic(uint32(chosen))
			}
			for _, e := range table.Entries {
				for _, n := range e.Neighbors { // several: equal ways
					t.Add(int(b), table.SI, e.ID, e.Node, n.Node, commands.List(" ", n.Via), biftID(&views[i], n.Node, domain, sub, b, table.SI), n.FBM.Hex())
				}
			}
		}
		return in.Emit(t, nil)
	}
	return fault.New(fault.NotFound, "node %s is not in sub-domain %d of domain %d", in.Arg("node"), sub, domain)
}

// biftID is the first label or BIFT-id of a packet to a next hop; "" where it has none.
func biftID(t *bier.Topology, node string, domain, sub uint16, b bier.BSL, si int) string {
	d, x := t.Node(node).Member(domain, sub)
	if id, ok := bier.BIFTID(d, x, b, si); ok {
		return strconv.Itoa(int(id))
	}
	return ""
}

func option(in *commands.Invocation, name string) (uint16, error) {
	n, err := strconv.ParseUint(in.Option(name), 10, 16)
	if err != nil {
		return 0, fault.New(fault.Invalid, "--%s: %q is not within 0..65535", name, in.Option(name))
	}
	return uint16(n), nil
}

// memberIDs returns the BFR-ids of the members of a sub-domain.
func memberIDs(t *bier.Topology, domain, sub uint16) (out []uint16) {
	for i := range t.Nodes {
		if d, s := t.Nodes[i].Member(domain, sub); s != nil {
			out = append(out, bier.BFRID(d, s))
		}
	}
	return out
}
