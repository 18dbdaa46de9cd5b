package mibdriver

import (
	"context"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// WriteFDBEntry makes a permanent entry of dot1qStaticUnicastTable, for frames
// from any port. The port must be in the VLAN.
func (d *Driver) WriteFDBEntry(
	ctx context.Context,
	sw *switchdriver.Switch,
	e *switchdriver.FDBEntry,
) error {
	if err := switchdriver.CheckFDBEntry(e); err != nil {
		return err
	}
	r, w, err := readWriteTargets(sw)
	if err != nil {
		return err
	}
	vlans, err := d.readVLANs(ctx, sw, r)
	if err != nil {
		return err
	}
	if err := checkEntry(sw, vlans, e); err != nil {
		return err
	}
	if !vlans.form.Writable() {
		return asText(sw)
	}
	ids, err := d.fdbIDs(ctx, r)
	if err != nil {
		return deviceFault(sw, err)
	}
	ix := append(append([]uint32{ids.fdbForVLAN(e.VlanId)}, mib.MAC(e.Mac).Arcs()...), 0)
	ports := mib.Sub(mib.QStaticUnicastPorts, ix...)
	status := mib.Sub(mib.QStaticUnicastStatus, ix...)
	list := (&planner{t: vlans}).makePortList(nil, mib.PortsOf(e.Port))
	old, err := d.snmp.Get(ctx, r, ports, status)
	if err != nil {
		return deviceFault(sw, err)
	}
	var fromPorts []byte
	var fromStatus *string
	if old[1].Exists() && old[1].Int() != mib.StaticUnicastInvalid {
		fromPorts, fromStatus = old[0].Bytes(), writes.Number(old[1].Int())
	}
	s := step{Step: writes.Step{What: "setting the static entry"}}
	// The ports come first: some switches choose a port of their own at the status.
	s.assignList(ports, vlans.known, fromPorts, list)
	s.addAssignment(status, writes.FDB, fromStatus, writes.Number(mib.StaticUnicastPermanent))
	return d.applySteps(ctx, sw, r, w, []step{s}, nil)
}

// checkEntry refuses an entry whose VLAN is not there or does not have the port.
func checkEntry(sw *switchdriver.Switch, t *vlanTable, e *switchdriver.FDBEntry) error {
	if t.rows[e.VlanId] == nil {
		return fault.At(
			fault.NotFound,
			pathVLAN,
			"switch %s has no VLAN %d",
			switchdriver.Label(sw),
			e.VlanId,
		)
	}
	if egress, _ := t.memberPorts(e.VlanId); !egress[e.Port] {
		return fault.At(
			fault.Invalid,
			"port",
			"port %d is not in VLAN %d of switch %s; its ports are %v",
			e.Port,
			e.VlanId,
			switchdriver.Label(sw),
			egress.Sorted(),
		)
	}
	return nil
}

// DeleteFDBEntry removes a static entry, for whichever receive port it was made. A
// learned one cannot be removed: it ages out.
func (d *Driver) DeleteFDBEntry(
	ctx context.Context,
	sw *switchdriver.Switch,
	vlanID uint32,
	mac uint64,
) error {
	r, w, err := readWriteTargets(sw)
	if err != nil {
		return err
	}
	ids, err := d.fdbIDs(ctx, r)
	if err != nil {
		return deviceFault(sw, err)
	}
	rows, err := d.staticRows(ctx, r, ids.fdbForVLAN(vlanID), mib.MAC(mac))
	if err != nil {
		return deviceFault(sw, err)
	}
	if len(rows) == 0 {
		if _, err := d.ReadFDB(ctx, sw, vlanID, mac); err != nil {
			return err
		}
		return fault.Device(
			fault.Unsupported,
			"the entry for %s in VLAN %d of switch %s was learned; only static entries can be removed, it ages out by itself",
			mib.MAC(mac),
			vlanID,
			switchdriver.Label(sw),
		)
	}
	s := step{Step: writes.Step{What: "removing the static entry"}}
	for _, row := range rows {
		s.addAssignment(row.ports, writes.Octets, writes.Hex(row.to), nil)
		s.addAssignment(row.status, writes.FDB, writes.Number(row.kind), nil)
	}
	return d.applySteps(ctx, sw, r, w, []step{s}, func() (string, error) {
		left, err := d.staticRows(ctx, r, ids.fdbForVLAN(vlanID), mib.MAC(mac))
		if len(left) > 0 {
			return "it still", err
		}
		return "", err
	})
}

// applySteps sends the SETs of a change, noted before, and reads back all that they assign. look, if there is one, says
// how the switch does not show the change beside that.
func (d *Driver) applySteps(
	ctx context.Context,
	sw *switchdriver.Switch,
	r, w snmp.Target,
	steps []step,
	look func() (differs string, err error),
) error {
	j := &job{
		d:  d,
		sw: sw,
		r:  r,
		w:  w,
		look: func() (now values, differs string, err error) {
			if look != nil {
				if differs, err = look(); err != nil || differs != "" {
					return nil, differs, err
				}
			}
			now, err = d.readCurrent(ctx, r, recordSteps(steps))
			return now, "", err
		},
	}
	return j.runSteps(ctx, steps)
}

// staticRow is a row of dot1qStaticUnicastTable: its instances and what they hold.
type staticRow struct {
	ports, status string
	to            []byte
	kind          int64 // 0: there is no such row
}

// staticRows finds the rows of an address, one for each receive port.
func (d *Driver) staticRows(
	ctx context.Context,
	t snmp.Target,
	fdb uint32,
	mac mib.MAC,
) ([]staticRow, error) {
	under := append([]uint32{fdb}, mac.Arcs()...)
	ports := mib.Sub(mib.QStaticUnicastPorts, under...)
	status := mib.Sub(mib.QStaticUnicastStatus, under...)
	lists := map[string][]byte{}
	var rows []staticRow
	err := d.snmp.WalkFrom(ctx, t, 2, []string{ports, status}, func(c int, ix []uint32, v snmp.Value) error {
		switch oid := mib.Sub([]string{ports, status}[c], ix...); {
		case c == 0:
			lists[oid] = v.Bytes()
		case v.Int() != mib.StaticUnicastInvalid:
			rows = append(rows, staticRow{
				ports:  mib.Sub(ports, ix...),
				status: oid,
				kind:   v.Int(),
			})
		}
		return nil
	})
	for i := range rows {
		rows[i].to = lists[rows[i].ports]
	}
	return rows, err
}

// readBack looks until the switch shows what was set. look returns how it does not.
func (d *Driver) readBack(
	ctx context.Context,
	sw *switchdriver.Switch,
	look func() (differs string, err error),
) error {
	differs, err := writes.ReadBack(ctx, look)
	switch {
	case err != nil || differs == "":
		return deviceFault(sw, err)
	case ctx.Err() != nil:
		return fault.Wrap(
			fault.Timeout,
			ctx.Err(),
			"switch %s accepted the change but still shows %s",
			switchdriver.Label(sw),
			differs,
		)
	}
	return fault.Device(
		fault.Downstream,
		"switch %s accepted the change but shows %s",
		switchdriver.Label(sw),
		differs,
	)
}
