package discovery

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"ctl.internal/plugins/switch/mib"
)

// NodeID is the id of a switch of the list: its MAC address as a decimal number.
func NodeID(m mib.MAC) string {
	return strconv.FormatUint(uint64(m), 10)
}

// Build joins observations into a network. Nothing is invented: a neighbour that
// could be several devices or ports makes no edge but an Unresolved.
func Build(obs []*Observation, now time.Time) *Network {
	b := &builder{
		index:   newIndex(obs),
		net:     &Network{Built: now},
		outside: map[string]*Node{},
	}
	for _, o := range obs {
		b.net.Nodes = append(b.net.Nodes, Node{
			ID:       NodeID(o.Node),
			Kind:     SNMP,
			Name:     o.SysName,
			MAC:      o.Node,
			Address:  o.Address.String(),
			Model:    o.Model,
			Ports:    o.Ports,
			Observed: o.Observed,
			Stale:    o.Stale,
			Partial:  o.CutTables(),
		})
	}
	b.seen = b.makeSightings()
	b.placeSights()
	b.joinPairs()
	b.inferLinks()
	for _, id := range slices.Sorted(maps.Keys(b.outside)) {
		b.net.Nodes = append(b.net.Nodes, *b.outside[id])
	}
	slices.SortFunc(b.net.Edges, compareEdges)
	b.net.Edges = slices.CompactFunc(b.net.Edges, func(x, y Edge) bool {
		return x.Tail == y.Tail && x.Head == y.Head
	})
	return b.net
}

func compareEdges(x, y Edge) int {
	return cmp.Or(compareIDs(x.Tail.Node, y.Tail.Node), compareIDs(x.Tail.Port, y.Tail.Port),
		compareIDs(x.Head.Node, y.Head.Node), compareIDs(x.Head.Port, y.Head.Port))
}

// compareIDs puts numbers in numeric order: of two, the shorter is the smaller.
func compareIDs(x, y string) int {
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
}

type builder struct {
	*index
	net     *Network
	outside map[string]*Node
	// reports[i][j] is what switch i reports of switch j.
	reports []map[int][]sight
	seen    *sightings // by the forwarding tables
}

// placeSights places every neighbour with a switch of the list, or outside.
func (b *builder) placeSights() {
	b.reports = make([]map[int][]sight, len(b.obs))
	for i, o := range b.obs {
		b.reports[i] = map[int][]sight{}
		for k := range o.Neighbors {
			n := &o.Neighbors[k]
			port := portOf(o, n.LocalPort)
			if port < 0 {
				b.addUnresolved(i, n, "the switch has no such port")
				continue
			}
			if o.Ports[port].Admin == 2 {
				continue // reported before the port was switched off
			}
			switch peer, byName := b.findDevice(i, n); peer {
			case outsider:
				b.addOutsider(i, port, n)
			case ambiguous:
				b.addUnresolved(i, n, "it could be several switches of the list")
			default:
				b.reports[i][peer] = append(
					b.reports[i][peer],
					sight{port, b.aggregateMembers(peer, b.narrowPorts(peer, n)), byName, n},
				)
			}
		}
	}
}

// joinPairs joins the sights of every two switches.
func (b *builder) joinPairs() {
	var single []func() // links that one end reports, after all that both ends report
	taken := map[End]bool{}
	for i := range b.obs {
		for _, j := range slices.Sorted(maps.Keys(b.reports[i])) {
			if j == i {
				b.addLoop(i)
				continue
			}
			if j < i && len(b.reports[j][i]) > 0 {
				continue // done from the other end
			}
			links, lostI, lostJ := pairSights(
				loosenSights(b.reports[i][j], b.reports[j][i]),
				loosenSights(b.reports[j][i], b.reports[i][j]),
			)
			for _, l := range links {
				x, y := b.endOf(i, l.a), b.endOf(j, l.b)
				switch {
				case l.confirmed && b.isPortDown(i, l.a) && b.isPortDown(j, l.b):
				case l.confirmed:
					taken[x], taken[y] = true, true
					b.addEdge(x, y, true, l.source, olderTime(b.obs[i].Observed, b.obs[j].Observed))
				default:
					single = append(single, func() { b.addSingleLink(i, j, l, taken) })
				}
			}
			lostI, lostJ = b.addBundles(i, j, lostI, lostJ, taken)
			b.reportLostSights(i, j, lostI)
			b.reportLostSights(j, i, lostJ)
		}
	}
	for _, f := range single {
		f()
	}
}

// addSingleLink creates an edge that one end reports, unless the other end is known to be
// connected elsewhere or was asked later and saw nothing.
func (b *builder) addSingleLink(i, j int, l link, taken map[End]bool) {
	a, p := l.a, l.b
	x, y := b.endOf(i, a), b.endOf(j, p)
	teller, silent := b.obs[i], b.obs[j]
	if !saysPort(b.reports[i][j], a) {
		teller, silent = silent, teller
	}
	switch {
	case taken[x] || taken[y]:
		b.refuseLink(x, y, "one of the two ports is joined with another one by both its ends")
	case teller.Stale && !silent.Stale:
		// old news that the other end no longer confirms
	case b.isPortDown(i, a) && b.isPortDown(j, p):
	case b.isPortDown(i, a) || b.isPortDown(j, p):
		b.refuseLink(x, y, "one end only reports it, and one of the two ports is down")
	case b.refutationOf(between{i, a, j, p}) != "":
		b.refuseLink(x, y, "one end only reports it, and "+b.refutationOf(between{i, a, j, p}))
	default:
		b.addEdge(x, y, false, l.source, teller.Observed)
	}
}

// refuseLink notes a link that was reported and is not believed.
func (b *builder) refuseLink(x, y End, why string) {
	b.net.Unresolved = append(
		b.net.Unresolved,
		Unresolved{x.Node, x.Port, y.Node + " port " + y.Port, why},
	)
}

func saysPort(sights []sight, port int) bool {
	return slices.ContainsFunc(sights, func(s sight) bool { return s.port == port })
}

// addLoop connects two ports of one switch if both report each other exactly.
func (b *builder) addLoop(i int) {
	for _, m := range b.reports[i][i] {
		for _, t := range b.reports[i][i] {
			if m.port < t.port &&
				m.isExact() &&
				t.isExact() &&
				m.allowsPort(t.port) &&
				t.allowsPort(m.port) {
				b.addEdge(
					b.endOf(i, m.port),
					b.endOf(i, t.port),
					true,
					m.row.Protocol,
					b.obs[i].Observed,
				)
			}
		}
	}
}

// reportLostSights reports sights without a port. Those of a switch that only had the
// right name are devices outside the list.
func (b *builder) reportLostSights(i, j int, sights []sight) {
	for _, s := range sights {
		if s.byName {
			b.addOutsider(i, s.port, s.row)
			continue
		}
		b.addUnresolved(
			i,
			s.row,
			fmt.Sprintf("it is switch %s, but which of its ports is not clear", b.obs[j].Node),
		)
	}
}

func (b *builder) addUnresolved(i int, n *Neighbor, why string) {
	b.net.Unresolved = append(
		b.net.Unresolved,
		Unresolved{NodeID(b.obs[i].Node), n.LocalPort, n.String(), why},
	)
}

func (b *builder) endOf(i, port int) End {
	return End{NodeID(b.obs[i].Node), b.obs[i].Ports[port].ID, SNMP}
}

func (b *builder) isPortDown(i, port int) bool {
	return b.obs[i].Ports[port].isDown()
}

// addEdge records a link of two switches, in both directions.
func (b *builder) addEdge(x, y End, confirmed bool, source string, at time.Time) {
	b.net.Edges = append(b.net.Edges, Edge{
		Tail:      x,
		Head:      y,
		Confirmed: confirmed,
		Source:    source,
		Observed:  at,
	},
		Edge{
			Tail:      y,
			Head:      x,
			Confirmed: confirmed,
			Source:    source,
			Observed:  at,
		})
}

// addOutsider records a neighbour outside the list: one edge, from it to us.
func (b *builder) addOutsider(i, port int, n *Neighbor) {
	id := outsideID(n, NodeID(b.obs[i].Node))
	if id == "" {
		b.addUnresolved(i, n, "it reports no chassis id")
		return
	}
	if b.outside[id] == nil {
		b.outside[id] = &Node{
			ID:       id,
			Kind:     PR,
			Name:     n.SysName,
			Observed: b.obs[i].Observed,
		}
	}
	b.net.Edges = append(
		b.net.Edges,
		Edge{
			Tail:     End{id, outsidePort(n), PR},
			Head:     b.endOf(i, port),
			Source:   n.Protocol,
			Observed: b.obs[i].Observed,
		},
	)
}

func olderTime(x, y time.Time) time.Time {
	if x.Before(y) {
		return x
	}
	return y
}
