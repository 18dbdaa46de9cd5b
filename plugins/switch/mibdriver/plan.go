package mibdriver

import (
	"maps"
	"slices"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
)

// defaultVLAN is the VLAN that ports without another untagged one belong to
// (IEEE 802.1Q, default PVID).
const defaultVLAN mib.VID = 1

// change is what is asked for.
type change struct {
	vid      mib.VID
	create   bool
	remove   bool
	name     string
	setPorts bool
	egress   mib.Ports // tagged and untagged ones
	untagged mib.Ports
	listSize int // octets of a new PortList; 0: as the switch has them
}

// step is one SET, what it does, and how it is taken back.
type step struct {
	what string
	set  []gosnmp.SnmpPDU
	undo []gosnmp.SnmpPDU
	// makes says that the step brings the row into being: should it be refused,
	// an answer may have been lost, and undo is sent all the same.
	makes bool
	// assigns is what the step changes, for the writes.
	assigns []writes.Assignment
}

func (s *step) assign(oid string, kind writes.Kind, from, to *string) {
	s.assigns = append(s.assigns, writes.Assignment{OID: oid, Kind: kind, From: from, To: to})
}

// order says when ports leave the VLANs they must not be in any more.
type order bool

// Most switches take a port into a VLAN first; some refuse a port that is still
// untagged in another one.
const (
	joinFirst  order = false
	leaveFirst order = true
)

// planner makes the steps of one change. t is the state as the steps so far leave it.
type planner struct {
	t     *vlanTable
	c     change
	size  int // of a new PortList in octets; 0: as the switch has them
	steps []step
}

// plan returns the steps of a change.
func plan(t *vlanTable, c change, seq Sequence, o order) []step {
	p := &planner{t: t.clone(), c: c, size: c.listSize}
	lost := p.homeless()
	switch {
	case c.remove && o == leaveFirst:
		p.members(c.vid, mib.Ports{}, mib.Ports{})
		p.home(lost)
		p.destroy()
	case c.remove:
		p.home(lost)
		p.destroy()
	case !c.setPorts:
		p.create(seq)
	default:
		if o == leaveFirst {
			p.leaveOthers()
		}
		if c.create {
			p.create(seq)
		} else {
			p.members(c.vid, c.egress, c.untagged)
		}
		p.pvids(c.untagged.Sorted(), c.vid)
		if o == joinFirst {
			p.leaveOthers()
		}
		p.home(lost)
	}
	return p.steps
}

func (p *planner) add(s step) {
	if len(s.set) > 0 {
		p.steps = append(p.steps, s)
	}
}

// list makes a PortList for a VLAN: as long as the switch has them, bits of
// unknown ports as they were.
func (p *planner) list(old []byte, ports mib.Ports) []byte {
	if old == nil {
		size := p.size
		for _, r := range p.t.rows {
			if p.size > 0 {
				break
			}
			size = max(size, len(r.egress), len(r.untagged))
		}
		old = make([]byte, size)
	}
	return mib.Update(old, p.t.known, ports)
}

// create makes the row.
func (p *planner) create(seq Sequence) {
	column := func(base string) string { return mib.Sub(base, p.c.vid) }
	for _, items := range seq {
		s := step{what: "making the VLAN"}
		for _, item := range items {
			switch {
			case item == SetName && p.c.name != "":
				s.octets(column(mib.QVlanStaticName), []byte(p.c.name))
			case item == SetEgress && p.c.setPorts:
				s.octets(column(mib.QVlanStaticEgress), p.list(nil, p.c.egress))
			case item == SetUntagged && p.c.setPorts:
				s.octets(column(mib.QVlanStaticUntagged), p.list(nil, p.c.untagged))
			case item == CreateAndGo, item == CreateAndWait:
				status := map[Item]int{CreateAndGo: mib.RowCreateAndGo, CreateAndWait: mib.RowCreateAndWait}[item]
				s.set = append(s.set, snmp.Integer(column(mib.QVlanStaticRowStatus), status))
				s.undo = []gosnmp.SnmpPDU{snmp.Integer(column(mib.QVlanStaticRowStatus), mib.RowDestroy)}
				s.makes = true
				s.assign(column(mib.QVlanStaticRowStatus), writes.Row, nil, writes.Number(mib.RowActive))
			case item == Activate:
				s.set = append(s.set, snmp.Integer(column(mib.QVlanStaticRowStatus), mib.RowActive))
			}
		}
		p.add(s)
	}
}

// octets adds a column of a new row.
func (s *step) octets(oid string, b []byte) {
	s.set = append(s.set, snmp.Octets(oid, b))
	s.assign(oid, writes.Octets, nil, writes.Hex(b))
}

func (p *planner) destroy() {
	row := mib.Sub(mib.QVlanStaticRowStatus, p.c.vid)
	s := step{what: "removing the VLAN", set: []gosnmp.SnmpPDU{snmp.Integer(row, mib.RowDestroy)}}
	s.assign(row, writes.Row, writes.Number(mib.RowActive), nil)
	p.add(s)
}

// members sets both lists of an existing VLAN in one SET.
func (p *planner) members(v mib.VID, egress, untagged mib.Ports) {
	r := p.t.rows[v]
	if r == nil || !r.static {
		return
	}
	e, u := mib.Sub(mib.QVlanStaticEgress, v), mib.Sub(mib.QVlanStaticUntagged, v)
	newE, newU := p.list(r.egress, egress), p.list(r.untagged, untagged)
	if slices.Equal(newE, r.egress) && slices.Equal(newU, r.untagged) {
		return
	}
	s := step{what: "setting the ports of VLAN " + mib.Sub("", v)[1:],
		set:  []gosnmp.SnmpPDU{snmp.Octets(e, newE), snmp.Octets(u, newU)},
		undo: []gosnmp.SnmpPDU{snmp.Octets(e, r.egress), snmp.Octets(u, r.untagged)}}
	s.assign(e, writes.Octets, writes.Hex(r.egress), writes.Hex(newE))
	s.assign(u, writes.Octets, writes.Hex(r.untagged), writes.Hex(newU))
	p.add(s)
	r.egress, r.untagged = newE, newU
}

// maxPVIDs is how many PVIDs one SET carries.
const maxPVIDs = 16

// pvids gives ports the PVID v, where they have another one.
func (p *planner) pvids(ports []uint32, v mib.VID) {
	ports = slices.DeleteFunc(slices.Clone(ports), func(n uint32) bool { old, ok := p.t.pvid[n]; return !ok || old == v })
	for chunk := range slices.Chunk(ports, maxPVIDs) {
		s := step{what: "setting the PVID of ports"}
		for _, n := range chunk {
			s.set = append(s.set, snmp.Gauge(mib.Sub(mib.QPvid, n), v))
			s.undo = append(s.undo, snmp.Gauge(mib.Sub(mib.QPvid, n), p.t.pvid[n]))
			s.assign(mib.Sub(mib.QPvid, n), writes.Gauge, writes.Number(int64(p.t.pvid[n])), writes.Number(int64(v)))
			p.t.pvid[n] = v
		}
		p.add(s)
	}
}

// leaveOthers takes the untagged ports out of the VLANs they were untagged in: a
// port is untagged in one VLAN only.
func (p *planner) leaveOthers() {
	for _, v := range slices.Sorted(maps.Keys(p.t.rows)) {
		if v == p.c.vid {
			continue
		}
		egress, untagged := p.t.configured(v)
		for n := range p.c.untagged {
			if untagged[n] {
				delete(untagged, n)
				delete(egress, n)
			}
		}
		p.members(v, egress, untagged)
	}
}

// homeless are the ports that lose their untagged membership by the change.
func (p *planner) homeless() []uint32 {
	_, untagged := p.t.configured(p.c.vid)
	for n, v := range p.t.pvid {
		if v == p.c.vid && p.c.remove && p.t.known[n] {
			untagged[n] = true // the PVID alone keeps some switches from removing the VLAN
		}
	}
	var out []uint32
	for _, n := range untagged.Sorted() {
		if !p.c.untagged[n] {
			out = append(out, n)
		}
	}
	return out
}

// home gives ports that lost their untagged VLAN the PVID of another VLAN they are
// untagged in, else the default VLAN's. One that would be in no VLAN at all
// becomes an untagged member of the default VLAN again, which it left to come here.
func (p *planner) home(ports []uint32) {
	if p.c.vid == defaultVLAN {
		return
	}
	var back []uint32
	egress, untagged := p.t.configured(defaultVLAN)
	for _, n := range ports {
		pvid, tagged := defaultVLAN, p.c.egress[n]
		for v := range p.t.rows {
			e, u := p.t.configured(v)
			if v == p.c.vid || !e[n] {
				continue
			}
			if tagged = true; u[n] {
				pvid = v
			}
		}
		if p.t.pvid[n] != p.c.vid {
			pvid = p.t.pvid[n]
		}
		if pvid != defaultVLAN {
			p.pvids([]uint32{n}, pvid)
			continue
		}
		back = append(back, n)
		if !tagged {
			egress[n], untagged[n] = true, true
		}
	}
	p.members(defaultVLAN, egress, untagged)
	p.pvids(back, defaultVLAN)
}
