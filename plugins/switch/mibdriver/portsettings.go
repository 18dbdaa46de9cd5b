package mibdriver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// The values of ifAdminStatus, and of a TruthValue.
const (
	adminUp   = 1
	adminDown = 2
	isTrue    = 1
	isFalse   = 2
)

// interfaceRow is what EtherLike-MIB and ifXTable have of a port beside what a discovery reads.
type interfaceRow struct {
	alias         *string
	duplex, pause uint32
}

// portTables are all that port settings are read from.
type portTables struct {
	ports      []discovery.Port
	interfaces map[uint32]interfaceRow
	power      powerTables
}

// readPortTables reads the ports with the numbers that a discovery gives them, and their settings.
func (d *Driver) readPortTables(
	ctx context.Context,
	sw *switchdriver.Switch,
	t snmp.Target,
) (*portTables, error) {
	out := &portTables{interfaces: map[uint32]interfaceRow{}}
	var err error
	if out.ports, err = d.numberedPorts(ctx, sw, t); err != nil {
		return nil, deviceFault(sw, err)
	}
	err = d.walkColumns(ctx, t, 0,
		fieldColumn(mib.IfAlias, out.interfaces, func(r *interfaceRow, v snmp.Value) {
			r.alias = new(mib.Text(v.Peek()))
		}),
		fieldColumn(mib.Dot3StatsDuplexStatus, out.interfaces, func(r *interfaceRow, v snmp.Value) {
			r.duplex = v.Uint32()
		}),
		fieldColumn(mib.Dot3PauseOperMode, out.interfaces, func(r *interfaceRow, v snmp.Value) {
			r.pause = v.Uint32()
		}))
	if err != nil {
		return nil, deviceFault(sw, err)
	}
	out.power, err = d.readPower(ctx, t)
	return out, deviceFault(sw, err)
}

// numberedPorts are the ports of a switch as a discovery numbers them.
func (d *Driver) numberedPorts(
	ctx context.Context,
	sw *switchdriver.Switch,
	t snmp.Target,
) ([]discovery.Port, error) {
	objectID := sw.SysObjectId
	if objectID == "" {
		v, err := d.snmp.Get(ctx, t, mib.SysObjectID)
		if err != nil {
			return nil, err
		}
		objectID = v[0].ObjectID()
	}
	tables := discovery.Tables{
		BasePorts:  map[uint32]uint32{},
		Interfaces: map[uint32]discovery.Interface{},
	}
	o := &discovery.Observation{Node: mib.MAC(sw.NodeId)}
	if err := tolerateTableError(o, d.readPorts(ctx, sw, t, objectID, &tables)); err != nil {
		return nil, err
	}
	discovery.Assemble(o, tables)
	return o.Ports, nil
}

// ReadPortSettings reads ifTable, ifXTable, EtherLike-MIB and POWER-ETHERNET-MIB.
func (d *Driver) ReadPortSettings(
	ctx context.Context,
	sw *switchdriver.Switch,
	port uint32,
) ([]*switchdriver.PortSettings, []*switchdriver.PowerSupply, error) {
	t, err := readTarget(sw)
	if err != nil {
		return nil, nil, err
	}
	tables, err := d.readPortTables(ctx, sw, t)
	if err != nil {
		return nil, nil, err
	}
	var out []*switchdriver.PortSettings
	for _, p := range tables.ports {
		if port == 0 || p.Number == port {
			out = append(out, tables.settings(p))
		}
	}
	if port != 0 && len(out) == 0 {
		return nil, nil, noPort(sw, port)
	}
	return out, tables.power.list(), nil
}

func noPort(sw *switchdriver.Switch, port uint32) error {
	return fault.At(
		fault.NotFound,
		"port",
		"switch %s has no port %d",
		switchdriver.Label(sw),
		port,
	)
}

// settings are those of a port.
func (t *portTables) settings(p discovery.Port) *switchdriver.PortSettings {
	s := &switchdriver.PortSettings{Port: p.Number}
	if p.Admin == adminUp || p.Admin == adminDown {
		s.Up = new(p.Admin == adminUp)
	}
	row := t.interfaces[p.IfIndex]
	s.Description = row.alias
	if p.Oper == adminUp && p.Speed > 0 {
		s.LinkSpeed = new(uint32(p.Speed / 1_000_000))
	}
	switch row.duplex {
	case mib.DuplexStatusHalf:
		s.LinkDuplex = new(switchdriver.DuplexHalf)
	case mib.DuplexStatusFull:
		s.LinkDuplex = new(switchdriver.DuplexFull)
	}
	if row.pause >= 1 && row.pause <= 4 {
		s.FlowControl = &row.pause
	}
	if key, ok := t.power.of(p); ok {
		t.power.ports[key].addTo(s)
	}
	return s
}

// addTo adds the power over Ethernet of a port to its settings.
func (r psePort) addTo(s *switchdriver.PortSettings) {
	if r.enable == isTrue || r.enable == isFalse {
		s.Power = new(r.enable == isTrue)
	}
	if r.priority >= switchdriver.PowerCritical && r.priority <= switchdriver.PowerLow {
		s.PowerPriority = &r.priority
	}
	if r.status >= 1 && r.status <= 6 {
		s.PowerStatus = &r.status
	}
	if r.class >= 1 && r.class <= 9 {
		s.PowerClass = new(r.class - 1) // class0(1)
	}
}

// WritePortSettings sets ifAdminStatus, ifAlias and pethPsePortTable.
func (d *Driver) WritePortSettings(
	ctx context.Context,
	sw *switchdriver.Switch,
	s *switchdriver.PortSettings,
) error {
	if err := switchdriver.CheckPortSettings(s); err != nil {
		return err
	}
	return d.changePort(ctx, sw, s, settingSteps)
}

// BouncePort takes a port down and up, or switches its power off and on. Both steps are noted before the first is sent:
// a change that is not finished is taken back, and the port is up again.
func (d *Driver) BouncePort(
	ctx context.Context,
	sw *switchdriver.Switch,
	s *switchdriver.PortSettings,
	pause time.Duration,
) error {
	if err := switchdriver.CheckBounce(s, pause); err != nil {
		return err
	}
	return d.changePort(ctx, sw, s, func(t *portChange, s *switchdriver.PortSettings) ([]step, error) {
		return bounceSteps(t, s, pause)
	})
}

// portChange is the one port that is changed.
type portChange struct {
	sw    *switchdriver.Switch
	port  discovery.Port
	now   *switchdriver.PortSettings
	alias []byte  // as the switch has it
	pse   *pseKey // nil: it is not known, or there is no power over Ethernet
}

// changePort plans steps for a port, sends them and reads back.
func (d *Driver) changePort(ctx context.Context, sw *switchdriver.Switch, s *switchdriver.PortSettings,
	plan func(*portChange, *switchdriver.PortSettings) ([]step, error)) error {
	r, w, err := readWriteTargets(sw)
	if err != nil {
		return err
	}
	tables, err := d.readPortTables(ctx, sw, r)
	if err != nil {
		return err
	}
	t, err := tables.target(sw, s.GetPort(), writes.Named(ctx)[s.GetPort()])
	if err != nil {
		return err
	}
	if t.alias, err = d.aliasOf(ctx, r, t.port.IfIndex); err != nil {
		return deviceFault(sw, err)
	}
	steps, err := plan(t, s)
	if err != nil || len(steps) == 0 {
		return err
	}
	before, err := d.interfaceName(ctx, r, t.port.IfIndex)
	if err != nil {
		return deviceFault(sw, err)
	}
	return d.applySteps(ctx, sw, r, w, steps, func() (string, error) {
		after, err := d.interfaceName(ctx, r, t.port.IfIndex)
		if err != nil || after == before {
			return "", err
		}
		return fmt.Sprintf(
			"ifIndex %d as %s, which was %s when the change began",
			t.port.IfIndex,
			after,
			before,
		), nil
	})
}

// target finds the port of a number. One that the caller named, and that has another number now, is found by its name.
func (t *portTables) target(
	sw *switchdriver.Switch,
	number uint32,
	name string,
) (*portChange, error) {
	is := func(p discovery.Port) bool {
		return name == "" ||
			p.Name == "" && p.Descr == "" ||
			strings.EqualFold(p.Name, name) ||
			strings.EqualFold(p.Descr, name)
	}
	found := slices.DeleteFunc(slices.Clone(t.ports), func(p discovery.Port) bool {
		return p.Number != number || !is(p)
	})
	if len(found) == 0 && name != "" {
		found = slices.DeleteFunc(slices.Clone(t.ports), func(p discovery.Port) bool {
			return !is(p)
		})
	}
	switch {
	case len(found) != 1 && name != "":
		return nil, fault.Device(fault.InUse, "the ports of switch %s have changed places since they were read: %d ports are called %s now; nothing was sent; "+
			"read the switch again with switch:TopoDiscover", switchdriver.Label(sw), len(found), name)
	case len(found) != 1:
		return nil, noPort(sw, number)
	case found[0].IfIndex == 0:
		return nil, fault.Device(
			fault.Unsupported,
			"switch %s does not report which interface port %d is (dot1dBasePortIfIndex)",
			switchdriver.Label(sw),
			number,
		)
	}
	out := &portChange{
		sw:   sw,
		port: found[0],
		now:  t.settings(found[0]),
	}
	if key, ok := t.power.of(found[0]); ok {
		out.pse = &key
	}
	return out, nil
}

func (d *Driver) aliasOf(ctx context.Context, r snmp.Target, ifIndex uint32) ([]byte, error) {
	v, err := d.snmp.Get(ctx, r, mib.Sub(mib.IfAlias, ifIndex))
	if err != nil || !v[0].Exists() {
		return nil, err
	}
	return append([]byte{}, v[0].Peek()...), nil
}

// interfaceName is what an interface is called at the moment.
func (d *Driver) interfaceName(ctx context.Context, r snmp.Target, ifIndex uint32) (string, error) {
	v, err := d.snmp.Get(ctx, r, mib.Sub(mib.IfName, ifIndex), mib.Sub(mib.IfDescr, ifIndex))
	if err != nil {
		return "", err
	}
	return cmp.Or(mib.Text(v[0].Peek()), mib.Text(v[1].Peek()), "an interface without a name"), nil
}

// lacks is the fault of a setting that the standard MIBs, or this switch's, do not have.
func (t *portChange) lacks(path, why string) error {
	return &fault.Error{
		Kind:   fault.Unsupported,
		Path:   path,
		Source: fault.SourceDevice,
		Text: fmt.Sprintf(
			"switch %s: the %s of port %d cannot be set: %s; nothing was sent",
			switchdriver.Label(t.sw),
			path,
			t.port.Number,
			why,
		),
	}
}

// settingSteps are the steps of settings: the description and the power first, then up or down.
func settingSteps(t *portChange, s *switchdriver.PortSettings) ([]step, error) {
	if err := t.refuseMissing(s); err != nil {
		return nil, err
	}
	var steps []step
	add := func(what, oid string, kind writes.Kind, from, to *string) {
		if *from == *to {
			return
		}
		one := step{Step: writes.Step{What: fmt.Sprintf("%s of port %d", what, t.port.Number)}}
		one.addAssignment(oid, kind, from, to)
		steps = append(steps, one)
	}
	if s.Description != nil {
		add(
			"setting the description",
			mib.Sub(mib.IfAlias, t.port.IfIndex),
			writes.Octets,
			writes.Hex(t.alias),
			writes.Hex([]byte(*s.Description)),
		)
	}
	if s.PowerPriority != nil {
		add("setting the power priority", mib.Sub(mib.PsePortPowerPriority, t.pse.group, t.pse.port), writes.Integer,
			writes.Number(int64(*t.now.PowerPriority)), writes.Number(int64(*s.PowerPriority)))
	}
	if s.Power != nil {
		add("setting the power", mib.Sub(mib.PsePortAdminEnable, t.pse.group, t.pse.port), writes.Integer,
			truthValue(*t.now.Power), truthValue(*s.Power))
	}
	if s.Up != nil {
		add(
			"setting the state",
			mib.Sub(mib.IfAdminStatus, t.port.IfIndex),
			writes.Integer,
			adminStatus(*t.now.Up),
			adminStatus(*s.Up),
		)
	}
	return steps, nil
}

// refuseMissing refuses what the switch does not have; all of it is named.
func (t *portChange) refuseMissing(s *switchdriver.PortSettings) error {
	const vendor = "the standard MIBs have no object for it; a driver plugin of the vendor may have"
	const noPower = "it reports no power over Ethernet at this port (pethPsePortTable)"
	var l fault.List
	refuse := func(asked bool, path, why string) {
		if asked {
			l = append(l, fault.All(t.lacks(path, why))...)
		}
	}
	refuse(s.PowerLimit != nil, "power-limit", vendor)
	refuse(s.Speed != nil, "speed", vendor)
	refuse(s.Duplex != nil, "duplex", vendor)
	refuse(s.Description != nil && t.alias == nil, "description", "it has no ifAlias")
	refuse(s.Power != nil && t.now.Power == nil, "power", noPower)
	refuse(s.PowerPriority != nil && t.now.PowerPriority == nil, "power-priority", noPower)
	refuse(
		s.Up != nil && t.now.Up == nil,
		"up",
		"it does not report the port's state (ifAdminStatus)",
	)
	return l.Err()
}

// bounceSteps are the two steps of a bounce.
func bounceSteps(t *portChange, s *switchdriver.PortSettings, pause time.Duration) ([]step, error) {
	if err := t.refuseMissing(s); err != nil {
		return nil, err
	}
	what := "the state"
	oid := mib.Sub(mib.IfAdminStatus, t.port.IfIndex)
	on := adminStatus(true)
	off := adminStatus(false)
	if s.GetPower() {
		what, oid, on, off = "the power", mib.Sub(mib.PsePortAdminEnable, t.pse.group, t.pse.port), truthValue(true), truthValue(false)
	}
	if s.Up != nil && !*t.now.Up || s.Power != nil && !*t.now.Power {
		return nil, fault.At(
			fault.InUse,
			"port",
			"port %d of switch %s is off already; it is not bounced, because that would switch it on",
			t.port.Number,
			switchdriver.Label(t.sw),
		)
	}
	down := step{Step: writes.Step{What: fmt.Sprintf(
		"switching off %s of port %d",
		what,
		t.port.Number,
	)}}
	down.addAssignment(oid, writes.Integer, on, off)
	up := step{
		Step: writes.Step{What: fmt.Sprintf("switching on %s of port %d", what, t.port.Number)},
		wait: pause,
	}
	up.addAssignment(oid, writes.Integer, off, on)
	return []step{down, up}, nil
}

func adminStatus(up bool) *string {
	if up {
		return writes.Number(adminUp)
	}
	return writes.Number(adminDown)
}

func truthValue(on bool) *string {
	if on {
		return writes.Number(isTrue)
	}
	return writes.Number(isFalse)
}
