package bier

import "fmt"

// labelRange is a range of labels and where it stands.
type labelRange struct {
	first, last uint32
	where       string
}

// checkLabels checks the label ranges of a sub-domain, also against those of the
// node before it, and returns all of them.
func checkLabels(p *problems, d *NodeDomain, s *SubDomain, before []labelRange) []labelRange {
	id := BFRID(d, s)
	for _, family := range []struct {
		name string
		list []Encapsulation
	}{{"ipv4", s.AF.IPv4}, {"ipv6", s.AF.IPv6}} {
		lengths := map[uint16]bool{}
		for _, e := range family.list {
			where := fmt.Sprintf("domain %d, sub-domain %d, %s, bitstringlength %d", d.ID, s.ID, family.name, e.BSL)
			if !BSL(e.BSL).Valid() {
				p.err("%s: bitstringlength %d is none of %v", family.name, e.BSL, BSLs)
				continue
			}
			if lengths[e.BSL] {
				p.err("%s has two entries of bitstringlength %d; delete one with delete-%s", family.name, e.BSL, family.name)
			}
			lengths[e.BSL] = true
			if e.Size == 0 {
				p.err("%s: bier-mpls-label-range-size of label base %d is 0", family.name, e.Base)
				continue
			}
			r := labelRange{e.Base, e.Base + uint32(e.Size) - 1, where}
			if e.Base > maxLabel || r.last > maxLabel {
				p.err("%s: labels %d..%d are not within 0..%d", family.name, r.first, r.last, maxLabel)
				continue
			}
			if r.first < firstOwnLabel {
				p.warn("%s: labels %d..%d reach into the reserved labels 0..%d", family.name, r.first, r.last, firstOwnLabel-1)
			}
			if need := BSL(e.BSL).Labels(id); int(e.Size) < need {
				p.warn("%s: %d labels from %d are too few: bfr-id %d needs %d at bitstringlength %d", family.name, e.Size, e.Base, id, need, e.BSL)
			}
			for _, o := range before {
				if r.first <= o.last && o.first <= r.last {
					p.err("%s: labels %d..%d overlap %d..%d of %s", family.name, r.first, r.last, o.first, o.last, o.where)
				}
			}
			before = append(before, r)
		}
	}
	return before
}
