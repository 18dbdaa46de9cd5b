package model

import (
	"fmt"
	"net/netip"
	"slices"

	"ctl.internal/internal/bier"
)

// Bounds of the specification and of MPLS (RFC 3032 section 2.1).
const (
	maxSubDomain  = 255
	maxMT         = 1<<12 - 1 // RFC 5120 section 7
	maxLabel      = 1<<20 - 1
	firstOwnLabel = 16
)

// encapsulations are the local names of those there are.
var encapsulations = []string{bier.LocalName(bier.EncapsulationMPLS), bier.EncapsulationEthernet}

// CheckNode returns what is wrong with a node by itself; what it shares with
// others is for an Index.
func CheckNode(n *bier.Node) []Problem {
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
				p.addWarning(
					"the node is in sub-domain %d of domain %d too; a router knows no domains, so only the first is written to it",
					s.ID,
					other,
				)
			} else {
				taken[s.ID] = d.ID
			}
			checkSubDomain(p, d, s)
			ranges = checkLabels(p, d, s, ranges)
		}
	}
	return p.list
}

func checkGlobal(p *problems, g *bier.Global) {
	if g.BSL == 0 {
		p.addError("bitstringlength is missing")
	}
	if g.BFRID != nil && *g.BFRID == 0 {
		p.addError("bfr-id 0 is not within 1..65535; leave it out for a router that only forwards")
	}
	if g.IPv4Prefix == "" && g.IPv6Prefix == "" {
		p.addError("both ipv4-bfr-prefix and ipv6-bfr-prefix are missing; one is needed")
	}
	checkPrefix(p, "ipv4-bfr-prefix", g.IPv4Prefix, true)
	checkPrefix(p, "ipv6-bfr-prefix", g.IPv6Prefix, false)
	e := bier.LocalName(g.Encapsulation)
	if e != "" && !slices.Contains(encapsulations, e) {
		p.addError(
			"encapsulation-type %s is not known; they are %v",
			g.Encapsulation,
			encapsulations,
		)
	}
}

func checkPrefix(p *problems, name, text string, v4 bool) {
	if text == "" {
		return
	}
	x, err := netip.ParsePrefix(text)
	if err != nil || x.Addr().Is4() != v4 {
		p.addError("%s %q is not an address with a prefix length", name, text)
		return
	}
	a := x.Addr()
	if a.IsMulticast() ||
		a.IsUnspecified() ||
		a.IsLoopback() ||
		a.Is4() && (a.As4()[0] == 0 || a.As4()[0] >= 240) {
		p.addError("%s %s is no address of a router", name, text)
	} else if a.IsLinkLocalUnicast() {
		p.addWarning("%s %s is link-local: other routers cannot reach it", name, text)
	} else if !x.IsSingleIP() {
		p.addWarning(
			"%s %s is no host route; routers ignore a BFR-prefix other than /%d",
			name,
			text,
			a.BitLen(),
		)
	}
}

func checkSubDomain(p *problems, d *bier.NodeDomain, s *bier.SubDomain) {
	if s.ID > maxSubDomain {
		p.addError("sub-domain-id %d is not within 0..%d", s.ID, maxSubDomain)
	}
	if s.MT != nil && *s.MT > maxMT {
		p.addError("mt-id %d is not within 0..%d", *s.MT, maxMT)
	}
	switch s.IGP {
	case "OSPF", "ISIS":
	case "":
		p.addError("igp-type is missing")
	default:
		p.addError("igp-type %q is neither OSPF nor ISIS", s.IGP)
	}
	if bier.LocalName(d.Global.Encapsulation) == encapsulations[0] &&
		len(s.AF.IPv4)+len(s.AF.IPv6) == 0 {
		p.addError("af is missing: the encapsulation %s needs label ranges", encapsulations[0])
	}
	if bier.BFRID(d, s) == 0 {
		p.addWarning("bfr-id is missing, here and in the domain: the node only forwards, and cannot be ingress or egress")
	}
	b, id := bier.Imposition(d, s), bier.BFRID(d, s)
	if b != 0 && id != 0 && b.SI(id) > bier.MaxSI {
		p.addError(
			"bfr-id %d is in set %d of bitstringlength %d; sets above %d cannot be announced",
			id,
			b.SI(id),
			b,
			bier.MaxSI,
		)
	}
	all := bier.Disposition(d, s)
	if len(all) > 0 && !slices.Contains(all, 256) {
		p.addWarning(
			"the node takes no bit strings of 256 bits (only %v), as every router must (RFC 8401 section 4)",
			all,
		)
	}
}

// labelRange is a range of labels and where it is configured.
type labelRange struct {
	first, last uint32
	where       string
}

// checkLabels checks the label ranges of a sub-domain, also against those of the
// node before it, and returns all of them.
func checkLabels(
	p *problems,
	d *bier.NodeDomain,
	s *bier.SubDomain,
	before []labelRange,
) []labelRange {
	id := bier.BFRID(d, s)
	for _, family := range []struct {
		name string
		list []bier.Encapsulation
	}{{"ipv4", s.AF.IPv4}, {"ipv6", s.AF.IPv6}} {
		lengths := map[uint16]bool{}
		for _, e := range family.list {
			where := fmt.Sprintf(
				"domain %d, sub-domain %d, %s, bitstringlength %d",
				d.ID,
				s.ID,
				family.name,
				e.BSL,
			)
			if !bier.BSL(e.BSL).Valid() {
				p.addError("%s: bitstringlength %d is not one of %v", family.name, e.BSL, bier.BSLs)
				continue
			}
			if lengths[e.BSL] {
				p.addError(
					"%s has two entries of bitstringlength %d; delete one with delete-%s",
					family.name,
					e.BSL,
					family.name,
				)
			}
			lengths[e.BSL] = true
			if e.Size == 0 {
				p.addError(
					"%s: bier-mpls-label-range-size of label base %d is 0",
					family.name,
					e.Base,
				)
				continue
			}
			r := labelRange{e.Base, e.Base + uint32(e.Size) - 1, where}
			if e.Base > maxLabel || r.last > maxLabel {
				p.addError(
					"%s: labels %d..%d are not within 0..%d",
					family.name,
					r.first,
					r.last,
					maxLabel,
				)
				continue
			}
			if r.first < firstOwnLabel {
				p.addWarning(
					"%s: labels %d..%d reach into the reserved labels 0..%d",
					family.name,
					r.first,
					r.last,
					firstOwnLabel-1,
				)
			}
			if need := labelsNeeded(bier.BSL(e.BSL), id); int(e.Size) < need {
				p.addWarning(
					"%s: %d labels from %d are too few: bfr-id %d needs %d at bitstringlength %d",
					family.name,
					e.Size,
					e.Base,
					id,
					need,
					e.BSL,
				)
			}
			for _, o := range before {
				if r.first <= o.last && o.first <= r.last {
					p.addError(
						"%s: labels %d..%d overlap %d..%d of %s",
						family.name,
						r.first,
						r.last,
						o.first,
						o.last,
						o.where,
					)
				}
			}
			before = append(before, r)
		}
	}
	return before
}

// labelsNeeded is how many labels a sub-domain needs for a length: one for each set up to that
// of the highest BFR-id (RFC 8401 section 6.2).
func labelsNeeded(b bier.BSL, highest uint16) int {
	if highest == 0 {
		return 1
	}
	return b.SI(highest) + 1
}

// Problem is something wrong with what is configured. A warning works, but not
// with every router.
type Problem struct {
	Warning bool
	Where   string // "node 3, domain 1, sub-domain 2"
	Text    string
}

// Error is one line for people.
func (p Problem) Error() string {
	return p.Where + ": " + p.Text
}

// problems collects Problems of one place.
type problems struct {
	where string
	list  []Problem
}

func (p *problems) addError(format string, args ...any) {
	p.list = append(p.list, Problem{
		Where: p.where,
		Text:  fmt.Sprintf(format, args...),
	})
}

func (p *problems) addWarning(format string, args ...any) {
	p.list = append(
		p.list,
		Problem{
			Warning: true,
			Where:   p.where,
			Text:    fmt.Sprintf(format, args...),
		},
	)
}

// firstError returns the first Problem that is more than a warning, nil if none.
func firstError(list []Problem) error {
	for _, p := range list {
		if !p.Warning {
			return p
		}
	}
	return nil
}
