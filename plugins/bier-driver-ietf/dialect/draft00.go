package dialect

import (
	"fmt"
	"slices"

	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

func draft00Schema() *schema {
	b := nsBier
	af := func(name string) *schema {
		return list(b, name, "bitstringlength bier-mpls-label-base", leaf(b, "bitstringlength", "", nil),
			leaf(b, "bier-mpls-label-base", "", nil), leaf(b, "bier-mpls-label-range-size", "0", nil))
	}
	return shared(nsRoutingEx, "routing", shared(b, "bier", container(b, "bier-global",
		leaf(b, "encapsulation-type", mpls, identity), leaf(b, "bitstringlength", "", nil), leaf(b, "bfr-id", "0", nil),
		leaf(b, "ipv4-bfr-prefix", "", prefix), leaf(b, "ipv6-bfr-prefix", "", prefix),
		list(b, "sub-domain", "sub-domain-id", leaf(b, "sub-domain-id", "", nil), leaf(b, "igp-type", "", nil), leaf(b, "mt-id", "0", nil),
			leaf(b, "bfr-id", "0", nil), leaf(b, "bitstringlength", "", nil), shared(b, "af", af("ipv4"), af("ipv6"))))))
}

// mpls is the default of encapsulation-type.
const mpls = "bier-encapsulation-mpls"

func writeDraft00(g *bierdriver.Global) (*xmltree.Node, error) {
	b := nsBier
	if e := g.EncapsulationType; e != "" && e != mpls {
		return nil, fmt.Errorf("the router's ietf-bier (2016-07-23) has no encapsulation %s, only %s", e, mpls)
	}
	out := xmltree.New(b, "bier-global", word(b, "encapsulation-type", g.EncapsulationType), bits(b, "bitstringlength", g.Bitstringlength),
		number(b, "bfr-id", g.BfrId), word(b, "ipv4-bfr-prefix", g.Ipv4BfrPrefix), word(b, "ipv6-bfr-prefix", g.Ipv6BfrPrefix))
	for _, s := range g.SubDomains {
		sub := xmltree.New(b, "sub-domain", must(b, "sub-domain-id", s.SubDomainId), word(b, "igp-type", s.IgpType), number(b, "mt-id", s.MtId),
			number(b, "bfr-id", s.BfrId), bits(b, "bitstringlength", s.Bitstringlength))
		if af := xmltree.New(b, "af", slices.Concat(writeEncapsulations("ipv4", s.Ipv4), writeEncapsulations("ipv6", s.Ipv6))...); len(af.Kids) > 0 {
			sub.Add(af)
		}
		out.Add(sub)
	}
	if len(out.Kids) == 0 { // a container without content does not exist
		return nil, nil
	}
	return xmltree.New(nsRoutingEx, "routing", xmltree.New(b, "bier", out)), nil
}

func writeEncapsulations(name string, l []*bierdriver.Encapsulation) []*xmltree.Node {
	var out []*xmltree.Node
	for _, e := range l {
		out = append(out, xmltree.New(nsBier, name, must(nsBier, "bitstringlength", e.Bitstringlength),
			must(nsBier, "bier-mpls-label-base", e.BierMplsLabelBase), number(nsBier, "bier-mpls-label-range-size", e.BierMplsLabelRangeSize)))
	}
	return out
}

func readDraft00(data *xmltree.Node) (*bierdriver.Global, error) {
	n := data.Kid(nsRoutingEx, "routing").Kid(nsBier, "bier").Down("bier-global")
	if n == nil {
		return nil, nil
	}
	r := &reader{}
	g := &bierdriver.Global{EncapsulationType: identity(n.Value("encapsulation-type")), Bitstringlength: r.bits(n, "bitstringlength"),
		BfrId: r.number(n, "bfr-id", 65535), Ipv4BfrPrefix: n.Value("ipv4-bfr-prefix"), Ipv6BfrPrefix: n.Value("ipv6-bfr-prefix")}
	for _, k := range n.All(nsBier, "sub-domain") {
		g.SubDomains = append(g.SubDomains, &bierdriver.SubDomain{SubDomainId: r.number(k, "sub-domain-id", 65535), IgpType: k.Value("igp-type"),
			MtId: r.number(k, "mt-id", 65535), BfrId: r.number(k, "bfr-id", 65535), Bitstringlength: r.bits(k, "bitstringlength"),
			Ipv4: r.encapsulations(k, "ipv4"), Ipv6: r.encapsulations(k, "ipv6")})
	}
	return g, r.err
}

func (r *reader) encapsulations(sub *xmltree.Node, name string) []*bierdriver.Encapsulation {
	var out []*bierdriver.Encapsulation
	for _, k := range sub.Down("af").All(nsBier, name) {
		out = append(out, &bierdriver.Encapsulation{Bitstringlength: r.bits(k, "bitstringlength"),
			BierMplsLabelBase: r.number(k, "bier-mpls-label-base", 1<<20-1), BierMplsLabelRangeSize: r.number(k, "bier-mpls-label-range-size", 255)})
	}
	return out
}
