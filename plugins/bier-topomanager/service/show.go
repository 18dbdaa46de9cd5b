package service

import (
	"context"
	"encoding/json"
	"strconv"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func (s *Service) listTopologies(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{Empty: "No source has a topology; install one (ctl-switch-all) or write one down (bier:topo-import).",
		Columns: []commands.Column{{
			Title: "Topology",
			Key:   "topology-id",
		}, {Title: "Nodes", Key: "nodes", Right: true},
			{
				Title: "Online",
				Key:   "online",
				Right: true,
			}, {Title: "Links", Key: "links", Right: true},
			{
				Title: "Domains",
				Key:   "domains",
				Right: true,
			}, {Title: "Sources", Key: "sources"}}}
	now := s.data.Store.Now()
	for _, id := range s.data.IDs(now) {
		x := s.data.Topology(now, id)
		names, online := s.data.topologySources(now, id)
		t.Add(
			id,
			len(x.Nodes),
			len(online),
			len(x.Links),
			len(x.Domains),
			commands.List(", ", names),
		)
	}
	return in.Emit(t, nil)
}

func (s *Service) listDomains(_ context.Context, in *commands.Invocation) error {
	views, err := s.selectTopologies(in)
	if err != nil {
		return err
	}
	t := &commands.Table{
		Empty: "There are no domains; the RPC bier-topology-api:configure-domain makes them.",
		Columns: []commands.Column{
			{
				Title: "Topology",
				Key:   "topology-id",
			}, {Title: "Domain", Key: "domain-id", Right: true},
			{
				Title: "Sub-domain",
				Key:   "sub-domain-id",
				Right: true,
			}, {Title: "Members", Key: "members", Right: true},
			{
				Title: "Highest BFR-id",
				Key:   "highest-bfr-id",
				Right: true,
			}},
	}
	for _, x := range views {
		for _, d := range x.Domains {
			for _, sub := range d.SubDomains {
				members, highest := 0, uint16(0)
				for i := range x.Nodes {
					if nd, in := x.Nodes[i].Member(d.ID, sub.ID); in != nil {
						members, highest = members+1, max(highest, bier.BFRID(nd, in))
					}
				}
				t.Add(x.ID, d.ID, sub.ID, members, highest)
			}
		}
	}
	return in.Emit(t, nil)
}

func (s *Service) showNodes(_ context.Context, in *commands.Invocation) error {
	views, err := s.selectTopologies(in)
	if err != nil {
		return err
	}
	if id := in.Arg("node"); id != "" {
		return showNode(in, views, id)
	}
	t := &commands.Table{
		Empty: "There are no nodes.",
		Columns: []commands.Column{{
			Title: "Topology",
			Key:   "topology-id",
		},
			{
				Title: "Node",
				Key:   "node-id",
			}, {
				Title: "Online",
				Key:   "online",
			}, {Title: "Domain", Key: "domain-id", Right: true},
			{
				Title: "Sub-domain",
				Key:   "sub-domain-id",
				Right: true,
			}, {Title: "BFR-id", Key: "bfr-id", Right: true},
			{
				Title: "Makes",
				Key:   "imposition",
			}, {
				Title: "Takes",
				Key:   "disposition",
			}, {Title: "IGP", Key: "igp-type"},
			{
				Title: "IPv4 prefix",
				Key:   "ipv4-bfr-prefix",
			}, {Title: "IPv6 prefix", Key: "ipv6-bfr-prefix"}},
	}
	now := s.data.Store.Now()
	for _, x := range views {
		_, online := s.data.topologySources(now, x.ID)
		for i := range x.Nodes {
			addNode(t, x.ID, &x.Nodes[i], online[x.Nodes[i].ID])
		}
	}
	return in.Emit(t, nil)
}

func addNode(t *commands.Table, topology string, n *bier.Node, online bool) {
	if len(n.Params.Domains) == 0 {
		t.Add(topology, n.ID, online)
	}
	for i := range n.Params.Domains {
		d := &n.Params.Domains[i]
		for j := range d.Global.SubDomains {
			x := &d.Global.SubDomains[j]
			takes := []int{}
			for _, b := range bier.Disposition(d, x) {
				takes = append(takes, int(b))
			}
			t.Add(topology, n.ID, online, d.ID, x.ID, bier.BFRID(d, x), int(bier.Imposition(d, x)), takes, x.IGP,
				d.Global.IPv4Prefix, d.Global.IPv6Prefix)
		}
	}
}

type shown struct {
	Topology string `json:"topology-id"`
	bier.Node
}

func showNode(in *commands.Invocation, views []*bier.Topology, id string) error {
	var out []shown
	for _, x := range views {
		if n := x.Node(id); n != nil {
			out = append(out, shown{x.ID, *n})
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

func (s *Service) showBIFT(_ context.Context, in *commands.Invocation) error {
	views, err := s.selectTopologies(in)
	if err != nil {
		return err
	}
	var domain, sub, length uint16
	for name, to := range map[string]*uint16{
		"domain":     &domain,
		"sub-domain": &sub,
		"bsl":        &length,
	} {
		n, err := strconv.ParseUint(in.Option(name), 10, 16)
		if err != nil {
			return fault.New(
				fault.Invalid,
				"--%s: %q is not within 0..65535",
				name,
				in.Option(name),
			)
		}
		*to = uint16(n)
	}
	entropy, one := in.Option("entropy"), in.Option("entropy") != ""
	chosen, err := strconv.ParseUint(entropy, 10, 20)
	if one && err != nil {
		return fault.New(fault.Invalid, "--entropy: %q is not within 0..1048575", entropy)
	}
	t := &commands.Table{Columns: []commands.Column{{
		Title: "BSL",
		Key:   "bitstringlength",
		Right: true,
	},
		{
			Title: "SI",
			Key:   "si",
			Right: true,
		}, {
			Title: "BFR-id",
			Key:   "bfr-id",
			Right: true,
		}, {Title: "Node", Key: "node-id"},
		{
			Title: "Next hop",
			Key:   "bfr-nbr",
		}, {Title: "Tunnel over", Key: "tunnel"},
		{
			Title: "BIFT-id",
			Key:   "bift-id",
			Right: true,
		}, {Title: "F-BM", Key: "f-bm", Max: 66}}}
	for _, v := range views {
		d, x := v.Node(in.Arg("node")).Member(domain, sub)
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
		for _, table := range v.Graph(domain, sub).BIFTs(in.Arg("node"), b) {
			if one {
				table = table.Deterministic(uint32(chosen))
			}
			for _, e := range table.Entries {
				for _, n := range e.Neighbors { // several: equal ways
					t.Add(
						int(b),
						table.SI,
						e.ID,
						e.Node,
						n.Node,
						commands.List(" ", n.Via),
						biftID(v, n.Node, domain, sub, b, table.SI),
						n.FBM.Hex(),
					)
				}
			}
		}
		return in.Emit(t, nil)
	}
	return fault.New(
		fault.NotFound,
		"node %s is not in sub-domain %d of domain %d",
		in.Arg("node"),
		sub,
		domain,
	)
}

// biftID is the first label or BIFT-id of a packet to a next hop; "" where it has none.
func biftID(t *bier.Topology, node string, domain, sub uint16, b bier.BSL, si int) string {
	d, x := t.Node(node).Member(domain, sub)
	if id, ok := bier.BIFTID(d, x, b, si); ok {
		return strconv.Itoa(int(id))
	}
	return ""
}
