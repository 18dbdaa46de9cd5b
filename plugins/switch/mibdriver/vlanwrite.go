package mibdriver

import (
	"context"
	"errors"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// WriteVLAN makes a VLAN, or changes the ports of one, and returns it as read back.
// The untagged ports get its id as PVID and leave the VLAN they were untagged in.
// On failure what was done is taken back.
func (d *Driver) WriteVLAN(
	ctx context.Context,
	sw *switchdriver.Switch,
	v *switchdriver.VLAN,
	create, setPorts bool,
) (*switchdriver.VLAN, error) {
	return d.WriteVLANBy(ctx, sw, v, create, setPorts, Way{})
}

// Way is how a VLAN is made on a model, where somebody has described it.
type Way struct {
	Sequence   Sequence // the only one that is tried; nil: those of Sequences
	ListOctets int      // length of PortList values; 0: as the switch has them
}

// WriteVLANBy is WriteVLAN in a described way.
func (d *Driver) WriteVLANBy(
	ctx context.Context,
	sw *switchdriver.Switch,
	v *switchdriver.VLAN,
	create, setPorts bool,
	way Way,
) (*switchdriver.VLAN, error) {
	c := change{
		vid:      v.GetVlanId(),
		create:   create,
		name:     v.GetName(),
		setPorts: setPorts,
		listSize: way.ListOctets,
		egress:   mib.PortsOf(v.GetEgressPorts()...),
		untagged: mib.PortsOf(v.GetUntaggedPorts()...),
	}
	c.egress = c.egress.Union(c.untagged)
	after, err := d.changeVLAN(ctx, sw, c, way.Sequence)
	if err != nil {
		return nil, err
	}
	return after.toVLAN(c.vid), nil
}

// DeleteVLAN removes a VLAN. Ports whose untagged VLAN it was go back to VLAN 1.
func (d *Driver) DeleteVLAN(ctx context.Context, sw *switchdriver.Switch, vlanID uint32) error {
	_, err := d.changeVLAN(ctx, sw, change{
		vid:    vlanID,
		remove: true,
	}, nil)
	return err
}

// changeVLAN reads, checks, plans, sends and reads back; it returns what it has read then.
func (d *Driver) changeVLAN(
	ctx context.Context,
	sw *switchdriver.Switch,
	c change,
	only Sequence,
) (after *vlanTable, err error) {
	r, w, err := readWriteTargets(sw)
	if err != nil {
		return nil, err
	}
	j := &job{d: d, sw: sw, r: r, w: w}
	if err := j.renumberPorts(ctx, &c); err != nil {
		return nil, err
	}
	before, err := d.readVLANs(ctx, sw, r)
	if err != nil {
		return nil, err
	}
	if err := checkChange(sw, before, c); err != nil {
		return nil, err
	}
	j.vlans = before
	j.look = func() (_ values, differs string, err error) {
		after, err = d.readVLANs(ctx, sw, r)
		if c.remove && fault.KindOf(err) == fault.Unsupported { // the last VLAN is gone
			after, err = &vlanTable{}, nil
		}
		if err != nil {
			return nil, "", err
		}
		j.now = after
		return after.tableValues(), compareTable(after, c), nil
	}
	var first error
	for _, attempt := range listAttempts(sw.Model, c, only) {
		err := j.runSteps(ctx, planChange(before, c, attempt.seq, attempt.order))
		if err == nil {
			return after, nil
		}
		if j.left {
			return nil, err // rather than the first, because it says what is left
		}
		if first == nil {
			first = err
		}
		var e *snmp.Error
		if !errors.As(err, &e) || e.Status == 0 || e.Access() {
			break // only a refusal is worth another way
		}
	}
	return nil, first
}

type attempt struct {
	seq   Sequence
	order order
}

// listAttempts are the ways to try, one after the other.
func listAttempts(model string, c change, only Sequence) []attempt {
	seqs := Sequences(model)
	if only != nil {
		seqs = []Sequence{only}
	}
	if !c.create {
		seqs = seqs[:1]
	}
	var out []attempt
	for _, s := range seqs {
		out = append(out, attempt{s, joinFirst})
	}
	if c.setPorts || c.remove {
		for _, s := range seqs {
			out = append(out, attempt{s, leaveFirst})
		}
	}
	return out
}

// checkChange refuses what must not be sent.
func checkChange(sw *switchdriver.Switch, t *vlanTable, c change) error {
	r := t.rows[c.vid]
	switch {
	case c.create && r != nil && r.static:
		return fault.At(
			fault.Exists,
			pathVLAN,
			"VLAN %d exists on switch %s",
			c.vid,
			switchdriver.Label(sw),
		)
	case !c.create && r == nil:
		return fault.At(
			fault.NotFound,
			pathVLAN,
			"switch %s has no VLAN %d",
			switchdriver.Label(sw),
			c.vid,
		)
	case !c.create && !r.static:
		return fault.At(
			fault.NotFound,
			pathVLAN,
			"VLAN %d of switch %s was learned, not configured; it cannot be changed",
			c.vid,
			switchdriver.Label(sw),
		)
	case c.remove && c.vid == defaultVLAN:
		return fault.At(
			fault.Invalid,
			pathVLAN,
			"VLAN %d is the default VLAN and cannot be removed",
			c.vid,
		)
	}
	egress, _ := t.configuredPorts(c.vid)
	if !t.form.Writable() && (c.setPorts || c.remove && len(egress) > 0) {
		return asText(sw)
	}
	if !c.setPorts {
		return nil
	}
	if t.known == nil {
		return fault.Device(
			fault.Unsupported,
			"switch %s does not report its ports (dot1dBasePortTable), so no port can be set",
			switchdriver.Label(sw),
		)
	}
	var l fault.List
	for _, p := range c.egress.Sorted() {
		path := PathTagged
		if c.untagged[p] {
			path = PathUntagged
		}
		if !t.known[p] {
			l = append(
				l,
				fault.At(
					fault.Invalid,
					path,
					"switch %s has no port %d",
					switchdriver.Label(sw),
					p,
				),
			)
		}
	}
	return l.Err()
}

// The paths of faults in a VLAN, below the input of the RPC that asked.
const (
	pathVLAN     = "vlan-id"
	PathTagged   = "tagged-port-list"
	PathUntagged = "untagged-port-list"
	pathPort     = "port"
	pathAddress  = "ip-address"
)
