package mibdriver

import (
	"cmp"
	"context"
	"slices"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// clockSlack is how far a switch's uptime may run beside our clock before it counts
// as restarted.
const clockSlack = 30 * time.Second

// Refresh brings an older observation up to date and reads only what may have
// changed: the state of the ports always, neighbours when the switch notes a change
// (lldpStatsRemTablesLastChangeTime) or neighbours is true, and everything when it
// has restarted, its interfaces are others (ifTableLastChange), or another switch is at
// its address now (dot1dBaseBridgeAddress). A switch whose
// notes cannot be trusted is read as far as they cannot.
func (d *Driver) Refresh(
	ctx context.Context,
	sw *switchdriver.Switch,
	old *discovery.Observation,
	neighbours bool,
) (*discovery.Observation, error) {
	o := *old
	t, err := readTarget(sw)
	if err != nil {
		return &o, err
	}
	v, err := d.snmp.Get(
		ctx,
		t,
		mib.SysUpTime,
		mib.IfTableLastChange,
		mib.LLDPRemTablesChanged,
		mib.LLDPV2RemTablesChanged,
		mib.SysName,
		mib.BaseBridgeAddress,
	)
	if err != nil {
		return &o, deviceFault(sw, err)
	}
	now := marksFromValues(v)
	if !v[0].Exists() ||
		!v[1].Exists() ||
		now.Interfaces != old.Marks.Interfaces ||
		hasRestarted(old.Marks, now) ||
		mib.MACOf(v[5].Peek()) != old.Bridge {
		return d.Observe(ctx, sw)
	}
	if name := mib.Text(v[4].Peek()); name != "" {
		o.SysName = name
	}
	now.Doubtful = old.Marks.Doubtful
	o.Notes, o.Stale = nil, false
	same, err := d.portStates(ctx, t, &o)
	if err := tolerateTableError(&o, err); err != nil {
		return &o, deviceFault(sw, err)
	}
	if !same {
		return d.Observe(ctx, sw)
	}
	if neighbours || !hasSameNeighbors(old, now) {
		same, err := d.rereadNeighbors(ctx, t, &o)
		if err := tolerateTableError(&o, err); err != nil {
			return &o, deviceFault(sw, err)
		}
		if !same {
			return d.Observe(ctx, sw)
		}
		if now.Neighbors == old.Marks.Neighbors &&
			!isFreshMark(old.Marks) &&
			!slices.EqualFunc(o.Neighbors, old.Neighbors, sameNeighbor) {
			now.Doubtful = true
		}
	}
	o.Marks, o.Observed = now, time.Now()
	return &o, nil
}

// hasRestarted compares the uptime with what our clock says it should be. It wraps
// after 497 days, as the difference does.
func hasRestarted(old, now discovery.Marks) bool {
	ran := time.Duration(now.UpTime-old.UpTime) * 10 * time.Millisecond
	off := ran - now.At.Sub(old.At)
	return off > clockSlack || off < -clockSlack
}

// hasSameNeighbors reports whether the switch says, credibly, that its neighbours are as
// they were. The protocols of vendors have no such note.
func hasSameNeighbors(old *discovery.Observation, now discovery.Marks) bool {
	return now.Neighbors != 0 &&
		now.Neighbors == old.Marks.Neighbors &&
		!isFreshMark(old.Marks) &&
		!now.Doubtful &&
		old.Device == "" &&
		!slices.ContainsFunc(old.Neighbors, ofVendor)
}

func ofVendor(n discovery.Neighbor) bool {
	return n.Protocol != discovery.LLDP && n.Protocol != discovery.LLDPV2
}

// noteStep is the coarsest unit in which switches note a time of change, in
// hundredths of a second: many count whole seconds.
const noteStep = 100

// isFreshMark reports whether the noted change is as young as the reading: another one in
// the same unit of time would carry the same note.
func isFreshMark(m discovery.Marks) bool {
	return m.UpTime-m.Neighbors <= noteStep
}

func sameNeighbor(x, y discovery.Neighbor) bool {
	return x.LocalPort == y.LocalPort && x.String() == y.String() && x.SysName == y.SysName
}

// portStates reads the states of the ports; false when one is not there any more.
func (d *Driver) portStates(
	ctx context.Context,
	t snmp.Target,
	o *discovery.Observation,
) (bool, error) {
	type state struct {
		admin, oper int32
		speed       uint64
	}
	states := map[uint32]state{}
	err := d.walkColumns(ctx, t, 0, fieldColumn(mib.IfAdminStatus, states, func(s *state, v snmp.Value) {
		s.admin = int32(v.Int())
	}),
		fieldColumn(mib.IfOperStatus, states, func(s *state, v snmp.Value) {
			s.oper = int32(v.Int())
		}),
		fieldColumn(mib.IfHighSpeed, states, func(s *state, v snmp.Value) {
			s.speed = cmp.Or(speedFromMegabits(v), s.speed)
		}),
		fieldColumn(mib.IfSpeed, states, func(s *state, v snmp.Value) {
			s.speed = cmp.Or(s.speed, slowSpeed(v))
		}))
	if err != nil {
		return true, err
	}
	o.Ports = slices.Clone(o.Ports)
	for i := range o.Ports {
		p := &o.Ports[i]
		s, ok := states[p.IfIndex]
		if !ok {
			if p.Admin != 0 || p.Oper != 0 {
				return false, nil
			}
			continue
		}
		p.Admin, p.Oper, p.Speed = s.admin, s.oper, s.speed
	}
	return true, nil
}

// rereadNeighbors reads the neighbours; false when one is at a port that is not known.
func (d *Driver) rereadNeighbors(
	ctx context.Context,
	t snmp.Target,
	o *discovery.Observation,
) (bool, error) {
	which := sources{
		lldp:   len(o.Chassis.ID) > 0,
		lldpV2: len(o.Chassis.ID) > 0,
		cdp:    o.Device != "",
		fdp:    isUnderEnterprise(o.SysOID, foundry),
		edp:    isUnderEnterprise(o.SysOID, extreme),
	}
	for _, n := range o.Neighbors { // the MIBs that had neighbours before
		which.lldp = which.lldp && n.Protocol != discovery.LLDPV2
		which.lldpV2 = which.lldpV2 && n.Protocol != discovery.LLDP
		which.cdpRows = which.cdpRows || n.Protocol == discovery.CDP
	}
	var tables discovery.Tables
	if err := d.readRemotes(ctx, t, which, &tables); err != nil {
		return true, err
	}
	lldp, ifIndex := map[uint32]string{}, map[uint32]string{}
	for _, p := range slices.Backward(o.Ports) {
		if p.LLDPLocal != 0 {
			lldp[p.LLDPLocal] = p.ID
		}
		ifIndex[p.IfIndex] = p.ID
	}
	for _, rows := range []struct {
		at    map[uint32]string
		among map[mib.RemoteIndex]*discovery.Neighbor
	}{{lldp, tables.Remotes}, {ifIndex, tables.IfRemotes[0]}, {ifIndex, tables.IfRemotes[1]}, {ifIndex, tables.IfRemotes[2]}, {ifIndex, tables.IfRemotes[3]}} {
		for ix := range rows.among {
			if rows.at[ix.LocalPort] == "" {
				return false, nil
			}
		}
	}
	discovery.Attach(o, tables, func(n uint32) string {
		return lldp[n]
	}, func(n uint32) string { return ifIndex[n] })
	return true, d.aggregates(ctx, t, o)
}
