package discovery

import (
	"fmt"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/mib"
)

// Parallel reports whether two ports have the same neighbour: they may be members of an
// aggregate.
func (o *Observation) Parallel() bool {
	at := map[string]string{}
	for _, n := range o.Neighbors {
		k := chassisKey(n.Chassis)
		old, there := at[k]
		if there && old != n.LocalPort && len(n.Chassis.ID) > 0 {
			return true
		}
		at[k] = n.LocalPort
	}
	return false
}

// aggregateMembers puts the members of an aggregate in its place: what a member announces may be the
// aggregate's port id.
func (b *builder) aggregateMembers(i int, ports []int) []int {
	if len(ports) != 1 {
		return ports
	}
	all := b.obs[i].Ports
	whole := all[ports[0]].IfIndex
	in := portsWhere(all, func(p *Port) bool {
		return whole != 0 && p.Aggregate == whole && p.IfIndex != whole
	})
	if len(in) > 0 {
		return in
	}
	return ports
}

// loosenSights are sights of which several name one port, at which the other end sees nothing:
// that is an aggregate, and each may mean any port at which the other end sees this one.
func loosenSights(mine, theirs []sight) []sight {
	at := portsOf(theirs)
	if len(at) < 2 {
		return mine
	}
	out := slices.Clone(mine)
	for i, s := range mine {
		if s.isExact() && !slices.Contains(at, s.ports[0]) && slices.ContainsFunc(mine, func(o sight) bool {
			return o.port != s.port && o.isExact() && o.ports[0] == s.ports[0]
		}) {
			out[i].ports = at
		}
	}
	return out
}

// addBundles makes edges of what is left of two switches' sights of each other: several ports
// of each, in equal number, that may each be joined with any of the other's. If those of
// one end are members of one aggregate, and those of the other not of several, they are one
// link; else it is only sure that they join the two switches. Sights whose ports stay
// unknown are returned.
func (b *builder) addBundles(
	i, j int,
	mine, theirs []sight,
	taken map[End]bool,
) (lostMine, lostTheirs []sight) {
	for len(mine) > 0 {
		m, t, restMine, restTheirs := clusterSights(mine, theirs)
		x, y := portsOf(m), portsOf(t)
		named := slices.ContainsFunc(append(slices.Clone(m), t...), func(s sight) bool {
			return s.byName
		})
		bundle := len(x) >= 2 && len(x) == len(y) && !named
		if !bundle || !b.addBundle(i, j, x, y, m[0].row.Protocol) {
			lostMine, lostTheirs = append(lostMine, m...), append(lostTheirs, t...)
		}
		if bundle {
			for _, p := range x {
				taken[b.endOf(i, p)] = true
			}
			for _, p := range y {
				taken[b.endOf(j, p)] = true
			}
		}
		mine, theirs = restMine, restTheirs
	}
	return lostMine, append(lostTheirs, theirs...)
}

// clusterSights takes the first sight and all that may be of the same links.
func clusterSights(mine, theirs []sight) (m, t, restMine, restTheirs []sight) {
	m, restMine, restTheirs = mine[:1:1], slices.Clone(mine[1:]), slices.Clone(theirs)
	fits := func(a, c sight) bool { return a.allowsPort(c.port) && c.allowsPort(a.port) }
	move := func(from, to *[]sight, other []sight, fits func(s, o sight) bool) bool {
		n := len(*to)
		*from = slices.DeleteFunc(*from, func(s sight) bool {
			in := slices.ContainsFunc(other, func(o sight) bool { return fits(s, o) })
			if in {
				*to = append(*to, s)
			}
			return in
		})
		return len(*to) > n
	}
	for more := true; more; {
		more = move(&restTheirs, &t, m, func(s, o sight) bool { return fits(o, s) })
		more = move(&restMine, &m, t, fits) || more
	}
	return m, t, restMine, restTheirs
}

// portsOf lists the ports of sights, each once.
func portsOf(sights []sight) (out []int) {
	for _, s := range sights {
		if !slices.Contains(out, s.port) {
			out = append(out, s.port)
		}
	}
	slices.Sort(out)
	return out
}

// commonAggregate is the one that all of the ports are in. 0: they are in none, or not known to
// be in one; several is true if they are in different ones.
func (b *builder) commonAggregate(i int, ports []int) (whole uint32, several bool) {
	whole = b.obs[i].Ports[ports[0]].Aggregate
	for _, p := range ports {
		if b.obs[i].Ports[p].Aggregate != whole {
			return 0, true
		}
	}
	return whole, false
}

// addBundle makes the edge and reports whether it has ports.
func (b *builder) addBundle(i, j int, x, y []int, source string) bool {
	up := func(i int) func(int) bool {
		return func(p int) bool { return !b.isPortDown(i, p) }
	}
	if !slices.ContainsFunc(x, up(i)) && !slices.ContainsFunc(y, up(j)) {
		return true
	}
	aggX, manyX := b.commonAggregate(i, x)
	aggY, manyY := b.commonAggregate(j, y)
	one := (aggX != 0 || aggY != 0) && !manyX && !manyY
	a, namesA := b.bundleEnd(i, x, aggX, one)
	c, namesC := b.bundleEnd(j, y, aggY, one)
	at := olderTime(b.obs[i].Observed, b.obs[j].Observed)
	b.net.Edges = append(b.net.Edges, Edge{
		Tail:        a,
		Head:        c,
		Confirmed:   true,
		TailMembers: namesA,
		HeadMembers: namesC,
		Source:      source,
		Observed:    at,
	},
		Edge{
			Tail:        c,
			Head:        a,
			Confirmed:   true,
			TailMembers: namesC,
			HeadMembers: namesA,
			Source:      source,
			Observed:    at,
		})
	return one
}

// bundleEnd is one end of a bundle: the aggregate if that is a port, else the members'
// names; no port where the links are not known to be one.
func (b *builder) bundleEnd(i int, ports []int, aggregate uint32, one bool) (End, []string) {
	o := b.obs[i]
	names := make([]string, len(ports))
	for k, p := range ports {
		names[k] = o.Ports[p].ID
	}
	e := End{NodeID(o.Node), "", SNMP}
	if one {
		e.Port = strings.Join(names, "+")
		k := slices.IndexFunc(o.Ports, func(p Port) bool {
			return aggregate != 0 && p.IfIndex == aggregate
		})
		if k >= 0 {
			e.Port = o.Ports[k].ID
		}
	}
	return e, names
}

// NotPlaced are the neighbours of a switch that could not be placed, as text, with the reason.
func (n *Network) NotPlaced(m mib.MAC) (out []string) {
	id := NodeID(m)
	for _, u := range n.Unresolved {
		if u.Node == id {
			out = append(out, fmt.Sprintf("port %s: %s: %s", u.Port, u.Neighbor, u.Why))
		}
	}
	return out
}
