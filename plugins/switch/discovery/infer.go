package discovery

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"ctl.internal/plugins/switch/mib"
)

// sightings are the ports at which switches have learned the addresses of others, and of stations that most of them
// know: routers, servers, the controller.
type sightings struct {
	// at[i][j] is the port at which switch i sees switch j; nowhere: at several.
	at []map[int]int
	// stations[m][i] is the port at which switch i sees a station.
	stations map[mib.MAC]map[int]int
	// silent[i] are the ports at which switch i sees switches of the list that have never answered.
	silent []map[mib.MAC]int
	tables int // switches with a forwarding table
	rooted []root
}

// nowhere is the port of an address that was learned at several: it moves, or there is a loop.
const nowhere = -1

// makeSightings makes the sightings of the evidence of all switches.
func (b *builder) makeSightings() *sightings {
	s := &sightings{
		at:       make([]map[int]int, len(b.obs)),
		silent:   make([]map[mib.MAC]int, len(b.obs)),
		stations: map[mib.MAC]map[int]int{},
	}
	own := map[mib.MAC][]int{}
	for i, o := range b.obs {
		if o.Evidence != nil {
			for _, m := range o.Evidence.Self {
				appendIndex(own, m, i)
			}
		}
	}
	for i, o := range b.obs {
		s.at[i], s.silent[i] = map[int]int{}, map[mib.MAC]int{}
		if o.Evidence == nil {
			continue
		}
		for id, macs := range o.Evidence.Silent {
			if port := portOf(o, id); port >= 0 {
				for _, m := range macs {
					noteSighting(s.silent[i], m, port)
				}
			}
		}
		seen := false
		for id, macs := range o.Evidence.Seen {
			port := portOf(o, id)
			if port < 0 {
				continue
			}
			seen = true
			for _, m := range macs {
				found := b.byMAC[m]
				if len(found) == 0 {
					found = own[m]
				}
				switch {
				case len(found) == 0:
					if s.stations[m] == nil {
						s.stations[m] = map[int]int{}
					}
					noteSighting(s.stations[m], i, port)
				case len(found) == 1 && found[0] != i:
					noteSighting(s.at[i], found[0], port)
				}
			}
		}
		if seen {
			s.tables++
		}
	}
	s.findRoots(b.obs)
	return s
}

func noteSighting[K comparable](at map[K]int, who K, port int) {
	if old, twice := at[who]; twice && old != port {
		port = nowhere
	}
	at[who] = port
}

// inferLinks adds links to switches that report no neighbours, from what spanning
// tree and forwarding tables show. Only ports without another link are used,
// and a segment with more than two switches makes no link.
func (b *builder) inferLinks() {
	mute := map[int]bool{}
	for i, o := range b.obs {
		if o.Mute() {
			mute[i] = true
		}
	}
	if len(mute) == 0 {
		return
	}
	in := inference{
		builder: b,
		mute:    mute,
		used:    map[End]bool{},
	}
	for _, e := range b.net.Edges {
		in.markUsed(e.Tail, e.TailMembers) // those of the head are of the edge in the other direction
		in.markUsed(e.Head, nil)
	}
	in.joinSpanningTree()
	done := map[int]bool{}
	for _, r := range in.seen.rooted {
		in.joinBelow(r, done)
		for i := range r.up {
			done[i] = true
		}
	}
}

type inference struct {
	*builder
	mute map[int]bool
	used map[End]bool
}

// markUsed marks a port, those that it represents, and the aggregate that they are in.
func (in *inference) markUsed(e End, members []string) {
	in.used[e] = true
	if e.Kind != SNMP {
		return
	}
	for _, id := range append([]string{e.Port}, members...) {
		in.used[End{e.Node, id, SNMP}] = true
		i, ok := in.byNode[e.Node]
		if !ok {
			continue
		}
		all := in.obs[i].Ports
		p := portOf(in.obs[i], id)
		if p < 0 || all[p].Aggregate == 0 {
			continue
		}
		for _, whole := range portsWhere(all, func(w *Port) bool {
			return w.IfIndex == all[p].Aggregate
		}) {
			in.used[End{e.Node, all[whole].ID, SNMP}] = true
		}
	}
}

// between is two ports that may be joined.
type between struct{ i, a, j, p int }

// joinSpanningTree joins a port with the port its segment's designated bridge sends from.
func (in *inference) joinSpanningTree() {
	claims := map[End][]between{} // by the designated end
	var ends []End
	takes := map[int]bool{} // part in the spanning tree
	for i, o := range in.obs {
		if o.Evidence == nil {
			continue
		}
		for _, d := range o.Evidence.Designated {
			j, ok := in.switchByMAC(d.Bridge)
			a := portOf(o, d.Port)
			if !ok || j == i || a < 0 {
				continue
			}
			takes[i], takes[j] = true, true
			p := in.bridgePort(j, d.FarPort)
			if p < 0 {
				continue
			}
			far := in.endOf(j, p)
			if claims[far] == nil {
				ends = append(ends, far)
			}
			claims[far] = append(claims[far], between{i, a, j, p})
		}
	}
	for _, far := range ends {
		c := claims[far]
		switch w := c[0]; {
		case !slices.ContainsFunc(c, func(w between) bool {
			return in.mute[w.i] || in.mute[w.j]
		}):
		case len(c) > 1:
			in.net.Unresolved = append(in.net.Unresolved, Unresolved{far.Node, far.Port, fmt.Sprintf("%d switches", len(c)),
				"by the spanning tree several switches share the segment of this port"})
			for _, w := range c {
				in.used[in.endOf(w.i, w.a)] = true
			}
			in.used[far] = true
		case !in.passedThrough(w, takes):
			in.joinSwitches(w, STP)
		}
	}
}

// passedThrough reports whether a switch that takes no part in the spanning tree, and passes its frames on, is between
// two: the designated one sees it at the port, and it is not behind the other one.
func (in *inference) passedThrough(w between, takes map[int]bool) bool {
	for k, via := range in.seen.at[w.j] {
		if k == w.i || via != w.p {
			continue
		}
		back, sees := in.seen.at[w.i][k]
		if sees && back == w.a || !sees && !takes[k] {
			return true
		}
	}
	return in.silentBetween(w)
}

// silentBetween reports whether a switch that has never answered may be between two: the upper one sees it at the port,
// and it is not behind the lower one.
func (in *inference) silentBetween(w between) bool {
	for m, via := range in.seen.silent[w.j] {
		if via != w.p {
			continue
		}
		back, sees := in.seen.silent[w.i][m]
		if !sees || back == w.a || back == nowhere {
			return true
		}
	}
	return false
}

// bridgePort finds a port by its number. Before IEEE 802.1D-2004 a number had eight
// bits, and the others were priority.
func (in *inference) bridgePort(j int, number uint32) int {
	for _, n := range []uint32{number, number & 0xff} {
		p := slices.IndexFunc(in.obs[j].Ports, func(p Port) bool {
			return p.Bridged && p.Number == n
		})
		if p >= 0 {
			return p
		}
	}
	return -1
}

// maxRoots is how many stations and switches the forwarding tables are looked at from.
const maxRoots = 8

// root is where the forwarding tables are looked at from: the port of each switch that leads there. The root itself, if
// it is a switch, has none.
type root struct {
	name string
	self int // nowhere: it is no switch of the list
	up   map[int]int
	// passed is how many addresses of switches were seen on the way to it.
	passed int
}

// findRoots finds those to which most of what the switches send goes, the first ones first: only there does a switch see all
// that is behind it.
func (s *sightings) findRoots(obs []*Observation) {
	for m, up := range s.stations {
		s.rooted = append(s.rooted, root{m.String(), nowhere, up, 0})
	}
	sees := map[int]map[int]int{}
	for i, at := range s.at {
		for j, port := range at {
			if sees[j] == nil {
				sees[j] = map[int]int{}
			}
			sees[j][i] = port
		}
	}
	for j, up := range sees {
		s.rooted = append(s.rooted, root{obs[j].Node.String(), j, up, 0})
	}
	order := func(x, y root) int {
		return cmp.Or(
			-cmp.Compare(x.passed, y.passed),
			-cmp.Compare(len(x.up), len(y.up)),
			cmp.Compare(x.name, y.name),
		)
	}
	for i := range s.rooted {
		s.rooted[i].passed = s.countPassed(s.rooted[i])
	}
	slices.SortFunc(s.rooted, order)
	s.rooted = s.rooted[:min(len(s.rooted), maxRoots)]
}

// countPassed counts how many addresses of switches were learned elsewhere than where the root is: on their way to it.
func (s *sightings) countPassed(r root) (n int) {
	for i, at := range s.at {
		up, sees := r.up[i]
		if !sees && i != r.self {
			continue
		}
		for _, port := range at {
			if port != nowhere && (i == r.self || port != up) {
				n++
			}
		}
	}
	return n
}

// joinBelow joins each switch, at the port that leads to the root, with the switch that sees it at a port behind which
// there is no other one. Switches that see an earlier root are done.
func (in *inference) joinBelow(r root, done map[int]bool) {
	claims := map[int][]between{} // by the lower switch
	for j, at := range in.seen.at {
		upJ, sees := r.up[j]
		if done[j] || j != r.self && (!sees || upJ == nowhere) {
			continue
		}
		for i, p := range at {
			a, seesRoot := r.up[i]
			if done[i] ||
				i == r.self ||
				p == nowhere ||
				!seesRoot ||
				a == nowhere ||
				j != r.self && p == upJ {
				continue
			}
			if in.isAloneBelow(between{i, a, j, p}) {
				claims[i] = append(claims[i], between{i, a, j, p})
			}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(claims)) {
		w, one := in.nearestClaim(claims[i], r)
		if one && (in.mute[w.i] || in.mute[w.j]) {
			in.joinSwitches(w, FDB)
		}
	}
}

// isAloneBelow reports whether all that the upper switch sees at its port is the lower one and what is behind that.
func (in *inference) isAloneBelow(w between) bool {
	for k, via := range in.seen.at[w.j] {
		if k == w.i || via != w.p {
			continue
		}
		back, sees := in.seen.at[w.i][k]
		if !sees || back == w.a || back == nowhere {
			return false
		}
	}
	return !in.silentBetween(w)
}

// nearestClaim is the claim of the switch that all the others see at the same port as the lower one, or that sees them
// where the root is; false: it is not clear which one that is.
func (in *inference) nearestClaim(claims []between, r root) (between, bool) {
	for _, w := range claims {
		above := func(o between) bool {
			if o == w {
				return true
			}
			down, sees := in.seen.at[o.j][w.j]
			up, back := in.seen.at[w.j][o.j]
			rootward := w.j != r.self && back && up == r.up[w.j]
			return sees && down == o.p || !sees && rootward
		}
		if !slices.ContainsFunc(claims, func(o between) bool { return !above(o) }) {
			return w, true
		}
	}
	return between{}, false
}

func (in *inference) joinSwitches(w between, source string) {
	x, y := in.endOf(w.i, w.a), in.endOf(w.j, w.p)
	if in.used[x] || in.used[y] || in.isPortDown(w.i, w.a) || in.isPortDown(w.j, w.p) {
		return
	}
	in.used[x], in.used[y] = true, true
	in.addEdge(x, y, false, source, olderTime(in.obs[w.i].Observed, in.obs[w.j].Observed))
}

// switchByMAC finds the one switch with an address.
func (in *inference) switchByMAC(m mib.MAC) (int, bool) {
	found := in.byMAC[m]
	if len(found) != 1 {
		return 0, false
	}
	return found[0], true
}

// refutationOf says why a link that only one of two switches reports cannot be, by the forwarding tables; empty: nothing
// speaks against it. Frames between the two, or from one of them to where most of the others lead, would pass it.
func (b *builder) refutationOf(w between) string {
	back := between{w.j, w.p, w.i, w.a}
	if b.isSupported(w) || b.isSupported(back) {
		return ""
	}
	for _, x := range []between{w, back} {
		via, sees := b.seen.at[x.i][x.j]
		if sees && b.isElsewhere(x.i, x.a, via) {
			return fmt.Sprintf(
				"the forwarding table of %s has %s behind port %s",
				b.obs[x.i].Node,
				b.obs[x.j].Node,
				b.obs[x.i].Ports[via].ID,
			)
		}
	}
	roots := b.seen.rooted
	if len(roots) == 0 || 2*len(roots[0].up) < b.seen.tables {
		return ""
	}
	for _, x := range []between{w, back} {
		via, sees := roots[0].up[x.i]
		if x.i != roots[0].self && (!sees || !b.isElsewhere(x.i, x.a, via)) {
			return ""
		}
	}
	return fmt.Sprintf("the forwarding tables of both lead to %s by other ports", roots[0].name)
}

// isSupported reports whether tables of the first switch speak for a link: it sees the other one, or what most switches
// see, at the port, or the spanning tree has the other one there.
func (b *builder) isSupported(w between) bool {
	via, sees := b.seen.at[w.i][w.j]
	if sees && b.carriesPort(w.i, via, w.a) {
		return true
	}
	if roots := b.seen.rooted; len(roots) > 0 {
		via, sees := roots[0].up[w.i]
		if sees && b.carriesPort(w.i, via, w.a) {
			return true
		}
	}
	o := b.obs[w.i]
	return o.Evidence != nil && slices.ContainsFunc(o.Evidence.Designated, func(d Designated) bool {
		return d.Port == o.Ports[w.a].ID && slices.Contains(b.byMAC[d.Bridge], w.j)
	})
}

// carriesPort reports whether a port is another one, or the aggregate that it is in.
func (b *builder) carriesPort(i, whole, port int) bool {
	if whole == nowhere {
		return false
	}
	all := b.obs[i].Ports
	return whole == port || all[port].Aggregate != 0 && all[port].Aggregate == all[whole].IfIndex
}

// isElsewhere reports whether a port is surely another one than that, and not an aggregate that may hold it: one with a
// neighbour of its own, or without the name of an aggregate.
func (b *builder) isElsewhere(i, port, via int) bool {
	if via == nowhere || b.carriesPort(i, via, port) {
		return false
	}
	o := b.obs[i]
	other := &o.Ports[via]
	known := slices.ContainsFunc(o.Ports, func(p Port) bool {
		return p.Aggregate != 0 && p.Aggregate == other.IfIndex
	})
	own := slices.ContainsFunc(o.Neighbors, func(n Neighbor) bool {
		return n.LocalPort == other.ID
	})
	return known || own || !aggregateName.MatchString(cmp.Or(other.Name, other.Descr))
}

// aggregateName is how vendors name aggregates of links.
var aggregateName = regexp.MustCompile(`(?i)^(po|port-?channel|ae|agg|lag|trk|trunk|eth-?trunk|bond|bagg|bridge-aggregation|lacp|static)[ -]*[0-9:/]*[0-9]$`)

func portOf(o *Observation, id string) int {
	return slices.IndexFunc(o.Ports, func(p Port) bool { return p.ID == id })
}
