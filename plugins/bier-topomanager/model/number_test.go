package model

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"ctl.internal/internal/bier"
)

// unnumbered is a topology with nodes r1 to rn and a domain with two sub-domains.
func unnumbered(n int) *bier.Topology {
	t := &bier.Topology{ID: "lab", Domains: []bier.Domain{{ID: 1, SubDomains: []bier.SubDomainRef{{ID: 0}, {ID: 1}}}}}
	for i := 1; i <= n; i++ {
		t.Nodes = append(t.Nodes, bier.Node{ID: fmt.Sprint("r", i)})
	}
	t.Sort()
	return t
}

func usual() Numbering {
	return Numbering{Domain: 1, SubDomain: 1, BSL: 256, IPv4: netip.MustParsePrefix("10.0.0.0/24"), LabelBase: 1000}
}

// becomes is a topology after a change.
func becomes(t *bier.Topology, c *Change) *bier.Topology {
	out := *t
	out.Nodes = append([]bier.Node{}, t.Nodes...)
	for _, n := range c.Nodes {
		for i := range out.Nodes {
			if out.Nodes[i].ID == n.ID {
				out.Nodes[i] = n
			}
		}
	}
	return &out
}

// Everything gets what is free, in the order of the nodes; a second numbering changes nothing, and what is there stays.
func TestNumbersAreProposed(t *testing.T) {
	top := unnumbered(12)
	p, err := Number(top, usual())
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range p.Nodes {
		want := Numbered{Node: fmt.Sprint("r", i+1), BFRID: uint16(i + 1), IPv4Prefix: fmt.Sprintf("10.0.0.%d/32", i+1), BSL: 256, IGP: "ISIS", LabelBase: 1000, LabelSize: 1}
		n.New = nil
		if fmt.Sprint(n) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", n, want)
		}
	}
	next := becomes(top, p.Change)
	if found := Problems(next); len(found) > 0 {
		t.Errorf("the proposal is wrong: %v", found)
	}
	again, err := Number(next, usual())
	if err != nil || len(again.Change.Nodes) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}

	// r3 has numbers already, r5 is in the other sub-domain with labels from 1000 on.
	id := uint16(2)
	top = unnumbered(5)
	top.Node("r3").Params.Domains = []bier.NodeDomain{{ID: 1, Global: bier.Global{BSL: 64, Encapsulation: bier.EncapsulationMPLS, BFRID: &id, IPv4Prefix: "10.0.0.2/32",
		SubDomains: []bier.SubDomain{{ID: 1, IGP: "OSPF", AF: bier.AF{IPv4: []bier.Encapsulation{{BSL: 64, Base: 500, Size: 9}}}}}}}}
	top.Node("r5").Params.Domains = []bier.NodeDomain{{ID: 1, Global: bier.Global{BSL: 256, Encapsulation: bier.EncapsulationMPLS, IPv4Prefix: "10.9.9.9/32",
		SubDomains: []bier.SubDomain{{ID: 0, IGP: "OSPF", AF: bier.AF{IPv4: []bier.Encapsulation{{BSL: 256, Base: 1000, Size: 7}}}}}}}}
	p, err = Number(top, usual())
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, n := range p.Nodes {
		got += fmt.Sprintf("%s=%d,%s,%d,%s,%d+%d ", n.Node, n.BFRID, n.IPv4Prefix, n.BSL, n.IGP, n.LabelBase, n.LabelSize)
	}
	const want = "r1=1,10.0.0.1/32,256,OSPF,1000+1 r2=3,10.0.0.3/32,256,OSPF,1000+1 r3=2,10.0.0.2/32,64,OSPF,500+9 r4=4,10.0.0.4/32,256,OSPF,1000+1 r5=5,10.9.9.9/32,256,OSPF,1007+1 "
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if len(p.Change.Nodes) != 4 {
		t.Errorf("r3 needs nothing: %v", p.Change.Nodes)
	}
}

// Labels are enough for the highest BFR-id; router-ids and other domains give prefixes; IPv6 alone gives IPv6 labels.
func TestWhatNumbersAreMadeOf(t *testing.T) {
	n := usual()
	n.BSL, n.IPv4 = 64, netip.Prefix{}
	n.IPv6 = netip.MustParsePrefix("2001:db8::/64")
	p, err := Number(unnumbered(130), n)
	if err != nil {
		t.Fatal(err)
	}
	last := p.Nodes[129]
	if last.LabelSize != 3 || last.IPv6Prefix != "2001:db8::82/128" || last.IPv4Prefix != "" {
		t.Errorf("%+v", last)
	}
	if _, s := p.Change.Nodes[0].Member(1, 1); len(s.AF.IPv6) != 1 || len(s.AF.IPv4) != 0 {
		t.Errorf("%+v", s)
	}
	top := unnumbered(2)
	top.Node("r1").RouterID = "192.0.2.1"
	top.Node("r2").Params.Domains = []bier.NodeDomain{{ID: 7, Global: bier.Global{IPv4Prefix: "192.0.2.7/32", BSL: 256}}}
	n = usual()
	n.IPv4 = netip.Prefix{}
	p, err = Number(top, n)
	if err != nil || p.Nodes[0].IPv4Prefix != "192.0.2.1/32" || p.Nodes[1].IPv4Prefix != "192.0.2.7/32" {
		t.Errorf("%+v, %v", p, err)
	}
}

// What cannot be numbered is an error that says what to do, and nothing changes.
func TestWhatCannotBeNumbered(t *testing.T) {
	for want, change := range map[string]func(*Numbering){
		"there is no domain 2":                 func(n *Numbering) { n.Domain = 2 },
		"there is no sub-domain 9":             func(n *Numbering) { n.SubDomain = 9 },
		"bitstringlength 100 is not one of":    func(n *Numbering) { n.BSL = 100 },
		"there is no node r9":                  func(n *Numbering) { n.Nodes = []string{"r1", "r9"} },
		"has no free address left":             func(n *Numbering) { n.IPv4 = netip.MustParsePrefix("10.0.0.0/30") },
		"name a pool of prefixes":              func(n *Numbering) { n.IPv4 = netip.Prefix{} },
		"label-base 3 is not within":           func(n *Numbering) { n.LabelBase = 3 },
		"has no 1 free labels":                 func(n *Numbering) { n.LabelBase = 1<<20 - 1; n.Nodes = []string{"r4"} },
		"ipv6-pool 10.0.0.0/24 is no IPv6":     func(n *Numbering) { n.IPv6 = n.IPv4 },
		`igp-type "RIP" is neither`:            func(n *Numbering) { n.IGP = "RIP" },
		"10.0.0.0/31 has no free address left": func(n *Numbering) { n.IPv4 = netip.MustParsePrefix("10.0.0.0/31") },
	} {
		top := unnumbered(4)
		top.Node("r4").Params.Domains = []bier.NodeDomain{{ID: 1, Global: bier.Global{BSL: 256, Encapsulation: bier.EncapsulationMPLS, IPv4Prefix: "10.9.9.9/32",
			SubDomains: []bier.SubDomain{{ID: 0, IGP: "OSPF", AF: bier.AF{IPv4: []bier.Encapsulation{{BSL: 256, Base: 1<<20 - 1, Size: 1}}}}}}}}
		n := usual()
		change(&n)
		if p, err := Number(top, n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", want, p, err)
		}
	}
}
