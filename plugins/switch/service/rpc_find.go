package service

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

type findIn struct {
	Address string `json:"address"`
}

// The ways an address is known to be somewhere, the surest first.
var hows = []string{"device", "neighbor", "edge", "known", "link"}

type spot struct {
	ofSwitch
	portID
	VLAN  uint32 `json:"vlan-id,omitempty"`
	MAC   string `json:"mac-address,omitempty"`
	IP    string `json:"ip-address,omitempty"`
	How   string `json:"how"`
	Since string `json:"since,omitempty"`
	Seen  string `json:"seen,omitempty"`
}

type spots struct {
	MACs    []string `json:"mac-address,omitempty"`
	Entries []spot   `json:"entry"`
	Partial []string `json:"partial,omitempty"`
}

// search is one question where an address is.
type search struct {
	s    *Service
	text string
	ip   netip.Addr // of a question for an IP address
	macs map[mib.MAC]bool
	out  []spot
}

// findAddress says where a MAC address, an IP address or a name is.
func (s *Service) findAddress(ctx context.Context, in findIn) (*spots, error) {
	q := &search{s: s, text: strings.TrimSpace(in.Address), macs: map[mib.MAC]bool{}}
	if m, err := mib.ParseMAC(q.text); err == nil {
		q.macs[m] = true
	} else if q.ip, err = netip.ParseAddr(q.text); err == nil {
		q.ip = q.ip.Unmap()
	}
	q.reported()
	var partial []string
	var err error
	if q.ip.IsValid() {
		if partial, err = s.each(ctx, "", q.byARP); err != nil {
			return nil, err
		}
	}
	if len(q.macs) > 0 {
		more, err := s.each(ctx, "", q.learned)
		if err != nil {
			return nil, err
		}
		partial = slices.Compact(slices.Sorted(slices.Values(append(partial, more...))))
	}
	q.remembered()
	if len(q.out) == 0 && !q.ip.IsValid() && len(q.macs) == 0 {
		return nil, fault.At(fault.NotFound, "address", "%.64q is no MAC or IP address, and neither a switch nor a neighbour is called so", q.text)
	}
	out := &spots{Entries: q.sorted(), Partial: partial}
	for m := range q.macs {
		out.MACs = append(out.MACs, m.String())
	}
	slices.Sort(out.MACs)
	return out, nil
}

func (q *search) sorted() []spot {
	slices.SortFunc(q.out, func(a, b spot) int {
		return cmp.Or(cmp.Compare(slices.Index(hows, a.How), slices.Index(hows, b.How)), strings.Compare(a.Switch, b.Switch), cmp.Compare(a.Number, b.Number), cmp.Compare(a.VLAN, b.VLAN))
	})
	return append([]spot{}, slices.Compact(q.out)...)
}

// reported looks through what the switches have reported of themselves and their neighbours.
func (q *search) reported() {
	for _, e := range q.s.inventory.Entries() {
		o := q.s.survey.Observation(e.MAC)
		here := spot{ofSwitch: q.s.of(e.MAC), MAC: e.MAC.String(), IP: e.Address.String(), How: "device", Seen: ""}
		if o != nil {
			here.Seen = stamp(o.Observed)
		}
		switch {
		case q.macs[e.MAC], q.ip.IsValid() && q.ip == e.Address, q.s.called(e, q.text), o != nil && q.macs[o.Bridge]:
			q.out = append(q.out, here)
		}
		if o == nil {
			continue
		}
		for _, p := range o.Ports {
			if p.MAC != 0 && q.macs[p.MAC] && p.MAC != e.MAC {
				here.portID = portID{portName(p), p.Number}
				q.out = append(q.out, here)
			}
		}
		for _, n := range o.Neighbors {
			q.neighbor(e.MAC, o, n)
		}
	}
}

// chassisOf is the MAC address that a neighbour has as its chassis id; 0: another one.
func chassisOf(n discovery.Neighbor) mib.MAC {
	if n.Chassis.Subtype != 4 { // IEEE 802.1AB, table 8-2
		return 0
	}
	return mib.MACOf(n.Chassis.ID)
}

func (q *search) neighbor(m mib.MAC, o *discovery.Observation, n discovery.Neighbor) {
	chassis := chassisOf(n)
	if !(q.macs[chassis] && chassis != 0 || q.ip.IsValid() && slices.Contains(n.Addresses, q.ip) || n.SysName != "" && strings.EqualFold(n.SysName, q.text)) {
		return
	}
	at := spot{ofSwitch: q.s.of(m), How: "neighbor", Seen: stamp(o.Observed)}
	if i := slices.IndexFunc(o.Ports, func(p discovery.Port) bool { return p.ID == n.LocalPort }); i >= 0 {
		at.portID = portID{portName(o.Ports[i]), o.Ports[i].Number}
	}
	if chassis != 0 {
		at.MAC = chassis.String()
	}
	if len(n.Addresses) > 0 {
		at.IP = n.Addresses[0].String()
	}
	q.out = append(q.out, at)
}

// byARP looks for the MAC address of an IP address.
func (q *search) byARP(ctx context.Context, sw *switchdriver.Switch, mu *sync.Mutex) error {
	if !q.ip.Is4() {
		return nil // ipNetToMediaTable has no others
	}
	d, known, err := driver.For[switchdriver.ARPReader](ctx, q.s.drivers, sw, "ReadArp")
	if fault.KindOf(err) == fault.Unsupported {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := d.ReadARP(ctx, known, q.ip.String())
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	for _, e := range all {
		q.macs[mib.MAC(e.Mac)] = true
	}
	return nil
}

// learned looks for the MAC addresses in the forwarding table of a switch.
func (q *search) learned(ctx context.Context, sw *switchdriver.Switch, mu *sync.Mutex) error {
	m := mib.MAC(sw.NodeId)
	names := q.s.ports(m)
	for mac := range q.macs { // no other goroutine changes them now
		page, err := q.s.drivers.ReadFDB(ctx, sw, driver.Query{MAC: uint64(mac), Limit: driver.PageSize})
		if fault.KindOf(err) == fault.Unsupported {
			return nil
		}
		if err != nil {
			return err
		}
		mu.Lock()
		for _, e := range page.Entries {
			at := spot{ofSwitch: q.s.of(m), portID: portID{names.of(e.Port), e.Port}, VLAN: e.VlanId, MAC: mac.String(), How: "edge"}
			if q.s.leadsOn(m, e.Port) {
				at.How = "link"
			}
			if q.ip.IsValid() {
				at.IP = q.ip.String()
			}
			if st, ok := q.s.stationOf(mac); ok && st.Switch == m && st.Port == e.Port {
				at.Since = stamp(st.Since)
			}
			q.out = append(q.out, at)
		}
		mu.Unlock()
	}
	return nil
}

// remembered adds where an address was seen last, if it is learned nowhere at an edge now.
func (q *search) remembered() {
	for mac := range q.macs {
		st, ok := q.s.stationOf(mac)
		if !ok || slices.ContainsFunc(q.out, func(p spot) bool { return p.How == "edge" && p.MAC == mac.String() }) {
			continue
		}
		q.out = append(q.out, spot{ofSwitch: q.s.of(st.Switch), portID: portID{q.s.ports(st.Switch).of(st.Port), st.Port}, VLAN: st.VLAN, MAC: mac.String(),
			How: "known", Since: stamp(st.Since)})
	}
}

// leadsOn reports whether another switch of the list is attached to a port.
func (s *Service) leadsOn(m mib.MAC, number uint32) bool {
	n, o := s.survey.Network(), s.survey.Observation(m)
	if n == nil || o == nil {
		return false
	}
	return slices.ContainsFunc(o.Ports, func(p discovery.Port) bool {
		return p.Number == number && n.Peer(discovery.NodeID(m), p.ID) != 0
	})
}

func (o *spots) text() string {
	t := commands.Table{Empty: "It is learned at no switch.", Columns: []commands.Column{{Title: "Switch", Max: 32}, {Title: "Port"}, {Title: "VLAN", Right: true}, {Title: "MAC address"},
		{Title: "IP address"}, {Title: "How"}, {Title: "Since"}}}
	for _, e := range o.Entries {
		t.Add(e.Switch, e.Port, blank(e.VLAN), e.MAC, e.IP, e.How, e.Since)
	}
	return t.String() + cutNote(o.Partial)
}
