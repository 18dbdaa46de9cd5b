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
		return newList(b, name, "bitstringlength bier-mpls-label-base", newLeaf(b, "bitstringlength", "", nil),
			newLeaf(b, "bier-mpls-label-base", "", nil), newLeaf(b, "bier-mpls-label-range-size", "0", nil))
	}
	return newSharedContainer(nsRoutingEx, "routing", newSharedContainer(b, "bier", newContainer(b, "bier-global",
		newLeaf(
			b,
			"encapsulation-type",
			mpls,
			stripIdentityPrefix,
		), newLeaf(b, "bitstringlength", "", nil), newLeaf(b, "bfr-id", "0", nil),
		newLeaf(b, "ipv4-bfr-prefix", "", canonicalPrefix), newLeaf(b, "ipv6-bfr-prefix", "", canonicalPrefix),
		newList(b, "sub-domain", "sub-domain-id", newLeaf(b, "sub-domain-id", "", nil), newLeaf(b, "igp-type", "", nil), newLeaf(b, "mt-id", "0", nil),
			newLeaf(b, "bfr-id", "0", nil), newLeaf(b, "bitstringlength", "", nil), newSharedContainer(b, "af", af("ipv4"), af("ipv6"))))))
}

// mpls is the default of encapsulation-type.
const mpls = "bier-encapsulation-mpls"

func writeDraft00(g *bierdriver.Global) (*xmltree.Node, error) {
	b := nsBier
	if e := g.EncapsulationType; e != "" && e != mpls {
		return nil, fmt.Errorf(
			"the router's ietf-bier (2016-07-23) has no encapsulation %s, only %s",
			e,
			mpls,
		)
	}
	out := xmltree.New(b, "bier-global", stringLeaf(b, "encapsulation-type", g.EncapsulationType), bitStringLengthLeaf(b, "bitstringlength", g.Bitstringlength),
		numberLeaf(b, "bfr-id", g.BfrId), stringLeaf(b, "ipv4-bfr-prefix", g.Ipv4BfrPrefix), stringLeaf(b, "ipv6-bfr-prefix", g.Ipv6BfrPrefix))
	for _, s := range g.SubDomains {
		sub := xmltree.New(b, "sub-domain", requiredNumberLeaf(b, "sub-domain-id", s.SubDomainId), stringLeaf(b, "igp-type", s.IgpType), numberLeaf(b, "mt-id", s.MtId),
			numberLeaf(b, "bfr-id", s.BfrId), bitStringLengthLeaf(b, "bitstringlength", s.Bitstringlength))
		af := xmltree.New(b, "af", slices.Concat(
			writeEncapsulations("ipv4", s.Ipv4),
			writeEncapsulations("ipv6", s.Ipv6),
		)...)
		if len(af.Kids) > 0 {
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
		out = append(out, xmltree.New(nsBier, name, requiredNumberLeaf(nsBier, "bitstringlength", e.Bitstringlength),
			requiredNumberLeaf(
				nsBier,
				"bier-mpls-label-base",
				e.BierMplsLabelBase,
			), numberLeaf(nsBier, "bier-mpls-label-range-size", e.BierMplsLabelRangeSize)))
	}
	return out
}

func readDraft00(data *xmltree.Node) (*bierdriver.Global, error) {
	n := data.Kid(nsRoutingEx, "routing").Kid(nsBier, "bier").Down("bier-global")
	if n == nil {
		return nil, nil
	}
	r := &reader{}
	g := &bierdriver.Global{
		EncapsulationType: stripIdentityPrefix(n.Value("encapsulation-type")),
		Bitstringlength:   r.readBitStringLength(n, "bitstringlength"),
		BfrId:             r.readNumber(n, "bfr-id", 65535),
		Ipv4BfrPrefix:     n.Value("ipv4-bfr-prefix"),
		Ipv6BfrPrefix:     n.Value("ipv6-bfr-prefix"),
	}
	for _, k := range n.All(nsBier, "sub-domain") {
		g.SubDomains = append(g.SubDomains, &bierdriver.SubDomain{
			SubDomainId:     r.readNumber(k, "sub-domain-id", 65535),
			IgpType:         k.Value("igp-type"),
			MtId:            r.readNumber(k, "mt-id", 65535),
			BfrId:           r.readNumber(k, "bfr-id", 65535),
			Bitstringlength: r.readBitStringLength(k, "bitstringlength"),
			Ipv4:            r.readEncapsulations(k, "ipv4"),
			Ipv6:            r.readEncapsulations(k, "ipv6"),
		})
	}
	return g, r.err
}

func (r *reader) readEncapsulations(sub *xmltree.Node, name string) []*bierdriver.Encapsulation {
	var out []*bierdriver.Encapsulation
	for _, k := range sub.Down("af").All(nsBier, name) {
		out = append(out, &bierdriver.Encapsulation{
			Bitstringlength:        r.readBitStringLength(k, "bitstringlength"),
			BierMplsLabelBase:      r.readNumber(k, "bier-mpls-label-base", 1<<20-1),
			BierMplsLabelRangeSize: r.readNumber(k, "bier-mpls-label-range-size", 255),
		})
	}
	return out
}
