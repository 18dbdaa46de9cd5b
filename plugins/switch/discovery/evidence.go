package discovery

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/switchdriver"
)

// maxForwarding is how many switches are asked for their forwarding tables to find
// the links of those that speak neither LLDP nor CDP; in greater networks only the
// spanning tree is asked for.
const maxForwarding = 256

// The bounds of what is kept of addresses that are no switch's: of one switch until all have answered, and afterwards.
const (
	MaxOthers   = 8192
	maxStations = 4
)

// readEvidence has the switches read again for what else reports links, when some of them
// report no neighbours, or one end only reports a link. Switches that fail keep their former data.
func (s *Surveyor) readEvidence(progress func(done, total int)) {
	if s.opt.Infer == nil {
		return
	}
	observed, mute := map[mib.MAC]*Observation{}, false
	want := map[mib.MAC]bool{}
	silent := map[mib.MAC]bool{}
	silentAt := map[netip.Addr]bool{}
	var switches []*switchdriver.Switch
	var all []*Observation
	for _, sw := range s.opt.Inventory.All() {
		m := mib.MAC(sw.NodeId)
		o := s.Observation(m)
		if o == nil {
			want[m], silent[m] = true, true
			if a, err := netip.ParseAddr(sw.Address); err == nil {
				silentAt[a.Unmap()] = true
			}
			continue
		}
		for _, m := range []mib.MAC{o.Node, o.Bridge, mib.MACOf(o.Chassis.ID)} {
			if m.Unicast() {
				want[m] = true
			}
		}
		if o.Stale || !o.BySNMP() {
			continue
		}
		observed[o.Node] = o
		mute = mute || o.Mute()
		switches, all = append(switches, sw), append(all, o)
	}
	doubtful := func(e Edge) bool { return !e.Confirmed && e.Tail.Kind == SNMP }
	if !mute && !slices.ContainsFunc(Build(all, time.Now()).Edges, doubtful) {
		return
	}
	if len(switches) > maxForwarding {
		want = nil
	}
	answers := s.askSwitches(switches, func(ctx context.Context, sw *switchdriver.Switch) (*Observation, error) {
		with := *observed[mib.MAC(sw.NodeId)]
		e, err := s.opt.Infer(ctx, sw, &with, want)
		with.Evidence = e
		return &with, err
	})
	var read []*Observation
	for n := range switches {
		a := <-answers
		if a.err == nil && a.obs.Evidence != nil {
			read = append(read, a.obs)
		}
		progress(n+1, len(switches))
	}
	for _, o := range read { // a switch may send from another address than that of the list
		for a, m := range o.Evidence.ARP {
			if silentAt[a] && !want[m] {
				silent[m] = true
			}
		}
	}
	for _, o := range read {
		o.Evidence.separate(silent)
	}
	KeepProvedAddresses(read)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range read {
		if now := s.observed[o.Node]; now != nil { // read again meanwhile, perhaps
			with := *now
			with.Evidence = o.Evidence
			s.observed[o.Node] = &with
		}
	}
}

// separate takes the addresses of switches that have never answered out of the others that were learned.
func (e *Evidence) separate(silent map[mib.MAC]bool) {
	put := func(port string, m mib.MAC) {
		if e.Silent == nil {
			e.Silent = map[string][]mib.MAC{}
		}
		e.Silent[port] = append(e.Silent[port], m)
	}
	for port, macs := range e.Seen {
		for _, m := range macs {
			if silent[m] {
				put(port, m)
			}
		}
		e.Seen[port] = slices.DeleteFunc(macs, func(m mib.MAC) bool { return silent[m] })
	}
	for m := range silent {
		if port, ok := e.Others[m]; ok {
			put(port, m)
			delete(e.Others, m)
		}
	}
	for _, macs := range e.Silent {
		slices.Sort(macs)
	}
}

// KeepProvedAddresses decides which of the other addresses are worth keeping: those that switches have by the ARP tables, and those
// of the stations that most of them know.
func KeepProvedAddresses(all []*Observation) {
	x := newIndex(all)
	self := map[mib.MAC]int{}
	count := map[mib.MAC]int{}
	tables := 0
	for _, o := range all {
		if o.Evidence == nil {
			continue
		}
		for a, m := range o.Evidence.ARP {
			found := x.byAddress[a]
			if len(found) == 1 && len(x.byMAC[m]) == 0 {
				self[m] = found[0]
			}
		}
		if len(o.Evidence.Others) > 0 {
			tables++
		}
		for m := range o.Evidence.Others {
			count[m]++
		}
	}
	maps.DeleteFunc(count, func(m mib.MAC, n int) bool {
		_, known := self[m]
		return known || n < 2 || 2*n < tables
	})
	stations := slices.SortedFunc(maps.Keys(count), func(a, b mib.MAC) int {
		return cmp.Or(-cmp.Compare(count[a], count[b]), cmp.Compare(a, b))
	})
	stations = stations[:min(len(stations), maxStations)]
	for m, i := range self {
		if e := all[i].Evidence; e != nil {
			e.Self = append(e.Self, m)
		}
	}
	for _, o := range all {
		e := o.Evidence
		if e == nil {
			continue
		}
		slices.Sort(e.Self)
		for _, m := range slices.Concat(slices.Sorted(maps.Keys(self)), stations) {
			if port, ok := e.Others[m]; ok {
				if e.Seen == nil {
					e.Seen = map[string][]mib.MAC{}
				}
				e.Seen[port] = append(e.Seen[port], m)
			}
		}
		e.Others, e.ARP = nil, nil
	}
}
