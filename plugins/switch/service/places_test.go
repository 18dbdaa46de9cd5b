package service

import (
	"fmt"
	"testing"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/sitetest"
)

// site is a generated site as the plugin knows it, with what the tables said of trunks if that was read.
func site(seed uint64, tables bool) (*sitetest.Site, *places) {
	s := sitetest.New(seed, 200, 400)
	obs := map[mib.MAC]*discovery.Observation{}
	for _, o := range s.Observations {
		obs[o.Node] = o
	}
	p := newPlaces(discovery.Build(s.Observations, time.Unix(2000, 0)), obs, map[mib.MAC][]uint32{})
	if !tables {
		return s, p
	}
	for m, table := range s.Tables {
		if obs[m].Stale {
			continue
		}
		counts := map[uint32]portCount{}
		for a, port := range table {
			c := counts[port]
			counts[port] = portCount{c.addresses + 1, c.leads || p.isOtherSwitch(m, a)}
		}
		p.trunks[m] = leadingOn(counts)
	}
	return s, p
}

// Of 400 hosts at sites of 200 switches nearly all are found where they are, first and alone; the others are the way.
func TestHostsOfSites(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3} {
		for _, tables := range []bool{false, true}[:1+seed/3] {
			t.Run(fmt.Sprintf("seed %d, tables read %v", seed, tables), func(t *testing.T) {
				s, p := site(seed, tables)
				right := 0
				for _, h := range s.Hosts {
					var list []learnedAt
					for m, table := range s.Tables {
						if port, ok := table[h.MAC]; ok && !p.obs[m].Stale {
							list = append(list, learnedAt{m, port})
						}
					}
					own := p.orderPlaces(list)
					if own && list[0] == (learnedAt{h.Switch, h.Port}) {
						right++
						continue
					}
					t.Logf("%s is at %s port %d: own %v, %v", h.MAC, h.Switch, h.Port, own, list[:min(3, len(list))])
				}
				t.Logf("%d of %d hosts", right, len(s.Hosts))
				if right*100 < 98*len(s.Hosts) {
					t.Errorf("%d of %d hosts are found first and alone", right, len(s.Hosts))
				}
			})
		}
	}
}

// The places that a reading of all tables stores are those of the hosts, and a second reading has moved nobody: neither
// when a switch does not answer, nor when a host is seen elsewhere too.
func TestStationsOfSites(t *testing.T) {
	s, p := site(1, true)
	read := func(without mib.MAC) *stations {
		out := &stations{map[mib.MAC]sighting{}, map[mib.MAC]int{}, map[mib.MAC]bool{}, map[mib.MAC][]learnedAt{}}
		for _, o := range s.Observations {
			if o.Stale || o.Node == without {
				continue
			}
			byPort := map[uint32][]sighting{}
			for a, port := range s.Tables[o.Node] {
				byPort[port] = append(byPort[port], sighting{MAC: a, Switch: o.Node, Port: port, Since: time.Unix(1, 0)})
			}
			out.addLearned(o.Node, byPort, func(port uint32) bool { return p.leadsOn(o.Node, port) }, 1000)
		}
		return out
	}
	first := read(0)
	right := 0
	for _, h := range s.Hosts {
		if st := first.found[h.MAC]; st.Switch == h.Switch && st.Port == h.Port {
			right++
		}
	}
	if right*100 < 98*len(s.Hosts) {
		t.Errorf("%d of %d hosts are stored where they are", right, len(s.Hosts))
	}
	leadsOn := func(at learnedAt) bool { return p.leadsOn(at.sw, at.port) }
	for _, gone := range []mib.MAC{0, s.Hosts[0].Switch, s.Observations[0].Node} {
		again := read(gone)
		for _, st := range first.found {
			again.keepSteady(st, leadsOn)
		}
		for m, st := range first.found {
			var found []sighting
			if now, ok := again.found[m]; ok {
				found = append(found, now)
			}
			if _, moves, _ := mergeSightings([]sighting{st}, found, 4, leadsOn); len(moves) > 0 {
				t.Errorf("without %s: %+v", gone, moves)
			}
		}
	}
}

// An aggregate leads on if a member does, and so does a port at which another switch was learned.
func TestLeadsOn(t *testing.T) {
	a, b := mib.MAC(0x020000000100), mib.MAC(0x020000000200)
	o := &discovery.Observation{Node: a, Ports: []discovery.Port{{ID: "1", Number: 1, IfIndex: 1, Aggregate: 50}, {ID: "2", Number: 2, IfIndex: 2, Aggregate: 50},
		{ID: "3", Number: 3, IfIndex: 3}, {ID: "4", Number: 4, IfIndex: 4}, {ID: "9", Number: 9, IfIndex: 50}},
		Evidence: &discovery.Evidence{Seen: map[string][]mib.MAC{"3": {b}, "4": {a}}}}
	edge := discovery.Edge{Tail: discovery.End{Node: discovery.NodeID(b), Port: "1", Kind: discovery.SNMP}, Head: discovery.End{Node: discovery.NodeID(a), Port: "1", Kind: discovery.SNMP}}
	n := &discovery.Network{Nodes: []discovery.Node{{ID: discovery.NodeID(a), MAC: a, Kind: discovery.SNMP}, {ID: discovery.NodeID(b), MAC: b, Kind: discovery.SNMP}},
		Edges: []discovery.Edge{edge}}
	p := newPlaces(n, map[mib.MAC]*discovery.Observation{a: o, b: {Node: b}}, map[mib.MAC][]uint32{a: leadingOn(map[uint32]portCount{2: {addresses: crowd + 1}, 4: {addresses: crowd}})})
	for port, want := range map[uint32]bool{1: true, 2: true, 3: true, 4: false, 9: true} {
		if p.leadsOn(a, port) != want {
			t.Errorf("port %d leads on: %v", port, !want)
		}
	}
	list := []learnedAt{{a, 9}, {b, 5}}
	if own := p.orderPlaces(list); !own || list[0] != (learnedAt{b, 5}) {
		t.Errorf("own %v, %v", own, list)
	}
}
