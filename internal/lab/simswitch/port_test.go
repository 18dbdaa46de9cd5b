package simswitch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpwire"
)

func TestAdminStatus(t *testing.T) {
	b := newBench(t, nil)
	b.AddNeighbor(1, simswitch.Neighbor{SysName: "peer"})
	b.AddNeighbor(2, simswitch.Neighbor{SysName: "other"})
	b.must(t, ifAdmin+"1", 2)
	if b.get(ifOper+"1") != "0x2:2" || b.get(ifOper+"2") != "0x2:1" {
		t.Errorf("ifOperStatus is %s and %s, want down and up", b.get(ifOper+"1"), b.get(ifOper+"2"))
	}
	if d := cmp.Diff(map[string]string{"6000.2.2": "0x4:6f74686572"}, b.walk(remSysName)); d != "" {
		t.Errorf("neighbours: %s", d)
	}
	b.must(t, ifAdmin+"1", 2)
	if d := cmp.Diff([]int{1}, b.admin); d != "" {
		t.Errorf("ports that the network is notified of: %s", d)
	}
	for name, c := range map[string]struct {
		at     string
		value  int
		status snmpwire.Status
	}{
		"testing": {"1", 3, snmpwire.InconsistentValue}, "5": {"1", 5, snmpwire.WrongValue},
		"management interface": {"5121", 2, snmpwire.InconsistentValue}, "no interface": {"11", 2, snmpwire.NoCreation},
	} {
		if status, _ := b.set(ifAdmin+c.at, c.value); status != c.status {
			t.Errorf("%s: %s, want %s", name, status, c.status)
		}
	}
	if status, _ := b.set(ifAdmin+"2", 2, ifAdmin+"11", 2); status == 0 || !b.Up(2) || len(b.admin) != 1 {
		t.Error("a refused SET has an effect")
	}
}

func TestARP(t *testing.T) {
	const good = "5121.10.99.0.7"
	mac := "\x02\x00\x00\x00\x00\x07"
	for name, c := range map[string]struct {
		set    []any
		status snmpwire.Status
		rows   int
	}{
		"create":               {[]any{arpMAC + good, mac, arpType + good, 4}, 0, 2},
		"no address":           {[]any{arpType + good, 4}, snmpwire.InconsistentValue, 1},
		"no type":              {[]any{arpMAC + good, mac}, snmpwire.InconsistentName, 1},
		"type other":           {[]any{arpMAC + good, mac, arpType + good, 1}, snmpwire.WrongValue, 1},
		"five octets":          {[]any{arpMAC + good, "\x02\x00\x00\x00\x00", arpType + good, 4}, snmpwire.WrongLength, 1},
		"multicast address":    {[]any{arpMAC + good, "\x01\x00\x5e\x00\x00\x07", arpType + good, 4}, snmpwire.WrongValue, 1},
		"other interface":      {[]any{arpMAC + "1.10.99.0.7", mac, arpType + "1.10.99.0.7", 4}, snmpwire.NoCreation, 1},
		"outside the subnet":   {[]any{arpMAC + "5121.192.0.2.1", mac, arpType + "5121.192.0.2.1", 4}, snmpwire.InconsistentName, 1},
		"arc above 255":        {[]any{arpMAC + "5121.10.99.0.256", mac, arpType + "5121.10.99.0.256", 4}, snmpwire.NoCreation, 1},
		"delete":               {[]any{arpType + "5121.10.99.0.2", 2}, 0, 0},
		"delete what is not":   {[]any{arpType + good, 2}, 0, 1},
		"change a learned one": {[]any{arpMAC + "5121.10.99.0.2", mac, arpType + "5121.10.99.0.2", 4}, 0, 1},
	} {
		b := newBench(t, nil)
		b.LearnARP(b.Address().Addr().Next(), simswitch.MAC{2, 0, 0, 0, 0, 2})
		if status, _ := b.set(c.set...); status != c.status {
			t.Errorf("%s: %s, want %s", name, status, c.status)
		}
		if got := len(b.walk(arpMAC)); got != c.rows {
			t.Errorf("%s: %d rows, want %d", name, got, c.rows)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	good := newBench(t, nil).Address()
	for name, cfg := range map[string]simswitch.Config{
		"no ports":               {Address: good},
		"too many ports":         {Address: good, Ports: 1025},
		"no address":             {Ports: 4},
		"more ports than octets": {Address: good, Ports: 100, Profile: simswitch.Profile{Model: "x", PortListLen: 8}},
	} {
		if _, err := simswitch.New(cfg); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := simswitch.ProfileOf("nobody's"); err == nil {
		t.Error("a model there is not has a profile")
	}
}
