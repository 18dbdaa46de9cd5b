package simswitch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpwire"
)

const (
	active, notInService, notReady, createAndGo, createAndWait, destroy = 1, 2, 3, 4, 5, 6
)

// The RowStatus table of RFC 2579 and what Q-BRIDGE adds.
func TestVLANRowStatus(t *testing.T) {
	const bad, badName = snmpwire.InconsistentValue, snmpwire.InconsistentName
	for name, c := range map[string]struct {
		before, set []any
		status      snmpwire.Status
		place       int
		row         string // RowStatus of VLAN 100 afterwards
	}{
		"create":                    {nil, []any{vlanStatus + "100", createAndGo}, 0, 0, "0x2:1"},
		"create with a name before": {nil, []any{vlanName + "100", "v", vlanStatus + "100", createAndGo}, 0, 0, "0x2:1"},
		"create and wait":           {nil, []any{vlanStatus + "100", createAndWait}, 0, 0, "0x2:2"},
		"wait, then active":         {[]any{vlanStatus + "100", createAndWait}, []any{vlanStatus + "100", active}, 0, 0, "0x2:1"},
		"active, then not":          {[]any{vlanStatus + "100", createAndGo}, []any{vlanStatus + "100", notInService}, 0, 0, "0x2:2"},
		"create twice":              {[]any{vlanStatus + "100", createAndGo}, []any{vlanStatus + "100", createAndGo}, bad, 1, "0x2:1"},
		"wait on a row there is":    {[]any{vlanStatus + "100", createAndGo}, []any{vlanStatus + "100", createAndWait}, bad, 1, "0x2:1"},
		"active on no row":          {nil, []any{vlanStatus + "100", active}, bad, 1, "noSuchInstance"},
		"not ready is the agent's":  {nil, []any{vlanStatus + "100", notReady}, snmpwire.WrongValue, 1, "noSuchInstance"},
		"destroy":                   {[]any{vlanStatus + "100", createAndGo}, []any{vlanStatus + "100", destroy}, 0, 0, "noSuchInstance"},
		"destroy no row":            {nil, []any{vlanStatus + "100", destroy}, 0, 0, "noSuchInstance"},
		"destroy the default VLAN":  {nil, []any{vlanStatus + "1", destroy}, bad, 1, "noSuchInstance"},
		"stop the default VLAN":     {nil, []any{vlanStatus + "1", notInService}, bad, 1, "noSuchInstance"},
		"VLAN 0":                    {nil, []any{vlanStatus + "0", createAndGo}, snmpwire.NoCreation, 1, "noSuchInstance"},
		"VLAN 4095":                 {nil, []any{vlanStatus + "4095", createAndGo}, snmpwire.NoCreation, 1, "noSuchInstance"},
		"a column without a row":    {nil, []any{vlanName + "100", "v"}, badName, 1, "noSuchInstance"},
		"a name too long":           {nil, []any{vlanStatus + "100", createAndGo, vlanName + "100", "123456789012345678901234567890123"}, snmpwire.WrongLength, 2, "noSuchInstance"},
		"untagged, not egress":      {nil, []any{vlanStatus + "100", createAndGo, vlanUntagged + "100", "\x80\x00"}, bad, 2, "noSuchInstance"},
		"forbidden, and egress":     {nil, []any{vlanForbid + "100", "\x80\x00", vlanEgress + "100", "\x80\x00", vlanStatus + "100", createAndGo}, bad, 1, "noSuchInstance"},
		"a port there is not":       {nil, []any{vlanStatus + "100", createAndGo, vlanEgress + "100", "\x00\x20"}, snmpwire.WrongValue, 2, "noSuchInstance"},
		"a short list":              {nil, []any{vlanStatus + "100", createAndGo, vlanEgress + "100", "\x80"}, 0, 0, "0x2:1"},
		"a long list of zeros":      {nil, []any{vlanStatus + "100", createAndGo, vlanEgress + "100", "\x80\x00\x00\x00"}, 0, 0, "0x2:1"},
		"a good one and a bad one":  {nil, []any{vlanStatus + "100", createAndGo, vlanStatus + "1", destroy}, bad, 2, "noSuchInstance"},
	} {
		b := newBench(t, nil)
		if c.before != nil {
			b.must(t, c.before...)
		}
		status, place := b.set(c.set...)
		if status != c.status || place != c.place {
			t.Errorf("%s: %s at %d, want %s at %d", name, status, place, c.status, c.place)
		}
		if got := b.get(vlanStatus + "100"); got != c.row {
			t.Errorf("%s: the row's status is %s, want %s", name, got, c.row)
		}
	}
}

// What is set static is current while the row is active.
func TestVLANCurrentFollowsStatic(t *testing.T) {
	b := newBench(t, nil)
	b.must(t, vlanName+"100", "lab", vlanEgress+"100", "\xe0\x00", vlanUntagged+"100", "\x20\x00", vlanStatus+"100", createAndGo)
	if got := b.get(vlanCurrent + "0.100"); got != "0x4:e000" {
		t.Errorf("current egress ports are %s", got)
	}
	want := simswitch.VLAN{ID: 100, Name: "lab", Active: true, Egress: []int{1, 2, 3}, Untagged: []int{3}}
	if d := cmp.Diff(want, b.VLANs()[1]); d != "" {
		t.Error(d)
	}
	b.must(t, vlanStatus+"100", notInService)
	if got := b.get(vlanCurrent + "0.100"); got != "noSuchInstance" {
		t.Errorf("a VLAN out of service is current: %s", got)
	}
}

func TestPVID(t *testing.T) {
	b := newBench(t, nil)
	if status, _ := b.set(pvid+"3", gauge(100)); status != snmpwire.InconsistentValue {
		t.Errorf("a PVID without VLAN: %s", status)
	}
	b.must(t, vlanStatus+"100", createAndGo, pvid+"3", gauge(100))
	if status, _ := b.set(pvid+"11", gauge(100)); status != snmpwire.NoCreation {
		t.Errorf("a PVID of a port there is not: %s", status)
	}
	b.must(t, vlanStatus+"100", destroy)
	if b.PVID(3) != 1 {
		t.Errorf("the PVID is %d after its VLAN went", b.PVID(3))
	}
	b = newBench(t, func(p *simswitch.Profile) { p.KeepUsedVLAN = true })
	b.must(t, vlanStatus+"100", createAndGo, pvid+"3", gauge(100))
	if status, _ := b.set(vlanStatus+"100", destroy); status != snmpwire.InconsistentValue || b.PVID(3) != 100 {
		t.Errorf("destroying a VLAN in use: %s, PVID %d", status, b.PVID(3))
	}
}

// The differences between makes that controllers stumble over.
func TestVLANQuirks(t *testing.T) {
	accton := newBench(t, func(p *simswitch.Profile) { p.CreateAlone = true })
	if status, place := accton.set(vlanStatus+"9", createAndGo, vlanEgress+"9", "\x80\x00"); status != snmpwire.InconsistentName || place != 2 {
		t.Errorf("CreateAlone: %s at %d", status, place)
	}
	accton.must(t, vlanStatus+"9", createAndGo)
	accton.must(t, vlanEgress+"9", "\x80\x00")

	exact := newBench(t, func(p *simswitch.Profile) { p.PortListExact, p.PortListTail, p.PortListLen = true, true, 6 })
	if status, _ := exact.set(vlanEgress+"1", "\xff\xc0"); status != snmpwire.WrongLength {
		t.Errorf("PortListExact: %s", status)
	}
	if got := exact.get(vlanEgress + "1"); got != "0x4:ffc000000005" {
		t.Errorf("PortListTail: %s", got)
	}
	exact.must(t, vlanEgress+"1", "\xff\xc0\x00\x00\x00\x04")

	junos := newBench(t, func(p *simswitch.Profile) { p.PortListText = true })
	if got := string(junos.mib.Get(snmpwire.MustOID(vlanEgress + "1")).Bytes); got != "1,2,3,4,5,6,7,8,9,10" {
		t.Errorf("PortListText: %q", got)
	}
	marked := newBench(t, func(p *simswitch.Profile) { p.TimeMark, p.FDBOffset = true, 4096 })
	if d := cmp.Diff(map[string]string{"6000.1": "0x42:4097"}, marked.walk("1.3.6.1.2.1.17.7.1.4.2.1.3.")); d != "" {
		t.Errorf("TimeMark and FDBOffset: %s", d)
	}
}
