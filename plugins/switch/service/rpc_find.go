package service

import (
	"cmp"
	"context"
	"maps"
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
	// learned is where the addresses are in forwarding tables now, with the VLANs.
	learned map[mib.MAC]map[learnedAt][]uint32
}

// findAddress says where a MAC address, an IP address or a name is.
func (s *Service) findAddress(ctx context.Context, in findIn) (*spots, error) {
	q := &search{
		s:       s,
		text:    strings.TrimSpace(in.Address),
		macs:    map[mib.MAC]bool{},
		learned: map[mib.MAC]map[learnedAt][]uint32{},
	}
	if m, err := mib.ParseMAC(q.text); err == nil {
		q.macs[m] = true
	} else if q.ip, err = netip.ParseAddr(q.text); err == nil {
		q.ip = q.ip.Unmap()
	}
	q.searchReported()
	var partial []string
	var err error
	if q.ip.IsValid() {
		if partial, err = s.askEach(ctx, "", q.byARP); err != nil {
			return nil, err
		}
	}
	if len(q.macs) > 0 && !q.confirmLastSeen(ctx) {
		more, err := s.askEach(ctx, "", q.askSwitch)
		if err != nil {
			return nil, err
		}
		partial = slices.Compact(slices.Sorted(slices.Values(append(partial, more...))))
	}
	q.addPlaces()
	if len(q.out) == 0 && !q.ip.IsValid() && len(q.macs) == 0 {
		return nil, fault.At(
			fault.NotFound,
			"address",
			"%.64q is no MAC or IP address, and neither a switch nor a neighbour is called so",
			q.text,
		)
	}
	out := &spots{Entries: q.sortedSpots(), Partial: partial}
	for m := range q.macs {
		out.MACs = append(out.MACs, m.String())
	}
	slices.Sort(out.MACs)
	return out, nil
}

// sortedSpots puts the surest first. The way to an address stays in its order.
func (q *search) sortedSpots() []spot {
	slices.SortStableFunc(q.out, func(a, b spot) int {
		order := cmp.Compare(slices.Index(hows, a.How), slices.Index(hows, b.How))
		if order != 0 || a.How == "link" {
			return order
		}
		return cmp.Or(
			strings.Compare(a.Switch, b.Switch),
			cmp.Compare(a.Number, b.Number),
			cmp.Compare(a.VLAN, b.VLAN),
		)
	})
	return append([]spot{}, slices.Compact(q.out)...)
}

// searchReported looks through what the switches have reported of themselves and their neighbours.
func (q *search) searchReported() {
	for _, e := range q.s.inventory.Entries() {
		o := q.s.survey.Observation(e.MAC)
		here := spot{
			ofSwitch: q.s.switchIdentity(e.MAC),
			MAC:      e.MAC.String(),
			IP:       e.Address.String(),
			How:      "device",
			Seen:     "",
		}
		if o != nil {
			here.Seen = formatTime(o.Observed)
		}
		switch {
		case q.macs[e.MAC], q.ip.IsValid() && q.ip == e.Address, q.s.isCalled(e, q.text), o != nil && q.macs[o.Bridge]:
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
			q.searchNeighbor(e.MAC, o, n)
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

func (q *search) searchNeighbor(m mib.MAC, o *discovery.Observation, n discovery.Neighbor) {
	chassis := chassisOf(n)
	if !(q.macs[chassis] && chassis != 0 || q.ip.IsValid() && slices.Contains(n.Addresses, q.ip) || n.SysName != "" && strings.EqualFold(n.SysName, q.text)) {
		return
	}
	at := spot{
		ofSwitch: q.s.switchIdentity(m),
		How:      "neighbor",
		Seen:     formatTime(o.Observed),
	}
	i := slices.IndexFunc(o.Ports, func(p discovery.Port) bool {
		return p.ID == n.LocalPort
	})
	if i >= 0 {
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

// maxAsked is how many switches are asked for the way to an address whose place is known. In larger networks only that
// place is confirmed.
const maxAsked = 256

// confirmLastSeen asks the switch at which each address was seen last. It reports whether all are there still, and the others
// need not be asked, as there are very many.
func (q *search) confirmLastSeen(ctx context.Context) bool {
	if len(q.s.inventory.All()) <= maxAsked {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askedTime)
	defer cancel()
	var mu sync.Mutex
	for mac := range q.macs {
		st, ok := q.s.stationOf(mac)
		if !ok {
			return false
		}
		sw, err := q.s.inventory.Find(st.Switch)
		if err != nil ||
			q.askSwitch(ctx, sw, &mu) != nil ||
			len(q.learned[mac][learnedAt{st.Switch, st.Port}]) == 0 {
			return false
		}
	}
	return true
}

// askSwitch looks for the MAC addresses in the forwarding table of a switch.
func (q *search) askSwitch(ctx context.Context, sw *switchdriver.Switch, mu *sync.Mutex) error {
	m := mib.MAC(sw.NodeId)
	for mac := range q.macs { // no other goroutine changes them now
		page, err := q.s.drivers.ReadFDB(
			ctx,
			sw,
			driver.Query{
				MAC:   uint64(mac),
				Limit: driver.PageSize,
			},
		)
		if fault.KindOf(err) == fault.Unsupported {
			return nil
		}
		if err != nil {
			return err
		}
		mu.Lock()
		if q.learned[mac] == nil {
			q.learned[mac] = map[learnedAt][]uint32{}
		}
		for _, e := range page.Entries {
			at := learnedAt{m, e.Port}
			if !slices.Contains(q.learned[mac][at], e.VlanId) {
				q.learned[mac][at] = append(q.learned[mac][at], e.VlanId)
			}
		}
		mu.Unlock()
	}
	return nil
}

// addPlaces adds for each address its one place, and the way there. Where it is learned only on the way, its place is where
// it was seen last.
func (q *search) addPlaces() {
	p := q.s.currentPlaces()
	for _, mac := range slices.Sorted(maps.Keys(q.macs)) {
		list := slices.Collect(maps.Keys(q.learned[mac]))
		own := p.orderPlaces(list)
		for i, at := range list {
			how := "link"
			if own && i == 0 {
				how = "edge"
			}
			vlans := q.learned[mac][at]
			slices.Sort(vlans)
			for _, vlan := range vlans {
				q.out = append(q.out, q.newSpot(mac, at, vlan, how))
			}
		}
		if st, ok := q.s.stationOf(mac); ok && !own {
			q.out = append(q.out, q.newSpot(mac, learnedAt{st.Switch, st.Port}, st.VLAN, "known"))
		}
	}
}

func (q *search) newSpot(mac mib.MAC, at learnedAt, vlan uint32, how string) spot {
	out := spot{
		ofSwitch: q.s.switchIdentity(at.sw),
		portID:   portID{q.s.portNamesOf(at.sw).nameOfPort(at.port), at.port},
		VLAN:     vlan,
		MAC:      mac.String(),
		How:      how,
	}
	if q.ip.IsValid() {
		out.IP = q.ip.String()
	}
	st, ok := q.s.stationOf(mac)
	if ok && st.Switch == at.sw && st.Port == at.port {
		out.Since = formatTime(st.Since)
	}
	return out
}

// currentPlaces is what is known now of where ports lead.
func (s *Service) currentPlaces() *places {
	s.trunks.mu.Lock()
	trunks := maps.Clone(s.trunks.of)
	s.trunks.mu.Unlock()
	return newPlaces(s.survey.Network(), s.survey.Known().Observed, trunks)
}

func (o *spots) formatTable() string {
	t := commands.Table{
		Empty: "It is learned at no switch.",
		Columns: []commands.Column{{
			Title: "Switch",
			Max:   32,
		}, {Title: "Port"}, {
			Title: "VLAN",
			Right: true,
		}, {Title: "MAC address"},
			{Title: "IP address"}, {Title: "How"}, {Title: "Since"}},
	}
	for _, e := range o.Entries {
		t.Add(e.Switch, e.Port, formatNonZero(e.VLAN), e.MAC, e.IP, e.How, e.Since)
	}
	return t.String() + cutNote(o.Partial)
}
