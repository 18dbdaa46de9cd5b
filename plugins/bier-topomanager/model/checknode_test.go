package model

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"ctl.internal/internal/bier"
)

// router is a node without any fault, with labels for two lengths in sub-domain 1.
func router(name string, bfr uint16) *bier.Node {
	return &bier.Node{ID: name, Params: bier.NodeParams{Domains: []bier.NodeDomain{{ID: 1, Global: bier.Global{
		Encapsulation: bier.EncapsulationMPLS, BSL: 256, BFRID: id(bfr), IPv4Prefix: fmt.Sprintf("10.0.%d.%d/32", bfr/256, bfr%256),
		SubDomains: []bier.SubDomain{{ID: 1, IGP: "ISIS", AF: bier.AF{IPv4: []bier.Encapsulation{{BSL: 64, Base: 1000, Size: 8}, {BSL: 256, Base: 2000, Size: 8}}}}}}}}}}
}

func TestRulesOfOneNode(t *testing.T) {
	type at struct {
		g *bier.Global
		s *bier.SubDomain
		e []bier.Encapsulation
	}
	for name, x := range map[string]struct {
		change  func(at)
		warning bool
		want    string // "" = nothing is wrong
	}{
		"nothing":                    {func(at) {}, false, ""},
		"no length":                  {func(n at) { n.g.BSL = 0 }, false, "bitstringlength is missing"},
		"no bfr-id":                  {func(n at) { n.g.BFRID = nil }, true, "bfr-id is missing, here and in the domain"},
		"bfr-id 0":                   {func(n at) { n.g.BFRID = id[uint16](0) }, false, "bfr-id 0 is not within 1..65535"},
		"the highest bfr-id":         {func(n at) { n.g.BFRID = id[uint16](65535) }, true, "are too few"},
		"no prefix":                  {func(n at) { n.g.IPv4Prefix = "" }, false, "one is needed"},
		"only an IPv6 prefix":        {func(n at) { n.g.IPv4Prefix, n.g.IPv6Prefix = "", "2001:db8::1/128" }, false, ""},
		"a prefix of the other kind": {func(n at) { n.g.IPv4Prefix = "2001:db8::1/128" }, false, "is not an address with a prefix length"},
		"a prefix without a length":  {func(n at) { n.g.IPv4Prefix = "10.0.0.1" }, false, "is not an address with a prefix length"},
		"a multicast prefix":         {func(n at) { n.g.IPv4Prefix = "224.0.0.1/32" }, false, "is no address of a router"},
		"a loopback prefix":          {func(n at) { n.g.IPv4Prefix = "127.0.0.1/32" }, false, "is no address of a router"},
		"a reserved prefix":          {func(n at) { n.g.IPv4Prefix = "240.0.0.1/32" }, false, "is no address of a router"},
		"a link-local prefix":        {func(n at) { n.g.IPv6Prefix = "fe80::1/128" }, true, "is link-local"},
		"the highest mt-id":          {func(n at) { n.s.MT = id[uint16](4095) }, false, ""},
		"mt-id beyond 12 bits":       {func(n at) { n.s.MT = id[uint16](4096) }, false, "mt-id 4096 is not within 0..4095"},
		"a prefix of a network":      {func(n at) { n.g.IPv4Prefix = "10.0.0.1/24" }, true, "is no host route"},
		"another encapsulation":      {func(n at) { n.g.Encapsulation = "x:bier-encapsulation-ipv6" }, false, "is not known"},
		"Ethernet needs no labels": {func(n at) {
			n.g.Encapsulation, n.s.AF = "bier-topology:bier-encapsulation-ethernet", bier.AF{}
		}, false, ""},
		"sub-domain 256":         {func(n at) { n.s.ID = 256 }, false, "sub-domain-id 256 is not within 0..255"},
		"no igp":                 {func(n at) { n.s.IGP = "" }, false, "igp-type is missing"},
		"another igp":            {func(n at) { n.s.IGP = "RIP" }, false, "neither OSPF nor ISIS"},
		"MPLS without labels":    {func(n at) { n.s.AF = bier.AF{} }, false, "needs label ranges"},
		"a set that is too high": {func(n at) { n.s.BSL, n.s.BFRID = 64, id[uint16](16385) }, false, "bfr-id 16385 is in set 256"},
		"the highest set": {func(n at) {
			n.s.BSL, n.s.BFRID, n.e[0].Size, n.e[1].Size, n.e[1].Base = 64, id[uint16](16320), 255, 64, 3000
		}, false, ""},
		"not 256 bits":         {func(n at) { n.s.AF.IPv4 = n.e[:1] }, true, "takes no bit strings of 256 bits"},
		"an invalid length":    {func(n at) { n.e[0].BSL = 100 }, false, "bitstringlength 100 is not one of"},
		"a length twice":       {func(n at) { n.e[0].BSL = 256 }, false, "two entries of bitstringlength 256"},
		"no labels":            {func(n at) { n.e[0].Size = 0 }, false, "label-range-size of label base 1000 is 0"},
		"labels above 20 bits": {func(n at) { n.e[1].Base = 1<<20 - 7 }, false, "are not within 0..1048575"},
		"the last labels":      {func(n at) { n.e[1].Base = 1<<20 - 8 }, false, ""},
		"reserved labels":      {func(n at) { n.e[0].Base = 15 }, true, "reach into the reserved labels"},
		"labels overlap":       {func(n at) { n.e[1].Base = 1007 }, false, "labels 1007..1014 overlap 1000..1007"},
		"labels meet":          {func(n at) { n.e[1].Base = 1008 }, false, ""},
	} {
		n := router("a", 1)
		g := &n.Params.Domains[0].Global
		x.change(at{g, &g.SubDomains[0], g.SubDomains[0].AF.IPv4})
		found := CheckNode(n)
		ok := x.want == "" && len(found) == 0
		for _, p := range found {
			ok = ok || x.want != "" && strings.Contains(p.Text, x.want) && p.Warning == x.warning
		}
		if !ok {
			t.Errorf("%s: %v, want %q", name, found, x.want)
		}
	}
}

// A router knows no domains: the same sub-domain in two of them is a warning.
func TestSubDomainOfTwoDomains(t *testing.T) {
	n := router("a", 1)
	second := n.Params.Domains[0]
	second.ID = 2
	second.Global.SubDomains = []bier.SubDomain{{ID: 1, IGP: "ISIS", AF: bier.AF{IPv4: []bier.Encapsulation{{BSL: 256, Base: 9000, Size: 8}}}}}
	n.Params.Domains = append(n.Params.Domains, second)
	if found := CheckNode(n); len(found) != 1 || !found[0].Warning || !strings.Contains(found[0].Text, "is in sub-domain 1 of domain 1 too") {
		t.Error(found)
	}
}

// Two nodes that share a bfr-id or a prefix are found whatever the order and the number of
// nodes, and nothing else is: compared with looking at all pairs.
func TestIndexFindsAllConflicts(t *testing.T) {
	for seed := range int64(200) {
		r := rand.New(rand.NewSource(seed))
		top := &bier.Topology{Domains: []bier.Domain{{ID: 1, SubDomains: []bier.SubDomainRef{{ID: 0}, {ID: 1}}}}}
		for i := range 2 + r.Intn(20) {
			n := router(fmt.Sprintf("n%02d", i), uint16(1+r.Intn(30)))
			n.Params.Domains[0].Global.IPv4Prefix = fmt.Sprintf("10.0.0.%d/32", r.Intn(40))
			top.Nodes = append(top.Nodes, *n)
		}
		want := 0
		for i := range top.Nodes {
			ids, prefixes := false, false
			for j := range i {
				a, b := top.Nodes[i].Params.Domains[0].Global, top.Nodes[j].Params.Domains[0].Global
				ids, prefixes = ids || *a.BFRID == *b.BFRID, prefixes || a.IPv4Prefix == b.IPv4Prefix
			}
			for _, found := range []bool{ids, prefixes} {
				if found {
					want++
				}
			}
		}
		got := 0
		for _, p := range Problems(top) {
			if strings.Contains(p.Text, "is node n") {
				got++
			}
		}
		if got != want {
			t.Fatalf("seed %d: %d conflicts, want %d: %v", seed, got, want, Problems(top))
		}
	}
}

// Members of a sub-domain that announce it otherwise do not hear each other.
func TestMembersThatDiffer(t *testing.T) {
	a, b := router("a", 1), router("b", 2)
	b.Params.Domains[0].Global.SubDomains[0].MT = id[uint16](2)
	x := NewIndex()
	x.Put(a)
	if found := x.Check(b); len(found) != 1 || !found[0].Warning || !strings.Contains(found[0].Text, "routers ignore each other") {
		t.Error(found)
	}
	b.Params.Domains[0].Global.SubDomains[0].MT = id[uint16](0) // is the default
	if found := x.Check(b); len(found) != 0 {
		t.Error(found)
	}
}

func BenchmarkUniqueBFRID(b *testing.B) {
	for _, n := range []int{100, 65534} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := NewIndex()
			node := func(i int) *bier.Node {
				return &bier.Node{ID: fmt.Sprint(i), Params: bier.NodeParams{Domains: []bier.NodeDomain{{ID: 1, Global: bier.Global{
					BFRID: id(uint16(i)), SubDomains: []bier.SubDomain{{ID: 1}}}}}}}
			}
			for i := range n {
				x.Put(node(i + 1))
			}
			one := node(65535)
			for b.Loop() {
				if len(x.Check(one)) != 0 {
					b.Fatal("conflict")
				}
			}
		})
	}
}
