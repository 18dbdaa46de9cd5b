package dialect

import (
	"cmp"
	"fmt"
	"strings"

	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

// In the later drafts a sub-domain is an entry for each address family that has a
// BFR-prefix, and says for itself what bier-global said for all.
func rfc8349Schema() *schema {
	b := nsBier
	encapsulation := newList(b, "encapsulation", "bsl encapsulation-type", newLeaf(b, "bsl", "", nil), newLeaf(b, "encapsulation-type", "", stripIdentityPrefix),
		newLeaf(b, "max-si", "", nil), newSharedContainer(
			b,
			"in-bift-id",
			newLeaf(b, "in-bift-id-base", "", nil),
		))
	return newSharedContainer(nsRouting, "routing", newSharedContainer(b, "bier", newList(b, "sub-domain", "sub-domain-id address-family", newLeaf(b, "sub-domain-id", "", nil),
		newLeaf(b, "address-family", "", stripIdentityPrefix), newLeaf(b, "bfr-prefix", "", canonicalPrefix), newLeaf(b, "underlay-protocol-type", "", igpTypeOf),
		newLeaf(b, "mt-id", "0", nil), newLeaf(b, "bfr-id", "0", nil), newLeaf(b, "bsl", "", nil), encapsulation)))
}

func writeRFC8349(g *bierdriver.Global) (*xmltree.Node, error) {
	bier := xmltree.New(nsBier, "bier")
	for _, s := range g.SubDomains {
		for _, f := range []struct {
			name, prefix   string
			encapsulations []*bierdriver.Encapsulation
		}{{"ipv4", g.Ipv4BfrPrefix, s.Ipv4}, {"ipv6", g.Ipv6BfrPrefix, s.Ipv6}} {
			if f.prefix != "" || len(f.encapsulations) > 0 {
				n, err := writeFamily(g, s, f.name, f.prefix, f.encapsulations)
				if err != nil {
					return nil, err
				}
				bier.Add(n)
			}
		}
	}
	if len(bier.Kids) == 0 {
		return nil, nil
	}
	return xmltree.New(nsRouting, "routing", bier), nil
}

func writeFamily(
	g *bierdriver.Global,
	s *bierdriver.SubDomain,
	family, prefix string,
	l []*bierdriver.Encapsulation,
) (*xmltree.Node, error) {
	b := nsBier
	out := xmltree.New(b, "sub-domain", requiredNumberLeaf(b, "sub-domain-id", s.SubDomainId), stringLeaf(b, "address-family", family), stringLeaf(b, "bfr-prefix", prefix),
		stringLeaf(
			b,
			"underlay-protocol-type",
			underlayProtocol(s.IgpType),
		), numberLeaf(b, "mt-id", s.MtId), numberLeaf(b, "bfr-id", cmp.Or(s.BfrId, g.BfrId)),
		bitStringLengthLeaf(b, "bsl", cmp.Or(s.Bitstringlength, g.Bitstringlength)))
	seen := map[uint32]bool{} // the list has one entry a length
	for _, e := range l {
		if seen[e.Bitstringlength] {
			return nil, fmt.Errorf(
				"sub-domain %d has two label ranges for %d bits in %s, and the router's ietf-bier has room for one",
				s.SubDomainId,
				e.Bitstringlength,
				family,
			)
		}
		seen[e.Bitstringlength] = true
		n := xmltree.New(
			b,
			"encapsulation",
			bitStringLengthLeaf(b, "bsl", e.Bitstringlength),
			stringLeaf(b, "encapsulation-type", cmp.Or(g.EncapsulationType, mpls)),
		)
		if e.BierMplsLabelRangeSize > 0 {
			n.Add(requiredNumberLeaf(b, "max-si", e.BierMplsLabelRangeSize-1))
		}
		out.Add(n.Add(xmltree.New(
			b,
			"in-bift-id",
			requiredNumberLeaf(b, "in-bift-id-base", e.BierMplsLabelBase),
		)))
	}
	return out, nil
}

// underlayProtocol is an igp-type as the drafts of 2023 write it: IS-IS, OSPF.
func underlayProtocol(igpType string) string {
	if igpType == "ISIS" {
		return "IS-IS"
	}
	return igpType
}

// igpTypeOf is the igp-type of an underlay-protocol-type; earlier drafts have isis and ospf.
func igpTypeOf(v string) string {
	return strings.ToUpper(strings.ReplaceAll(stripIdentityPrefix(v), "-", ""))
}

func readRFC8349(data *xmltree.Node) (*bierdriver.Global, error) {
	list := data.Kid(nsRouting, "routing").Kid(nsBier, "bier").All(nsBier, "sub-domain")
	if len(list) == 0 {
		return nil, nil
	}
	r := &reader{}
	g := &bierdriver.Global{}
	by := map[uint32]*bierdriver.SubDomain{}
	for _, k := range list {
		id := r.readNumber(k, "sub-domain-id", 255)
		s := by[id]
		if s == nil {
			s = &bierdriver.SubDomain{SubDomainId: id}
			by[id] = s
			g.SubDomains = append(g.SubDomains, s)
		}
		s.IgpType, s.MtId = igpTypeOf(k.Value("underlay-protocol-type")), r.readNumber(k, "mt-id", 65535)
		s.BfrId, s.Bitstringlength = r.readNumber(k, "bfr-id", 65535), r.readBitStringLength(k, "bsl")
		var l []*bierdriver.Encapsulation
		for _, e := range k.All(nsBier, "encapsulation") {
			x := &bierdriver.Encapsulation{
				Bitstringlength:   r.readBitStringLength(e, "bsl"),
				BierMplsLabelBase: r.readNumber(e.Down("in-bift-id"), "in-bift-id-base", 1<<20-1),
			}
			if e.Down("max-si") != nil {
				x.BierMplsLabelRangeSize = r.readNumber(e, "max-si", 255) + 1
			}
			g.EncapsulationType = stripIdentityPrefix(e.Value("encapsulation-type"))
			l = append(l, x)
		}
		if stripIdentityPrefix(k.Value("address-family")) == "ipv6" {
			s.Ipv6, g.Ipv6BfrPrefix = l, k.Value("bfr-prefix")
		} else {
			s.Ipv4, g.Ipv4BfrPrefix = l, k.Value("bfr-prefix")
		}
	}
	return g, r.err
}
