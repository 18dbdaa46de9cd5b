package discovery

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The values of ifType (IANAifType-MIB) that are ports of a switch.
const (
	ethernet    = 6
	propVirtual = 53
	lag         = 161
)

var ethernets = []int32{ethernet, 26, 62, 69, 117} // the others are old forms of it

// portChannel is how Cisco names aggregates, whose type is propVirtual as that of VLANs.
var portChannel = regexp.MustCompile(`(?i)^po(rt-channel)?[0-9]+$`)

// isPort reports whether an interface is a port: Ethernet, or an aggregate of links. names
// are those of all interfaces: "ethernet-1/1.10" and "ae0:3" are parts of a port. Some agents give type
// Ethernet to interfaces of IP, too.
func (f *Interface) isPort(names map[string]bool) bool {
	name := cmp.Or(f.Name, f.Descr)
	i := strings.LastIndexAny(name, ".:")
	if i >= 0 && names[name[:i]] {
		return false
	}
	switch {
	case slices.Contains(ethernets, f.Type), f.Type == lag:
		return !strings.HasPrefix(strings.ToLower(name), "vlan")
	case f.Type == propVirtual:
		return portChannel.MatchString(name)
	}
	return false
}

// Stack is ifStackTable (IF-MIB): the interfaces directly below one, by its ifIndex.
type Stack map[uint32][]uint32

// Aggregates gives each port the aggregate above it. There may be interfaces of other types
// between the two; a port below several aggregates is in none that is known.
func (s Stack) Aggregates(o *Observation, types map[uint32]int32) {
	ports := map[uint32]*Port{}
	for i := range o.Ports {
		ports[o.Ports[i].IfIndex] = &o.Ports[i]
	}
	several := map[*Port]bool{}
	for whole := range s {
		p := ports[whole]
		if types[whole] != lag &&
			(types[whole] != propVirtual || p == nil || !portChannel.MatchString(p.Name)) {
			continue
		}
		seen := map[uint32]bool{whole: true}
		for todo := slices.Clone(s[whole]); len(todo) > 0; todo = todo[1:] {
			below := todo[0]
			p := ports[below]
			if p != nil && slices.Contains(ethernets, types[below]) {
				several[p] = several[p] || p.Aggregate != 0 && p.Aggregate != whole
				p.Aggregate = whole
			} else if !seen[below] && types[below] != lag {
				todo = append(todo, s[below]...)
			}
			seen[below] = true
		}
	}
	for p := range several {
		if several[p] {
			p.Aggregate = 0
		}
	}
}

// addInterfaces adds the ports that the bridge does not list.
func (a *assembler) addInterfaces() {
	names := map[string]bool{}
	for _, f := range a.Interfaces {
		if f.Type != 0 {
			names[f.Name], names[f.Descr] = true, true
		}
	}
	if len(names) == 0 {
		return
	}
	for _, ix := range slices.Sorted(maps.Keys(a.Interfaces)) {
		f := a.Interfaces[ix]
		_, there := a.byIfIndex[ix]
		if !there && f.isPort(names) {
			a.addPort(PortNumber(ix, a.BasePorts), ix, false)
		}
	}
}

// clash is added to the ifIndex of a port as long as its number is another port's.
const clash = 10000

// PortNumber is the number of a port that the bridge does not list: its ifIndex, or one
// made of it where that is the number of a port of the bridge.
func PortNumber(ifIndex uint32, basePorts map[uint32]uint32) uint32 {
	for n := ifIndex; ; n += clash {
		if _, taken := basePorts[n]; !taken {
			return n
		}
	}
}
