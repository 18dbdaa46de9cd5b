package mibdriver

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmprec"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
)

func TestBesides(t *testing.T) {
	table := func(change func(*vlanTable)) *vlanTable {
		v := &vlanTable{known: mib.PortsOf(1, 2, 3, 4), pvid: map[uint32]mib.VID{1: 1, 2: 1, 3: 20, 4: 1},
			rows: map[mib.VID]*vlanRow{
				1:  {static: true, name: "default", rawName: []byte("default"), egress: []byte{0xd0}, untagged: []byte{0xd0}},
				20: {static: true, name: "twenty", rawName: []byte("twenty"), egress: []byte{0x30}, untagged: []byte{0x20}},
			}}
		change(v)
		return v
	}
	assigned := step{}
	assigned.addAssignment(mib.Sub(mib.QPvid, 1), writes.Gauge, writes.Number(1), writes.Number(30))
	for name, k := range map[string]struct {
		change func(*vlanTable)
		ignore mib.Ports
		want   string
	}{
		"nothing":                            {func(*vlanTable) {}, nil, ""},
		"what a step assigns":                {func(v *vlanTable) { v.pvid[1] = 7 }, nil, ""},
		"a VLAN that came":                   {func(v *vlanTable) { v.rows[40] = &vlanRow{static: true, egress: []byte{0xf0}} }, nil, ""},
		"an untagged bit of no member":       {func(v *vlanTable) { v.rows[20].untagged = []byte{0x60} }, nil, ""},
		"a bit of a port that is not there":  {func(v *vlanTable) { v.rows[20].egress = []byte{0x31} }, nil, ""},
		"a port joined":                      {func(v *vlanTable) { v.rows[20].egress = []byte{0x70} }, nil, "VLAN 20 with the ports 2"},
		"a port left":                        {func(v *vlanTable) { v.rows[20].egress = []byte{0x20} }, nil, "VLAN 20 without the ports 4"},
		"a port became untagged":             {func(v *vlanTable) { v.rows[20].untagged = []byte{0x30} }, nil, "VLAN 20 with the untagged ports 4"},
		"a PVID":                             {func(v *vlanTable) { v.pvid[2] = 20 }, nil, "port 2 with PVID 20"},
		"a VLAN went":                        {func(v *vlanTable) { delete(v.rows, 20) }, nil, "no VLAN 20"},
		"a member of an aggregate that came": {func(v *vlanTable) { v.rows[20].egress = []byte{0x70} }, mib.PortsOf(2), ""},
		"its PVID":                           {func(v *vlanTable) { v.pvid[2] = 20 }, mib.PortsOf(2), ""},
	} {
		s := besides(table(func(*vlanTable) {}), table(k.change), []step{assigned}, k.ignore)
		text := ""
		if len(s.Assigns) > 0 {
			text = said(s)
		}
		if (text == "") != (k.want == "") || !strings.HasPrefix(text, k.want) {
			t.Errorf("%s: %q, want %q", name, text, k.want)
		}
	}
}

// The ports of the aggregate that a port is, or is in; not the port itself.
func TestBundled(t *testing.T) {
	m, err := snmprec.Read(strings.NewReader(`1.3.6.1.2.1.17.1.4.1.2.1|2|101
1.3.6.1.2.1.17.1.4.1.2.2|2|102
1.3.6.1.2.1.17.1.4.1.2.3|2|103
1.3.6.1.2.1.17.1.4.1.2.60|2|900
1.2.840.10006.300.43.1.2.1.1.13.101|2|900
1.2.840.10006.300.43.1.2.1.1.13.102|2|900
1.2.840.10006.300.43.1.2.1.1.13.103|2|0
`))
	if err != nil {
		t.Fatal(err)
	}
	h := snmpagent.NewHost()
	t.Cleanup(h.Close)
	s, err := h.Listen(netip.MustParseAddrPort("127.0.0.1:0"), snmpagent.New(snmpagent.Config{MIB: m, ReadCommunity: "public"}))
	if err != nil {
		t.Fatal(err)
	}
	c := snmp.NewClient(snmp.Options{Timeout: 10 * time.Second})
	t.Cleanup(c.Close)
	target := snmp.Target{Addr: s.Addr(), Version: "2c", Community: "public"}
	for port, want := range map[uint32][]uint32{60: {1, 2}, 1: {2, 60}, 3: {}} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		got, err := New(c).bundled(ctx, target, mib.PortsOf(port))
		cancel()
		if d := cmp.Diff(want, got.Sorted()); err != nil || d != "" {
			t.Errorf("port %d: %v\n%s", port, err, d)
		}
	}
}
