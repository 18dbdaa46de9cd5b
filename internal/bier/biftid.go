package bier

import "slices"

// BIFTID is the first field of the header of packets for a member (RFC 8296 section 2.1.1):
// with MPLS the label that the member announces for a set, IPv4's where both families have
// one; with any other encapsulation the number that is the same in the whole domain, coded
// from length, sub-domain and set (draft-ietf-bier-non-mpls-bift-encoding-04). False: it
// has none for that set.
func BIFTID(d *NodeDomain, s *SubDomain, b BSL, si int) (uint32, bool) {
	if !MPLS(d) {
		return uint32(slices.Index(BSLs, b)+1)<<16 | uint32(s.ID)<<8 | uint32(si), b.Valid() && s.ID <= MaxSI && si <= MaxSI
	}
	for _, e := range slices.Concat(s.AF.IPv4, s.AF.IPv6) {
		if BSL(e.BSL) == b && si < int(e.Size) {
			return e.Base + uint32(si), true
		}
	}
	return 0, false
}

// MPLS reports whether a node's encapsulation in a domain is MPLS, which is the default.
func MPLS(d *NodeDomain) bool {
	return d.Global.Encapsulation == "" || LocalName(d.Global.Encapsulation) == LocalName(EncapsulationMPLS)
}
