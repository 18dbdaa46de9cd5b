package bier

import "slices"

// BFRID is the BFR-id that counts in a sub-domain: its own, or, when that is not
// given or 0, the domain's. 0 = none.
func BFRID(d *NodeDomain, s *SubDomain) uint16 {
	if s != nil && s.BFRID != nil && *s.BFRID != 0 {
		return *s.BFRID
	}
	if d != nil && d.Global.BFRID != nil {
		return *d.Global.BFRID
	}
	return 0
}

// Imposition is the length of the bit strings that a node makes as ingress of a
// sub-domain, 0 = not given.
func Imposition(d *NodeDomain, s *SubDomain) BSL {
	if s.BSL != 0 {
		return s.BSL
	}
	return d.Global.BSL
}

// Disposition are the lengths that a node takes in a sub-domain: those it has
// labels for, or, with no labels at all, the one it makes.
func Disposition(d *NodeDomain, s *SubDomain) []BSL {
	var out []BSL
	for _, e := range slices.Concat(s.AF.IPv4, s.AF.IPv6) {
		if !slices.Contains(out, BSL(e.BSL)) {
			out = append(out, BSL(e.BSL))
		}
	}
	if b := Imposition(d, s); len(out) == 0 && b != 0 {
		out = append(out, b)
	}
	slices.Sort(out)
	return out
}
