package mibdriver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"ctl.internal/internal/lab/snmprec"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// clientOf is a driver for tests whose agents answer.
func clientOf(t *testing.T) *mibdriver.Driver {
	t.Helper()
	c := snmp.NewClient(snmp.Options{Timeout: 10 * time.Second})
	t.Cleanup(c.Close)
	return mibdriver.New(c)
}

// played is a switch that answers the lines of a recording.
func played(t *testing.T, lines string) *switchdriver.Switch {
	t.Helper()
	m, err := snmprec.Read(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	return listen(t, m, &atomic.Bool{})
}

func TestPortSettings(t *testing.T) {
	d := clientOf(t)
	h := newHostile(t, "D-Link_DGS-3120")
	h.model.SetCarrier(2, true)
	sw := h.listen(t)
	before, supplies, err := d.ReadPortSettings(deadline(t), sw, 0)
	if err != nil || len(before) < 8 || len(supplies) != 1 || supplies[0].Budget != 370 || supplies[0].Drawn != 7 {
		t.Fatalf("%v, %v, %v", before, supplies, err)
	}
	err = d.WritePortSettings(deadline(t), sw, &switchdriver.PortSettings{Port: 2, Description: new("rack 3"), PowerPriority: new(switchdriver.PowerHigh)})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := d.ReadPortSettings(deadline(t), sw, 2)
	want := []*switchdriver.PortSettings{{Port: 2, Up: new(true), Description: new("rack 3"), Power: new(true), PowerPriority: new(switchdriver.PowerHigh),
		PowerStatus: new(uint32(3)), PowerClass: new(uint32(3)), LinkSpeed: new(uint32(1000)), LinkDuplex: new(switchdriver.DuplexFull), FlowControl: new(uint32(4))}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	err = d.WritePortSettings(deadline(t), sw, &switchdriver.PortSettings{Port: 2, Up: new(false), Power: new(false), Description: new("")})
	if err != nil || h.model.AdminUp(2) || h.powered(2) || h.alias(2) != "" {
		t.Errorf("%v: up %v, powered %v, alias %q", err, h.model.AdminUp(2), h.powered(2), h.alias(2))
	}
	for port := 1; port <= 8; port++ {
		if port != 2 && (!h.model.AdminUp(port) || !h.powered(port) || h.alias(port) != "") {
			t.Errorf("port %d was changed", port)
		}
	}
}

// powered reports whether power over Ethernet is switched on at a port.
func (h *hostile) powered(port int) bool {
	return h.MIB.Get(name(mib.PsePortAdminEnable, 1, uint32(port))).Int == 1
}

// alias is the description of a port.
func (h *hostile) alias(port int) string {
	return string(h.MIB.Get(name(mib.IfAlias, uint32(h.model.IfIndex(port)))).Bytes)
}

// What the switch does not have is refused by name, and nothing is sent.
func TestPortSettingsThatAreRefused(t *testing.T) {
	d := clientOf(t)
	h := newHostile(t, "generic")
	h.act = func(_ *hostile, _ int, list []snmpwire.VarBind) (snmpwire.Status, int) {
		t.Errorf("sent %v", list)
		return snmpwire.NotWritable, 1
	}
	sw := h.listen(t)
	for name, k := range map[string]struct {
		s     *switchdriver.PortSettings
		kind  fault.Kind
		paths string
	}{
		"no power":        {&switchdriver.PortSettings{Port: 1, Power: new(true), PowerPriority: new(switchdriver.PowerLow)}, fault.Unsupported, "power power-priority"},
		"no object":       {&switchdriver.PortSettings{Port: 1, PowerLimit: new(uint32(7000)), Speed: new(uint32(100)), Duplex: new(switchdriver.DuplexHalf)}, fault.Unsupported, "power-limit speed duplex"},
		"one of two":      {&switchdriver.PortSettings{Port: 1, Up: new(false), Speed: new(uint32(0))}, fault.Unsupported, "speed"},
		"no such port":    {&switchdriver.PortSettings{Port: 60, Up: new(false)}, fault.NotFound, "port"},
		"nothing":         {&switchdriver.PortSettings{Port: 1}, fault.Missing, "settings"},
		"as it is":        {&switchdriver.PortSettings{Port: 1, Up: new(true), Description: new("")}, fault.Internal, ""},
		"bad description": {&switchdriver.PortSettings{Port: 1, Description: new("\x07")}, fault.Invalid, "description"},
	} {
		err := d.WritePortSettings(deadline(t), sw, k.s)
		var paths []string
		for _, f := range fault.All(err) {
			paths = append(paths, f.Path)
		}
		if got := strings.Join(paths, " "); got != k.paths || err != nil && fault.KindOf(err) != k.kind {
			t.Errorf("%s: %v at %q", name, err, got)
		}
	}
}

// adminOf is what ifAdminStatus of port 1 was set to, in order.
type adminOf struct {
	values []int64
	act    func(n int, value int64) (snmpwire.Status, bool) // false: as the model does
}

func (a *adminOf) set(h *hostile, _ int, list []snmpwire.VarBind) (snmpwire.Status, int) {
	for _, v := range list {
		if v.Name.HasPrefix(name(mib.IfAdminStatus)) {
			a.values = append(a.values, v.Value.Int)
			if a.act != nil {
				if status, own := a.act(len(a.values), v.Value.Int); own {
					return status, 1
				}
			}
		}
	}
	return h.MIB.Set(list)
}

// sent is what was set until now; the agent sets it under the lock of its switch.
func (a *adminOf) sent(h *hostile) []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(a.values)
}

// A bounce ends up: also when the call ends in the pause, when the agent refuses to bring the port up at first, or does
// not do it.
func TestBounce(t *testing.T) {
	d := clientOf(t)
	up := &switchdriver.PortSettings{Port: 1, Up: new(true)}
	for name, k := range map[string]struct {
		act   func(n int, value int64) (snmpwire.Status, bool)
		sent  []int64
		fails bool
	}{
		"all goes well": {nil, []int64{2, 1}, false},
		"down is refused": {func(_ int, value int64) (snmpwire.Status, bool) { return snmpwire.GenErr, value == 2 },
			[]int64{2}, true},
		"up is refused once": {func(n int, _ int64) (snmpwire.Status, bool) { return snmpwire.GenErr, n == 2 },
			[]int64{2, 1, 1}, true},
		"up is not done at once": {func(n int, _ int64) (snmpwire.Status, bool) { return snmpwire.NoError, n == 2 },
			[]int64{2, 1, 1}, true},
	} {
		h := newHostile(t, "generic")
		a := &adminOf{act: k.act}
		h.act = a.set
		err := d.BouncePort(deadline(t), h.listen(t), up, switchdriver.MinBounce)
		if !slices.Equal(a.sent(h), k.sent) || (err != nil) != k.fails || !h.model.AdminUp(1) {
			t.Errorf("%s: sent %v, up %v: %v", name, a.values, h.model.AdminUp(1), err)
		}
	}
	h := newHostile(t, "generic")
	ctx, cancel := context.WithCancel(t.Context())
	a := &adminOf{act: func(n int, _ int64) (snmpwire.Status, bool) {
		if n == 1 {
			cancel()
		}
		return 0, false
	}}
	h.act = a.set
	sw := h.listen(t)
	if err := d.BouncePort(ctx, sw, up, switchdriver.MaxBounce); err == nil || !h.model.AdminUp(1) {
		t.Errorf("a call that ends: up %v, sent %v: %v", h.model.AdminUp(1), a.sent(h), err)
	}
	h.must(t, []snmpwire.VarBind{integer(mib.IfAdminStatus, 2, 1)})
	err := d.BouncePort(deadline(t), sw, up, switchdriver.MinBounce)
	if fault.KindOf(err) != fault.InUse || h.model.AdminUp(1) {
		t.Errorf("a port that is down: %v", err)
	}
}

// A bounce whose process was killed is repaired: wherever it was, the port is up.
func TestKilledBounce(t *testing.T) {
	d := clientOf(t)
	status := func(n int64) *string { return writes.Number(n) }
	oid := mib.Sub(mib.IfAdminStatus, 1)
	steps := []writes.Step{
		{What: "down", Assigns: []writes.Assignment{{OID: oid, Kind: writes.Integer, From: status(1), To: status(2)}}},
		{What: "up", Assigns: []writes.Assignment{{OID: oid, Kind: writes.Integer, From: status(2), To: status(1)}}},
	}
	for _, now := range []int64{1, 2} {
		h := newHostile(t, "generic")
		h.must(t, []snmpwire.VarBind{integer(mib.IfAdminStatus, int(now), 1)})
		outcome, text, err := d.Recover(deadline(t), h.listen(t), steps)
		if err != nil || outcome == writes.Left || !h.model.AdminUp(1) {
			t.Errorf("at ifAdminStatus %d: %s %q, up %v: %v", now, outcome, text, h.model.AdminUp(1), err)
		}
	}
}

// A part that fails takes the others back.
func TestPortSettingsAreWholeOrUndone(t *testing.T) {
	d := clientOf(t)
	h := newHostile(t, "D-Link_DGS-3120")
	a := &adminOf{act: func(int, int64) (snmpwire.Status, bool) { return snmpwire.GenErr, true }}
	h.act = a.set
	s := &switchdriver.PortSettings{Port: 3, Description: new("x"), Power: new(false), Up: new(false)}
	err := d.WritePortSettings(deadline(t), h.listen(t), s)
	if err == nil || !strings.Contains(err.Error(), "taken back: setting the power of port 3, setting the description of port 3") &&
		!strings.Contains(err.Error(), "taken back: setting the description of port 3, setting the power of port 3") {
		t.Errorf("%v", err)
	}
	if !h.model.AdminUp(3) || !h.powered(3) || h.alias(3) != "" {
		t.Errorf("up %v, powered %v, alias %q", h.model.AdminUp(3), h.powered(3), h.alias(3))
	}
}

// An agent that answers noError and does nothing is found out.
func TestPortSettingsAreReadBack(t *testing.T) {
	d := clientOf(t)
	h := newHostile(t, "generic")
	h.act = func(*hostile, int, []snmpwire.VarBind) (snmpwire.Status, int) { return snmpwire.NoError, 0 }
	err := d.WritePortSettings(deadline(t), h.listen(t), &switchdriver.PortSettings{Port: 1, Up: new(false)})
	if f := (*fault.Error)(nil); !errors.As(err, &f) || f.Kind != fault.Downstream || !strings.Contains(err.Error(), "shows ifAdminStatus.1 with the value 1") {
		t.Errorf("%v", err)
	}
}

// In a stack the power of a port is found by its name; where name and number say different things, it is not known.
func TestPowerOfStack(t *testing.T) {
	lines := "1.3.6.1.2.1.1.3.0|67|100\n"
	for _, unit := range []int{1, 2} {
		for port := 1; port <= 2; port++ {
			base := (unit-1)*50 + port
			lines += fmt.Sprintf("1.3.6.1.2.1.17.1.4.1.2.%d|2|%d\n1.3.6.1.2.1.31.1.1.1.1.%d|4|Gi%d/0/%d\n1.3.6.1.2.1.2.2.1.7.%d|2|1\n", base, base, base, unit, port, base)
			lines += fmt.Sprintf("1.3.6.1.2.1.105.1.1.1.3.%d.%d|2|%d\n", unit, port, unit)
		}
	}
	sw := played(t, lines)
	got, _, err := clientOf(t).ReadPortSettings(deadline(t), sw, 0)
	if err != nil || len(got) != 4 {
		t.Fatal(got, err)
	}
	for _, p := range got {
		if p.Power == nil || *p.Power != (p.Port < 50) {
			t.Errorf("%v", p)
		}
	}
	shifted := strings.ReplaceAll(lines, "Gi1/0/1\n", "Gi1/0/2\n")
	shifted = strings.ReplaceAll(shifted, "1.3.6.1.2.1.105.1.1.1.3.2.1|2|2\n1.3.6.1.2.1.105.1.1.1.3.2.2|2|2\n", "")
	shifted = shifted[:strings.Index(shifted, "1.3.6.1.2.1.17.1.4.1.2.51")]
	sw = played(t, shifted)
	one, _, err := clientOf(t).ReadPortSettings(deadline(t), sw, 1)
	if err != nil || one[0].Power != nil {
		t.Errorf("a port called 2 with the number 1: %v %v", one, err)
	}
}
