package discovery

import (
	"net/netip"
	"strings"

	"ctl.internal/plugins/switch/mib"
)

// index finds switches by what their neighbours report.
type index struct {
	obs []*Observation
	// The ways to find a switch, strongest first; each maps an identifier to the
	// switches that have it.
	byChassis map[string][]int // lldpLocChassisId with its subtype
	byMAC     map[mib.MAC][]int
	byAddress map[netip.Addr][]int
	bySysName map[string][]int
	byDevice  map[string][]int // cdpGlobalDeviceId
	byNode    map[string]int   // NodeID
	// Addresses of ports, made when first asked for: most networks never need them.
	byPortMAC map[mib.MAC][]int // lldpLocPortId that is an address
	byIfMAC   map[mib.MAC][]int
}

func newIndex(obs []*Observation) *index {
	x := &index{
		obs:       obs,
		byChassis: map[string][]int{},
		byMAC:     map[mib.MAC][]int{},
		byAddress: map[netip.Addr][]int{},
		bySysName: map[string][]int{},
		byDevice:  map[string][]int{},
		byNode:    map[string]int{},
	}
	for i, o := range obs {
		x.byNode[NodeID(o.Node)] = i
		if !isAnonymousChassis(o.Chassis) {
			appendIndex(x.byChassis, chassisKey(o.Chassis), i)
			putMAC(x.byMAC, mib.MACOf(o.Chassis.ID), i)
		}
		putMAC(x.byMAC, o.Node, i)
		putMAC(x.byMAC, o.Bridge, i)
		if isDeviceAddress(o.Address) {
			appendIndex(x.byAddress, o.Address.Unmap(), i)
		}
		if s := foldText(o.Device); s != "" {
			appendIndex(x.byDevice, s, i)
		}
		if s := foldText(o.SysName); s != "" {
			appendIndex(x.bySysName, s, i)
			if host := hostOf(s); host != s {
				appendIndex(x.bySysName, host, i)
			}
		}
	}
	return x
}

// portMACs makes the index of the ports' addresses.
func (x *index) portMACs() {
	if x.byPortMAC != nil {
		return
	}
	x.byPortMAC, x.byIfMAC = map[mib.MAC][]int{}, map[mib.MAC][]int{}
	for i, o := range x.obs {
		for _, p := range o.Ports {
			putMAC(x.byPortMAC, mib.MACOf(p.LLDP.ID), i)
			putMAC(x.byIfMAC, p.MAC, i)
		}
	}
}

func appendIndex[K comparable](m map[K][]int, k K, i int) {
	if l := m[k]; len(l) == 0 || l[len(l)-1] != i {
		m[k] = append(l, i)
	}
}

// putMAC leaves out what cannot identify anyone: zero and group addresses.
func putMAC(m map[mib.MAC][]int, mac mib.MAC, i int) {
	if mac.Unicast() {
		appendIndex(m, mac, i)
	}
}

// hostOf is a name without the domain that some devices add to it.
func hostOf(name string) string {
	host, _, _ := strings.Cut(name, ".")
	return host
}

// foldText makes texts comparable.
func foldText(s string) string {
	return strings.ToLower(strings.TrimSpace(s))
}

func chassisKey(c Identifier) string {
	m := mib.MACOf(c.ID)
	if m != 0 && (c.Subtype == chassisMAC || c.Subtype == 0) {
		return "\x04" + m.String()
	}
	if c.Subtype == chassisAddress {
		return "\x05" + string(c.ID)
	}
	return string(rune(c.Subtype)) + comparableID(c.ID)
}

// idText is the comparable form of a port id: an address in its usual form, text
// without trailing NULs, blanks and case, else octets.
func idText(id Identifier) string {
	m := mib.MACOf(id.ID)
	if m != 0 && (id.Subtype == portMAC || id.Subtype == 0) {
		return m.String()
	}
	return comparableID(id.ID)
}

// addressOfChassis reads a chassis id of subtype 5: the IANA address family, then octets.
func addressOfChassis(c Identifier) (netip.Addr, bool) {
	if c.Subtype != chassisAddress || len(c.ID) < 5 {
		return netip.Addr{}, false
	}
	a, ok := netip.AddrFromSlice(c.ID[1:])
	return a.Unmap(), ok
}
