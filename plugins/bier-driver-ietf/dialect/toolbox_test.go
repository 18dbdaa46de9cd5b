package dialect

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

// ring is a router of the guide: two sub-domains, both families, two channels.
func ring() *bierdriver.Config {
	return &bierdriver.Config{
		Global: &bierdriver.Global{EncapsulationType: mpls, Bitstringlength: 256, BfrId: 3, Ipv4BfrPrefix: "192.0.2.3/32", Ipv6BfrPrefix: "2001:db8::3/128",
			SubDomains: []*bierdriver.SubDomain{
				{SubDomainId: 0, IgpType: "ISIS", Ipv4: []*bierdriver.Encapsulation{{Bitstringlength: 256, BierMplsLabelBase: 1000, BierMplsLabelRangeSize: 4}},
					Ipv6: []*bierdriver.Encapsulation{{Bitstringlength: 64, BierMplsLabelBase: 2000, BierMplsLabelRangeSize: 16}}},
				{SubDomainId: 5, IgpType: "OSPF", MtId: 2, BfrId: 77, Bitstringlength: 64},
			}},
		Channels: []*bierdriver.Channel{
			{SourceAddress: "10.1.1.1", SourceWildcard: 32, GroupAddress: "232.0.0.1", GroupWildcard: 32, SubDomain: 0, IngressBfrId: 3, EgressBfrIds: []uint32{1, 2}, Role: bierdriver.Ingress},
			{SourceAddress: "2001:db8::1", SourceWildcard: 128, GroupAddress: "ff3e::1", GroupWildcard: 128, SubDomain: 5, IngressBfrId: 9, EgressBfrIds: []uint32{77}, Role: bierdriver.Egress},
		},
	}
}

// some is a random configuration, of few values, so that two have much in common.
func some(r *rand.Rand) *bierdriver.Config {
	c := &bierdriver.Config{}
	if r.IntN(6) > 0 {
		g := &bierdriver.Global{EncapsulationType: mpls, Bitstringlength: 64 << r.IntN(3), BfrId: uint32(r.IntN(3)), Ipv4BfrPrefix: "192.0.2.1/32"}
		if r.IntN(2) > 0 {
			g.Ipv6BfrPrefix = "2001:db8::" + strconv.Itoa(1+r.IntN(3)) + "/128"
		}
		for id := range uint32(3) {
			if r.IntN(3) == 0 {
				continue
			}
			s := &bierdriver.SubDomain{SubDomainId: id, IgpType: []string{"ISIS", "OSPF"}[r.IntN(2)], MtId: uint32(r.IntN(2)), BfrId: uint32(r.IntN(3))}
			for i := range r.IntN(3) {
				s.Ipv4 = append(s.Ipv4, &bierdriver.Encapsulation{Bitstringlength: 64 << i, BierMplsLabelBase: uint32(100 + r.IntN(2)*50), BierMplsLabelRangeSize: uint32(1 + r.IntN(3))})
			}
			g.SubDomains = append(g.SubDomains, s)
		}
		c.Global = g
	}
	for i := range 4 {
		if r.IntN(2) == 0 {
			continue
		}
		x := &bierdriver.Channel{SourceAddress: "10.0.0." + strconv.Itoa(i), SourceWildcard: 32, GroupAddress: "232.0.0.1", GroupWildcard: 32,
			SubDomain: uint32(r.IntN(2)), IngressBfrId: uint32(1 + r.IntN(3))}
		for id := range uint32(5) {
			if r.IntN(2) > 0 {
				x.EgressBfrIds = append(x.EgressBfrIds, id+1)
			}
		}
		c.Channels = append(c.Channels, x)
	}
	slices.SortFunc(c.Channels, func(a, b *bierdriver.Channel) int {
		return slices.Compare([]byte(a.SourceAddress), []byte(b.SourceAddress))
	})
	return c
}

func mustNew(t *testing.T, name string) *Dialect {
	t.Helper()
	d, err := New(name, true)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustWant(t *testing.T, d *Dialect, c *bierdriver.Config) *xmltree.Node {
	t.Helper()
	n, err := d.Want(c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
