package mibdriver

import (
	"fmt"
	"maps"
	"slices"
	"time"

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

// step is one SET: the record of it, from which a repair takes it back, and what is sent.
type step struct {
	writes.Step
	set []gosnmp.SnmpPDU
	// ways are tried instead of set, until the switch takes one.
	ways []way
	// last says that what the step removes may not come back as it was: what was sent before it is read back first.
	last  bool
	final bool          // it is not taken back when the call fails
	wait  time.Duration // before it is sent
}

// addAssignment adds an instance that the step changes from a value to another; nil: it does not exist.
func (s *step) addAssignment(oid string, kind writes.Kind, from, to *string) {
	s.appendAssignment(writes.Assignment{
		OID:  oid,
		Kind: kind,
		From: from,
		To:   to,
	})
}

// assignList adds a PortList; known are the ports that count.
func (s *step) assignList(oid string, known mib.Ports, from, to []byte) {
	a := writes.Assignment{
		OID:  oid,
		Kind: writes.Octets,
		From: writes.Hex(from),
		To:   writes.Hex(to),
	}
	if known != nil {
		a.Mask = *writes.Hex(mib.Update([]byte{}, known, known))
	}
	s.appendAssignment(a)
}

func (s *step) appendAssignment(a writes.Assignment) {
	s.Assigns = append(s.Assigns, a)
	if pdu, ok := bindingOf(a, a.To); ok {
		s.set = append(s.set, pdu)
	}
}

// addRowStatus adds a RowStatus, whose value is not what the row shows afterwards.
func (s *step) addRowStatus(row string, value int, from, to *string) {
	s.set = append(s.set, snmp.Integer(row, value))
	s.Assigns = append(s.Assigns, writes.Assignment{
		OID:  row,
		Kind: writes.Row,
		From: from,
		To:   to,
	})
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
	steps []step
}

// planChange returns the steps of a change.
func planChange(t *vlanTable, c change, seq Sequence, o order) []step {
	p := &planner{t: t.clone(), c: c}
	lost := p.portsLosingPVID()
	switch {
	case c.remove:
		if o == leaveFirst {
			p.setMembers(c.vid, mib.Ports{}, mib.Ports{})
		}
		p.assignDefaultPVID(lost)
		p.removeVLAN()
	case !c.setPorts:
		p.createVLAN(seq)
	default:
		if o == leaveFirst {
			p.leaveOthers()
		}
		if c.create {
			p.createVLAN(seq)
		} else {
			p.setMembers(c.vid, c.egress, c.untagged)
		}
		p.setPVIDs(c.untagged.Sorted(), c.vid)
		if o == joinFirst {
			p.leaveOthers()
		}
		p.assignDefaultPVID(lost)
	}
	return p.steps
}

func (p *planner) addStep(s step) {
	if len(s.set) > 0 {
		p.steps = append(p.steps, s)
	}
}

// makePortList makes a PortList for a VLAN: as long as the switch has them, bits of
// unknown ports as they were.
func (p *planner) makePortList(old []byte, ports mib.Ports) []byte {
	if old == nil {
		size := p.c.listSize
		if size == 0 {
			for _, r := range p.t.rows {
				size = max(size, len(r.egress), len(r.untagged))
			}
		}
		old = make([]byte, size)
	}
	return mib.Update(old, p.t.known, ports)
}

// createVLAN makes the row.
func (p *planner) createVLAN(seq Sequence) {
	v := p.c.vid
	column := func(base string) string { return mib.Sub(base, v) }
	var egress, untagged []byte
	if p.c.setPorts {
		egress, untagged = p.makePortList(nil, p.c.egress), p.makePortList(nil, p.c.untagged)
	}
	for _, items := range seq {
		s := step{Step: writes.Step{What: fmt.Sprintf("making VLAN %d", v)}}
		for _, item := range items {
			switch {
			case item == SetName && p.c.name != "":
				s.addAssignment(
					column(mib.QVlanStaticName),
					writes.Octets,
					nil,
					writes.Hex([]byte(p.c.name)),
				)
			case item == SetEgress && p.c.setPorts:
				s.assignList(column(mib.QVlanStaticEgress), p.t.known, nil, egress)
			case item == SetUntagged && p.c.setPorts:
				s.assignList(column(mib.QVlanStaticUntagged), p.t.known, nil, untagged)
			case item == CreateAndGo, item == CreateAndWait:
				s.addRowStatus(
					column(mib.QVlanStaticRowStatus),
					rowStatus(item),
					nil,
					writes.Number(mib.RowActive),
				)
			case item == Activate:
				s.set = append(s.set, snmp.Integer(column(mib.QVlanStaticRowStatus), mib.RowActive))
			}
		}
		p.addStep(s)
	}
	p.t.rows[v] = &vlanRow{
		static:   true,
		status:   mib.RowActive,
		name:     p.c.name,
		egress:   egress,
		untagged: untagged,
	}
}

// removeVLAN removes the row. What it holds is noted, so that it can be made again.
func (p *planner) removeVLAN() {
	v := p.c.vid
	s := step{
		Step: writes.Step{What: fmt.Sprintf("removing VLAN %d", v)},
		last: true,
	}
	s.addRowStatus(
		mib.Sub(mib.QVlanStaticRowStatus, v),
		mib.RowDestroy,
		writes.Number(mib.RowActive),
		nil,
	)
	if r := p.t.rows[v]; r != nil {
		s.addAssignment(mib.Sub(mib.QVlanStaticName, v), writes.Octets, writes.Hex(r.rawName), nil)
		s.assignList(mib.Sub(mib.QVlanStaticEgress, v), p.t.known, r.egress, nil)
		s.assignList(mib.Sub(mib.QVlanStaticUntagged, v), p.t.known, r.untagged, nil)
	}
	p.addStep(s)
	delete(p.t.rows, v)
}

// setMembers sets both lists of an existing VLAN in one SET.
func (p *planner) setMembers(v mib.VID, egress, untagged mib.Ports) {
	r := p.t.rows[v]
	if r == nil || !r.static {
		return
	}
	newE := p.makePortList(r.egress, egress)
	newU := p.makePortList(r.untagged, untagged)
	if slices.Equal(newE, r.egress) && slices.Equal(newU, r.untagged) {
		return
	}
	s := step{Step: writes.Step{What: fmt.Sprintf("setting the ports of VLAN %d", v)}}
	s.assignList(mib.Sub(mib.QVlanStaticEgress, v), p.t.known, r.egress, newE)
	s.assignList(mib.Sub(mib.QVlanStaticUntagged, v), p.t.known, r.untagged, newU)
	p.addStep(s)
	r.egress, r.untagged = newE, newU
}

// maxPVIDs is how many PVIDs one SET carries.
const maxPVIDs = 16

// setPVIDs gives ports the PVID v, where they have another one.
func (p *planner) setPVIDs(ports []uint32, v mib.VID) {
	ports = slices.DeleteFunc(slices.Clone(ports), func(n uint32) bool {
		old, ok := p.t.pvid[n]
		return !ok || old == v
	})
	for chunk := range slices.Chunk(ports, maxPVIDs) {
		s := step{Step: writes.Step{What: fmt.Sprintf(
			"setting PVID %d of the ports %s",
			v,
			formatNumbers(chunk),
		)}}
		for _, n := range chunk {
			s.addAssignment(
				mib.Sub(mib.QPvid, n),
				writes.Gauge,
				writes.Number(int64(p.t.pvid[n])),
				writes.Number(int64(v)),
			)
			p.t.pvid[n] = v
		}
		p.addStep(s)
	}
}

// leaveOthers takes the untagged ports out of the VLANs they were untagged in: a
// port is untagged in one VLAN only.
func (p *planner) leaveOthers() {
	for _, v := range slices.Sorted(maps.Keys(p.t.rows)) {
		if v == p.c.vid {
			continue
		}
		egress, untagged := p.t.configuredPorts(v)
		for n := range p.c.untagged {
			if untagged[n] {
				delete(untagged, n)
				delete(egress, n)
			}
		}
		p.setMembers(v, egress, untagged)
	}
}

// portsLosingPVID are the ports that lose their untagged membership by the change.
func (p *planner) portsLosingPVID() []uint32 {
	_, untagged := p.t.configuredPorts(p.c.vid)
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

// assignDefaultPVID gives ports that lost their untagged VLAN the PVID of another VLAN they are
// untagged in, else the default VLAN's. One that would be in no VLAN at all
// becomes an untagged member of the default VLAN again, which it left to come here.
func (p *planner) assignDefaultPVID(ports []uint32) {
	if p.c.vid == defaultVLAN {
		return
	}
	var back []uint32
	egress, untagged := p.t.configuredPorts(defaultVLAN)
	for _, n := range ports {
		pvid, tagged := defaultVLAN, p.c.egress[n]
		for v := range p.t.rows {
			e, u := p.t.configuredPorts(v)
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
			p.setPVIDs([]uint32{n}, pvid)
			continue
		}
		back = append(back, n)
		if !tagged {
			egress[n], untagged[n] = true, true
		}
	}
	p.setMembers(defaultVLAN, egress, untagged)
	p.setPVIDs(back, defaultVLAN)
}

// The items of a VLAN that a SET can carry, as the tags of the vendor-specific configuration name them. CreateAndGo
// makes the VLAN at once; CreateAndWait makes it inactive, for Activate after its columns are set (RFC 2579,
// RowStatus): no file has these two.
const (
	SetName       = "vlan_name"
	SetEgress     = "egress_ports"
	SetUntagged   = "untagged_ports"
	CreateAndGo   = "vlan_create"
	CreateAndWait = "wait"
	Activate      = "activate"
)

// columnOf is the column of dot1qVlanStaticTable that an item sets; empty: it sets the RowStatus.
func columnOf(item string) string {
	switch item {
	case SetName:
		return mib.QVlanStaticName
	case SetEgress:
		return mib.QVlanStaticEgress
	case SetUntagged:
		return mib.QVlanStaticUntagged
	}
	return ""
}

// rowStatus is the value that an item gives the RowStatus; 0: it sets a column.
func rowStatus(item string) int {
	switch item {
	case CreateAndGo:
		return mib.RowCreateAndGo
	case CreateAndWait:
		return mib.RowCreateAndWait
	case Activate:
		return mib.RowActive
	}
	return 0
}

// Sequence is how a VLAN is made: one SET after the other, each with its items in
// order. Switches differ in what they take.
type Sequence [][]string

// Sequences returns the ways to try for a model, one after the other: a switch
// that refuses one leaves nothing and is asked in the next.
func Sequences(model string) []Sequence {
	together := Sequence{{SetName, SetEgress, SetUntagged, CreateAndGo}}
	first := Sequence{{CreateAndGo}, {SetName, SetEgress, SetUntagged}}
	waiting := Sequence{{CreateAndWait}, {SetName}, {SetEgress, SetUntagged}, {Activate}}
	if model == "Accton_ECS4610-52T" {
		return []Sequence{first, together, waiting}
	}
	return []Sequence{together, first, waiting}
}
