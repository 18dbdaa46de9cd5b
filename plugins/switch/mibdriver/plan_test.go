package mibdriver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
)

// table makes a switch with ports 1 to 8: all untagged in VLAN 1, but those of the
// VLANs given.
func table(vlans map[mib.VID][2][]uint32) *vlanTable {
	t := &vlanTable{known: mib.PortsOf(1, 2, 3, 4, 5, 6, 7, 8), rows: map[mib.VID]*vlanRow{}, pvid: map[uint32]mib.VID{}}
	one := mib.PortsOf(1, 2, 3, 4, 5, 6, 7, 8)
	for v, l := range vlans {
		egress, untagged := mib.PortsOf(l[0]...), mib.PortsOf(l[1]...)
		t.rows[v] = &vlanRow{static: true, status: mib.RowActive, egress: mib.Update([]byte{0, 0x5a}, t.known, egress), untagged: mib.Update([]byte{0, 0}, t.known, untagged)}
		for n := range untagged {
			delete(one, n)
			t.pvid[n] = v
		}
	}
	for n := range one {
		t.pvid[n] = 1
	}
	t.rows[1] = &vlanRow{static: true, status: mib.RowActive, egress: mib.Update([]byte{0, 0x5a}, t.known, one), untagged: mib.Update([]byte{0, 0}, t.known, one)}
	return t
}

// show writes steps one a line, "set ← undo", the columns by name.
func show(steps []step) string {
	names := strings.NewReplacer(mib.QVlanStaticName, "name", mib.QVlanStaticEgress, "egress", mib.QVlanStaticUntagged, "untagged",
		mib.QVlanStaticRowStatus, "status", mib.QPvid, "pvid")
	var b strings.Builder
	for _, s := range steps {
		for _, v := range s.set {
			fmt.Fprintf(&b, "%s=%s ", names.Replace(v.Name), text(v.Value))
		}
		b.WriteString("←")
		for _, set := range takenBack(s) {
			for _, v := range set {
				fmt.Fprintf(&b, " %s=%s", names.Replace(v.Name), text(v.Value))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// takenBack is the first way to take a step back that the switch shows all of.
func takenBack(s step) way {
	now := values{}
	for _, a := range s.Assigns {
		now[a.OID] = a.To
	}
	_, all := assignmentChains([]writes.Step{s.Step})
	ways, _ := undoStep(s.Step, all, now, true)
	if len(ways) == 0 {
		return nil
	}
	return ways[0]
}

func text(v any) string {
	if b, ok := v.([]byte); ok {
		return fmt.Sprintf("%x", b)
	}
	return fmt.Sprint(v)
}

func TestPlan(t *testing.T) {
	together := Sequences("")[0]
	hundred := map[mib.VID][2][]uint32{100: {{1, 2, 3}, {2, 3}}}
	for _, c := range []struct {
		name   string
		t      *vlanTable
		c      change
		seq    Sequence
		o      order
		expect string
	}{
		{"a VLAN without ports", table(nil), change{vid: 5, create: true, name: "x"}, together, joinFirst,
			"name.5=78 status.5=4 ← status.5=6\n"},
		{"an access port: it leaves VLAN 1; bits after the ports stay", table(nil),
			change{vid: 5, create: true, setPorts: true, egress: mib.PortsOf(1, 2), untagged: mib.PortsOf(2)}, together, joinFirst,
			"egress.5=c000 untagged.5=4000 status.5=4 ← status.5=6\n" +
				"pvid.2=5 ← pvid.2=1\n" +
				"egress.1=bf5a untagged.1=bf00 ← egress.1=ff5a untagged.1=ff00\n"},
		{"a switch that wants the port out of VLAN 1 first", table(nil),
			change{vid: 5, create: true, setPorts: true, egress: mib.PortsOf(2), untagged: mib.PortsOf(2)}, together, leaveFirst,
			"egress.1=bf5a untagged.1=bf00 ← egress.1=ff5a untagged.1=ff00\n" +
				"egress.5=4000 untagged.5=4000 status.5=4 ← status.5=6\n" +
				"pvid.2=5 ← pvid.2=1\n"},
		{"a switch that makes the VLAN first", table(nil), change{vid: 5, create: true, name: "x", setPorts: true, egress: mib.PortsOf(1)},
			Sequences("Accton_ECS4610-52T")[0], joinFirst,
			"status.5=4 ← status.5=6\nname.5=78 egress.5=8000 untagged.5=0000 ←\n"},
		{"create and wait", table(nil), change{vid: 5, create: true, name: "x"}, Sequences("")[2], joinFirst,
			"status.5=5 ← status.5=6\nname.5=78 ←\nstatus.5=1 ←\n"},
		{"a port leaves: back to VLAN 1, in which it was", table(hundred),
			change{vid: 100, setPorts: true, egress: mib.PortsOf(1, 2), untagged: mib.PortsOf(2)}, nil, joinFirst,
			"egress.100=c05a untagged.100=4000 ← egress.100=e05a untagged.100=6000\n" +
				"egress.1=bf5a untagged.1=bf00 ← egress.1=9f5a untagged.1=9f00\n" +
				"pvid.3=1 ← pvid.3=100\n"},
		{"an untagged port becomes tagged: PVID 1, but not in VLAN 1", table(hundred),
			change{vid: 100, setPorts: true, egress: mib.PortsOf(1, 2, 3), untagged: mib.PortsOf(3)}, nil, joinFirst,
			"egress.100=e05a untagged.100=2000 ← untagged.100=6000\n" +
				"pvid.2=1 ← pvid.2=100\n"},
		{"nothing to change", table(hundred), change{vid: 100, setPorts: true, egress: mib.PortsOf(1, 2, 3), untagged: mib.PortsOf(2, 3)}, nil, joinFirst, ""},
		{"removing", table(hundred), change{vid: 100, remove: true}, nil, joinFirst,
			"egress.1=ff5a untagged.1=ff00 ← egress.1=9f5a untagged.1=9f00\n" +
				"pvid.2=1 pvid.3=1 ← pvid.2=100 pvid.3=100\n" +
				"status.100=6 ← egress.100=e05a untagged.100=6000 status.100=4\n"},
		{"removing where the ports must leave first", table(hundred), change{vid: 100, remove: true}, nil, leaveFirst,
			"egress.100=005a untagged.100=0000 ← egress.100=e05a untagged.100=6000\n" +
				"egress.1=ff5a untagged.1=ff00 ← egress.1=9f5a untagged.1=9f00\n" +
				"pvid.2=1 pvid.3=1 ← pvid.2=100 pvid.3=100\n" +
				"status.100=6 ← egress.100=005a untagged.100=0000 status.100=4\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := show(planChange(c.t, c.c, c.seq, c.o))
			if d := cmp.Diff(c.expect, before); d != "" {
				t.Error("(-want +got):\n" + d)
			}
			if again := show(planChange(c.t, c.c, c.seq, c.o)); again != before {
				t.Error("planning changed the table it plans for")
			}
		})
	}
}

// A VLAN's state is distinguished from the one asked for.
func TestCompare(t *testing.T) {
	ask := change{vid: 100, setPorts: true, egress: mib.PortsOf(1, 2, 3), untagged: mib.PortsOf(2, 3)}
	good := func() *vlanTable { return table(map[mib.VID][2][]uint32{100: {{1, 2, 3}, {2, 3}}}) }
	if d := compareTable(good(), ask); d != "" {
		t.Errorf("as asked for, but: %s", d)
	}
	for want, spoil := range map[string]func(*vlanTable){
		"no VLAN 100":        func(t *vlanTable) { delete(t.rows, 100) },
		"row status":         func(t *vlanTable) { t.rows[100].status = mib.RowNotReady },
		"ports 1":            func(t *vlanTable) { t.rows[100].egress = []byte{0x80} },
		"untagged":           func(t *vlanTable) { t.rows[100].untagged = []byte{0x20} },
		"port 3 with PVID 1": func(t *vlanTable) { t.pvid[3] = 1 },
	} {
		v := good()
		spoil(v)
		if d := compareTable(v, ask); !strings.Contains(d, want) {
			t.Errorf("%q: %q", want, d)
		}
	}
}
