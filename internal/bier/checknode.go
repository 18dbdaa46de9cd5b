package bier

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Bounds of the specification and of MPLS (RFC 3032 section 2.1).
const (
	maxSubDomain  = 255
	maxLabel      = 1<<20 - 1
	firstOwnLabel = 16
)

// CheckNode returns what is wrong with a node by itself; what it shares with
// others is for an Index.
func CheckNode(n *Node) []Problem {
	p := &problems{}
	var ranges []labelRange
	taken := map[uint16]uint16{} // sub-domain → domain
	for i := range n.Params.Domains {
		d := &n.Params.Domains[i]
		p.where = fmt.Sprintf("node %s, domain %d", n.ID, d.ID)
		checkGlobal(p, &d.Global)
		for j := range d.Global.SubDomains {
			s := &d.Global.SubDomains[j]
			p.where = fmt.Sprintf("node %s, domain %d, sub-domain %d", n.ID, d.ID, s.ID)
			if other, ok := taken[s.ID]; ok {
				p.warn("the node is in sub-domain %d of domain %d too; a router knows no domains, so only the first is written to it", s.ID, other)
			} else {
				taken[s.ID] = d.ID
			}
			checkSubDomain(p, d, s)
			ranges = checkLabels(p, d, s, ranges)
		}
	}
	return p.list
}

func checkGlobal(p *problems, g *Global) {
	if g.BSL == 0 {
		p.err("bitstringlength is missing")
	}
	switch {
	case g.BFRID == nil:
		p.err("bfr-id is missing")
	case *g.BFRID == 0:
		p.err("bfr-id 0 is not within 1..65535")
	}
	if g.IPv4Prefix == "" && g.IPv6Prefix == "" {
		p.err("both ipv4-bfr-prefix and ipv6-bfr-prefix are missing; one is needed")
	}
	checkPrefix(p, "ipv4-bfr-prefix", g.IPv4Prefix, true)
	checkPrefix(p, "ipv6-bfr-prefix", g.IPv6Prefix, false)
	if e := bare(g.Encapsulation); e != "" && e != bare(EncapsulationMPLS) {
		p.err("encapsulation-type %s is not known; only %s is", g.Encapsulation, bare(EncapsulationMPLS))
	}
}

// bare takes the module's name off an identity.
func bare(identity string) string { return identity[strings.LastIndexByte(identity, ':')+1:] }

func checkPrefix(p *problems, name, text string, v4 bool) {
	if text == "" {
		return
	}
	x, err := netip.ParsePrefix(text)
	if err != nil || x.Addr().Is4() != v4 {
		p.err("%s %q is not an address with a prefix length", name, text)
		return
	}
	if a := x.Addr(); a.IsMulticast() || a.IsUnspecified() {
		p.err("%s %s is no address of a router", name, text)
	} else if !x.IsSingleIP() {
		p.warn("%s %s is no host route; routers ignore a BFR-prefix other than /%d", name, text, a.BitLen())
	}
}

func checkSubDomain(p *problems, d *NodeDomain, s *SubDomain) {
	if s.ID > maxSubDomain {
		p.err("sub-domain-id %d is not within 0..%d", s.ID, maxSubDomain)
	}
	switch s.IGP {
	case "OSPF", "ISIS":
	case "":
		p.err("igp-type is missing")
	default:
		p.err("igp-type %q is neither OSPF nor ISIS", s.IGP)
	}
	mpls := d.Global.Encapsulation != "" && bare(d.Global.Encapsulation) == bare(EncapsulationMPLS)
	if mpls && len(s.AF.IPv4)+len(s.AF.IPv6) == 0 {
		p.err("af is missing: the encapsulation %s needs label ranges", bare(EncapsulationMPLS))
	}
	if b, id := Imposition(d, s), BFRID(d, s); b != 0 && id != 0 && b.SI(id) > MaxSI {
		p.err("bfr-id %d is in set %d of bitstringlength %d; sets above %d cannot be announced", id, b.SI(id), b, MaxSI)
	}
	if all := Disposition(d, s); len(all) > 0 && !slices.Contains(all, 256) {
		p.warn("the node takes no bit strings of 256 bits (only %v), as every router must (RFC 8401 section 4)", all)
	}
}
