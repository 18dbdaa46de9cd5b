package switchdriver

import (
	"fmt"
	"net/netip"
)

// matches is what a profile masks, or what a rule matches; what it does not is nil or
// empty.
type matches struct {
	vlan     *uint32
	src, dst string
}

// masksOf are the masks of a profile. A mask without bits does not count.
func masksOf(p *ACLProfile) (m matches) {
	if p.GetVlanMask() != 0 {
		m.vlan = p.VlanMask
	}
	for to, mask := range map[*string]string{
		&m.src: p.GetSrcIpMask(),
		&m.dst: p.GetDstIpMask(),
	} {
		a, err := netip.ParseAddr(mask)
		if err != nil || !a.IsUnspecified() {
			*to = mask
		}
	}
	return m
}

// valuesOf are what a rule matches.
func valuesOf(r *ACLRule) (m matches) {
	if r != nil {
		m = matches{r.VlanId, r.SrcIp, r.DstIp}
	}
	return m
}

// firstDifference names the first of the leaves, in the order of matches, that got has
// otherwise, in words that follow "with"; empty if none, or if got has nothing at all.
// Bits outside of the mask do not count.
func (m matches) firstDifference(got, mask matches, leaves [3]string) string {
	if got == (matches{}) {
		return ""
	}
	switch all := ^uint32(0); {
	case got.vlan == nil && m.vlan != nil:
		return "no " + leaves[0]
	case got.vlan != nil && (m.vlan == nil || (*m.vlan^*got.vlan)&valueOr(mask.vlan, all) != 0):
		return fmt.Sprintf("the %s %d (%#x)", leaves[0], *got.vlan, *got.vlan)
	}
	for i, a := range [][3]string{{m.src, got.src, mask.src}, {m.dst, got.dst, mask.dst}} {
		switch {
		case sameAddress(a[0], a[1], a[2]):
		case a[1] == "":
			return "no " + leaves[1+i]
		default:
			return fmt.Sprintf("the %s %.40q", leaves[1+i], a[1])
		}
	}
	return ""
}

func valueOr(v *uint32, none uint32) uint32 {
	if v == nil {
		return none
	}
	return *v
}

// sameAddress compares two IPv4 addresses, under a mask if that is one.
func sameAddress(a, b, mask string) bool {
	x, err1 := netip.ParseAddr(a)
	y, err2 := netip.ParseAddr(b)
	if a == "" || b == "" || err1 != nil || err2 != nil || !x.Is4() || !y.Is4() {
		return a == b
	}
	bits := [4]byte{255, 255, 255, 255}
	m, err := netip.ParseAddr(mask)
	if err == nil && m.Is4() {
		bits = m.As4()
	}
	for i, p := range x.As4() {
		if (p^y.As4()[i])&bits[i] != 0 {
			return false
		}
	}
	return true
}
