package simswitch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpwire"
)

func TestStaticUnicast(t *testing.T) {
	const learned, fresh = "1.6.0.0.0.0.9", "1.6.0.0.0.0.8"
	for name, c := range map[string]struct {
		set    []any
		status snmpwire.Status
		fdb    map[string]string // dot1qTpFdbPort afterwards
	}{
		"create": {[]any{staticPorts + fresh + ".0", "\x40\x00", staticStatus + fresh + ".0", 3}, 0,
			map[string]string{learned: "0x2:1", fresh: "0x2:2"}},
		"create, status first": {[]any{staticStatus + fresh + ".0", 3, staticPorts + fresh + ".0", "\x40\x00"}, 0,
			map[string]string{learned: "0x2:1", fresh: "0x2:2"}},
		"a learned one made static": {[]any{staticPorts + learned + ".0", "\x20\x00", staticStatus + learned + ".0", 3}, 0,
			map[string]string{learned: "0x2:3"}},
		"no ports":           {[]any{staticStatus + fresh + ".0", 3}, snmpwire.InconsistentValue, nil},
		"delete learned":     {[]any{staticStatus + learned + ".0", 2}, snmpwire.InconsistentValue, nil},
		"delete unknown":     {[]any{staticStatus + fresh + ".0", 2}, snmpwire.InconsistentName, nil},
		"multicast":          {[]any{staticStatus + "1.1.0.94.0.0.1.0", 3}, snmpwire.NoCreation, nil},
		"no such VLAN":       {[]any{staticStatus + "7.6.0.0.0.0.8.0", 3}, snmpwire.InconsistentName, nil},
		"receive port 5":     {[]any{staticStatus + fresh + ".5", 3}, snmpwire.NoCreation, nil},
		"type 9":             {[]any{staticStatus + fresh + ".0", 9}, snmpwire.WrongValue, nil},
		"table is read-only": {[]any{fdbPort + learned, 3}, snmpwire.NotWritable, nil},
	} {
		b := newBench(t, nil)
		if !b.Learn(1, simswitch.MAC{6, 0, 0, 0, 0, 9}, 1) {
			t.Fatal("a frame on a port that is up teaches nothing")
		}
		before := b.walk(fdbPort)
		status, _ := b.set(c.set...)
		if status != c.status {
			t.Errorf("%s: %s, want %s", name, status, c.status)
		}
		if c.fdb == nil {
			c.fdb = before
		}
		if d := cmp.Diff(c.fdb, b.walk(fdbPort)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestStaticUnicastInVLAN(t *testing.T) {
	b := newBench(t, nil)
	b.must(t, vlanStatus+"100", createAndGo, vlanEgress+"100", "\x80\x00")
	at := "100.6.0.0.0.0.8.0"
	if status, _ := b.set(staticPorts+at, "\x40\x00", staticStatus+at, 3); status != snmpwire.InconsistentValue {
		t.Errorf("a port that is no member: %s", status)
	}
	b.must(t, staticPorts+at, "\x80\x00", staticStatus+at, 3)
	if got := b.get(fdbStatus + "100.6.0.0.0.0.8"); got != "0x2:5" {
		t.Errorf("the status is %s, want mgmt(5)", got)
	}
	b.must(t, staticStatus+at, 2)
	if got := b.walk(fdbPort); len(got) != 0 {
		t.Errorf("after the delete there is %v", got)
	}
	b.must(t, staticPorts+at, "\x80\x00", staticStatus+at, 3)
	b.must(t, vlanStatus+"100", destroy)
	if len(b.walk(fdbPort)) != 0 || len(b.walk(staticStatus)) != 0 {
		t.Error("addresses outlive their VLAN")
	}
}

// A D-Link that sees the status first chooses a port itself.
func TestPickPort(t *testing.T) {
	b := newBench(t, func(p *simswitch.Profile) { p.PickPort = true })
	first, second := "1.6.0.0.0.0.8.0", "1.6.0.0.0.0.9.0"
	b.must(t, staticStatus+first, 3, staticPorts+first, "\x40\x00")
	b.must(t, staticPorts+second, "\x40\x00", staticStatus+second, 3)
	want := map[string]string{"1.6.0.0.0.0.8": "0x2:1", "1.6.0.0.0.0.9": "0x2:2"}
	if d := cmp.Diff(want, b.walk(fdbPort)); d != "" {
		t.Error(d)
	}
}

func TestLearnedAddressesGo(t *testing.T) {
	b := newBench(t, nil)
	mac := simswitch.MAC{6, 0, 0, 0, 0, 9}
	if b.Learn(1, mac, 7) || b.Learn(2, mac, 1) || b.Learn(1, mac, 0) {
		t.Error("something is learned on a port that is down, in no VLAN, or on no port")
	}
	b.Learn(1, mac, 1)
	b.must(t, ifAdmin+"1", 2)
	if _, known := b.Where(1, mac); known {
		t.Error("an address stays on a port that is down")
	}
	b.must(t, ifAdmin+"1", 1)
	b.Learn(1, mac, 1)
	b.must(t, vlanUntagged+"1", "\x7f\xc0", vlanEgress+"1", "\x7f\xc0")
	if _, known := b.Where(1, mac); known {
		t.Error("an address stays on a port that left the VLAN")
	}
}
