package mibdriver

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"ctl.internal/internal/lab/network"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/switchdriver"
)

// state is all that a change of VLANs touches, as text.
func state(t *testing.T, d *Driver, sw *switchdriver.Switch) string {
	t.Helper()
	r, err := readTarget(sw)
	if err != nil {
		t.Fatal(err)
	}
	table, err := d.readVLANs(t.Context(), sw, r)
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprint(table.pvid)
	for _, v := range table.listVLANs() {
		e, u := table.configuredPorts(v)
		out += fmt.Sprintf(" | %d %q %v %v", v, table.rows[v].name, e.Sorted(), u.Sorted())
	}
	return out
}

// A process that dies after any of the SETs of a change leaves what becomes whole or
// is undone, on makes with different habits.
func TestRecover(t *testing.T) {
	// Each for a habit: none, ports only after the row, lists of one length, used VLANs stay.
	for _, model := range []string{"generic", "Accton_ECS4610-52T", "D-Link_DGS-1510-28X", "Dell_PowerConnect-5548"} {
		t.Run(model, func(t *testing.T) {
			n, err := network.Start(network.Options{Topology: "single:1", Models: []string{model}, Ports: 8, Hosts: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			entries, _ := switchlist.Parse("lab.csv", n.CSV())
			c := snmp.NewClient(snmp.Options{Timeout: 30 * time.Second})
			defer c.Close()
			recoverAll(t, New(c), entries[0].Switch())
		})
	}
}

func recoverAll(t *testing.T, d *Driver, sw *switchdriver.Switch) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, _ := readTarget(sw)
	w, _ := writeTarget(sw)
	if _, err := d.WriteVLAN(ctx, sw, &switchdriver.VLAN{VlanId: 20, Name: "twenty", EgressPorts: []uint32{4, 5}, UntaggedPorts: []uint32{5}}, true, true); err != nil {
		t.Fatal(err)
	}
	for _, c := range []change{
		{vid: 30, create: true, name: "thirty", setPorts: true, egress: mib.PortsOf(1, 2, 5), untagged: mib.PortsOf(2, 5)},
		{vid: 31, create: true, name: "bare"},
		{vid: 20, setPorts: true, egress: mib.PortsOf(5, 6, 7), untagged: mib.PortsOf(6)},
		{vid: 20, remove: true},
	} {
		for _, a := range listAttempts(sw.Model, c, nil) {
			for last := false; !last; {
				for k := 0; ; k++ {
					before := state(t, d, sw)
					table, err := d.readVLANs(ctx, sw, r)
					if err != nil {
						t.Fatal(err)
					}
					steps := planChange(table, c, a.seq, a.order)
					refused := false
					for _, s := range steps[:min(k, len(steps))] {
						if err := d.snmp.Set(ctx, w, s.set...); err != nil {
							refused = true // not a way for this make
							break
						}
					}
					outcome, text, err := d.Recover(ctx, sw, recordSteps(steps))
					if err != nil || text != "" {
						t.Fatalf("%s, %d of %d steps: %s %q %v", fmt.Sprintf("%+v", c), k, len(steps), outcome, text, err)
					}
					after := state(t, d, sw)
					want := writes.Undone
					if k == len(steps) && !refused {
						want = writes.Whole
					}
					if outcome != want || outcome == writes.Undone && after != before {
						t.Fatalf("%s, %d of %d steps: %s, want %s\nbefore %s\nafter  %s", fmt.Sprintf("%+v", c), k, len(steps), outcome, want, before, after)
					}
					if k == len(steps) || refused {
						if outcome == writes.Whole {
							putBack(t, d, sw, c)
						}
						last = true
						break
					}
				}
			}
		}
	}
}

// putBack makes what a whole change has changed as it was.
func putBack(t *testing.T, d *Driver, sw *switchdriver.Switch, c change) {
	t.Helper()
	v := &switchdriver.VLAN{VlanId: 20, Name: "twenty", EgressPorts: []uint32{4, 5}, UntaggedPorts: []uint32{5}}
	if c.vid != 20 {
		if err := d.DeleteVLAN(t.Context(), sw, c.vid); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.WriteVLAN(t.Context(), sw, v, c.remove, true); err != nil {
		t.Fatal(err)
	}
}

// A static entry whose SET was sent is whole, one whose was not is undone, and one that
// somebody else has moved since stays.
func TestRecoverStaticEntries(t *testing.T) {
	n, err := network.Start(network.Options{Topology: "single:1", Ports: 8, Hosts: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	entries, _ := switchlist.Parse("lab.csv", n.CSV())
	c := snmp.NewClient(snmp.Options{Timeout: 5 * time.Second})
	t.Cleanup(c.Close)
	d, sw := New(c), entries[0].Switch()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, _ := readTarget(sw)
	const mac = 0x02005e005301
	rows := func() []staticRow {
		t.Helper()
		ids, err := d.fdbIDs(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := d.staticRows(ctx, r, ids.fdbForVLAN(1), mac)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	write := func(port uint32) {
		t.Helper()
		if err := d.WriteFDBEntry(ctx, sw, &switchdriver.FDBEntry{VlanId: 1, Mac: mac, Port: port}); err != nil {
			t.Fatal(err)
		}
	}
	settled := func(what string, a []writes.Assignment, want writes.Outcome, left int) {
		t.Helper()
		outcome, text, err := d.Recover(ctx, sw, []writes.Step{{What: what, Assigns: a}})
		if got := rows(); err != nil || outcome != want || len(got) != left {
			t.Errorf("%s: %s %q %v, %d rows, want %s and %d", what, outcome, text, err, len(got), want, left)
		}
	}
	write(2)
	two := rows()[0]
	none := staticRow{ports: two.ports, status: two.status}
	settled("made", none.becomes(two.to, two.kind), writes.Whole, 1)
	settled("not removed yet", two.becomes(nil, mib.StaticUnicastInvalid), writes.Undone, 1)
	write(3)
	three := rows()[0]
	settled("moved", two.becomes(three.to, three.kind), writes.Whole, 1)
	settled("not moved", three.becomes(two.to, two.kind), writes.Undone, 1)
	settled("moved elsewhere since", two.becomes([]byte{0x08}, mib.StaticUnicastPermanent), writes.Left, 1)
	if err := d.DeleteFDBEntry(ctx, sw, 1, mac); err != nil {
		t.Fatal(err)
	}
	settled("removed", three.becomes(nil, mib.StaticUnicastInvalid), writes.Whole, 0)
	settled("never made", none.becomes(two.to, two.kind), writes.Undone, 0)
	write(4) // a row that is there with other ports than the change was to give it
	settled("made, with other ports", none.becomes(two.to, two.kind), writes.Undone, 0)
}

// What somebody else has changed since is not touched, and is reported.
func TestRecoverLeavesOthersAlone(t *testing.T) {
	n, err := network.Start(network.Options{Topology: "single:1", Ports: 28, Hosts: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	entries, _ := switchlist.Parse("lab.csv", n.CSV())
	c := snmp.NewClient(snmp.Options{Timeout: 30 * time.Second})
	t.Cleanup(c.Close)
	d, sw := New(c), entries[0].Switch()
	r, _ := readTarget(sw)
	w, _ := writeTarget(sw)
	table, err := d.readVLANs(t.Context(), sw, r)
	if err != nil {
		t.Fatal(err)
	}
	steps := planChange(table, change{vid: 30, create: true, name: "x", setPorts: true, egress: mib.PortsOf(2), untagged: mib.PortsOf(2)}, Sequences("")[0], joinFirst)
	for _, s := range steps[:2] { // the row and the PVID
		if err := d.snmp.Set(t.Context(), w, s.set...); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.snmp.Set(t.Context(), w, snmp.Gauge(mib.Sub(mib.QPvid, 2), 1), snmp.Octets(mib.Sub(mib.QVlanStaticName, 1), []byte("mine"))); err != nil {
		t.Fatal(err)
	}
	if outcome, text, err := d.Recover(t.Context(), sw, recordSteps(steps)); err != nil || outcome != writes.Undone {
		t.Errorf("the PVID is as it was again: %s %s %v", outcome, text, err)
	}
	for _, s := range steps[:2] {
		if err := d.snmp.Set(t.Context(), w, s.set...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.WriteVLAN(t.Context(), sw, &switchdriver.VLAN{VlanId: 40}, true, false); err != nil {
		t.Fatal(err)
	}
	if err := d.snmp.Set(t.Context(), w, snmp.Gauge(mib.Sub(mib.QPvid, 2), 40)); err != nil {
		t.Fatal(err)
	}
	outcome, text, err := d.Recover(t.Context(), sw, recordSteps(steps))
	if err != nil || outcome != writes.Left || text == "" {
		t.Errorf("%s %q %v", outcome, text, err)
	}
	if after, err := d.readVLANs(t.Context(), sw, r); err != nil || after.pvid[2] != 40 || after.rows[30] != nil {
		t.Errorf("PVID %v, row %v, %v", after.pvid[2], after.rows[30], err)
	}
}

// becomes is the record of a change of the row; invalid is its removal.
func (s staticRow) becomes(to []byte, kind int64) []writes.Assignment {
	number := func(n int64) *string {
		if n == 0 || n == mib.StaticUnicastInvalid {
			return nil
		}
		return writes.Number(n)
	}
	return []writes.Assignment{{OID: s.ports, Kind: writes.Octets, From: writes.Hex(s.to), To: writes.Hex(to)},
		{OID: s.status, Kind: writes.FDB, From: number(s.kind), To: number(kind)}}
}

// What the steps themselves give an instance, one after the other, nobody else has changed; and of a PortList only the
// ports that the steps change are given back.
func TestUndoChains(t *testing.T) {
	const list = mib.QVlanStaticEgress + ".1"
	hex := func(b ...byte) *string { return writes.Hex(b) }
	twice := []writes.Step{
		{What: "first", Assigns: []writes.Assignment{{OID: list, Kind: writes.Octets, From: hex(0xff), To: hex(0x9f), Mask: "ff"}, {OID: ".1.7", Kind: writes.Gauge, From: writes.Number(1), To: writes.Number(5)}}},
		{What: "second", Assigns: []writes.Assignment{{OID: list, Kind: writes.Octets, From: hex(0x9f), To: hex(0x8f), Mask: "ff"}, {OID: ".1.7", Kind: writes.Gauge, From: writes.Number(5), To: writes.Number(9)}}},
	}
	for name, c := range map[string]struct {
		list, number *string
		back         []string // the value that the list is given by each step that is taken back, the last first
		foreign      int
	}{
		"nothing was sent":                {hex(0xff), writes.Number(1), nil, 0},
		"the first was":                   {hex(0x9f), writes.Number(5), []string{"ff"}, 0},
		"both were":                       {hex(0x8f), writes.Number(9), []string{"9f", "ff"}, 0},
		"half of the second":              {hex(0x8f), writes.Number(5), []string{"9f", "ff"}, 0},
		"somebody else took port 8 out":   {hex(0x8e), writes.Number(9), []string{"9e", "fe"}, 0},
		"somebody else set the number":    {hex(0xff), writes.Number(77), nil, 2},
		"a port moved, but not the other": {hex(0xbf), writes.Number(1), []string{"ff"}, 0},
	} {
		now := values{list: c.list, ".1.7": c.number}
		_, all := assignmentChains(twice)
		var back []string
		foreign := 0
		for _, s := range slices.Backward(twice) {
			ways, others := undoStep(s, all, now, false)
			foreign += len(others)
			if len(ways) == 0 {
				continue
			}
			for _, pdu := range ways[0][0] {
				if b, ok := pdu.Value.([]byte); ok {
					now[pdu.Name] = writes.Hex(b)
					back = append(back, *now[pdu.Name])
				} else {
					now[pdu.Name] = writes.Number(int64(pdu.Value.(uint32)))
				}
			}
		}
		if !slices.Equal(back, c.back) || foreign != c.foreign {
			t.Errorf("%s: given back %v, want %v; changed by others %d, want %d", name, back, c.back, foreign, c.foreign)
		}
		if left := changedAssignments(twice, now, false); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}
