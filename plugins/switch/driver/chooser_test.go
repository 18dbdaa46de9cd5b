package driver_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/switchdriver"
)

func testLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func node(model string) *switchdriver.Switch {
	return &switchdriver.Switch{NodeId: 7, Address: "192.0.2.7", Model: model, Snmp: &pluginv1.SnmpAccess{ReadCommunity: "public"}}
}

// The model beats the longest sysObjectID, that a shorter one, and that sysDescr; the
// list beats all. Drivers come and go while it runs.
func TestChoice(t *testing.T) {
	listed := ""
	b := newBench(t, driver.Options{Standard: standard{oid: "1.3.6.1.4.1.171.10.70.16"}, Listed: func(uint64) string { return listed }})
	if got := b.chosen(node("m1")); got != driver.Standard {
		t.Errorf("without plugins %s", got)
	}
	b.install("drv-descr", &fake{match: switchdriver.Match{SysDescr: "^Some"}})
	b.until("drv-descr", func() bool { return b.chosen(node("m1")) == "drv-descr" })
	b.install("drv-short", &fake{match: switchdriver.Match{SysObjectIDs: []string{"1.3.6.1.4.1.171", "1.3.6.1.4.1.171.10.7"}}})
	b.until("drv-short", func() bool { return b.chosen(node("m1")) == "drv-short" })
	b.install("drv-long", &fake{match: switchdriver.Match{SysObjectIDs: []string{".1.3.6.1.4.1.171.10.70"}}})
	b.until("drv-long", func() bool { return b.chosen(node("m1")) == "drv-long" })
	b.install("drv-model", &fake{match: switchdriver.Match{Models: []string{"m1"}}})
	b.until("drv-model", func() bool { return b.chosen(node("m1")) == "drv-model" })
	if got := b.chosen(node("m2")); got != "drv-long" {
		t.Errorf("another model gets %s", got)
	}
	listed = "drv-short"
	if got := b.chosen(node("m1")); got != "drv-short" {
		t.Errorf("the list asks for drv-short, chosen is %s", got)
	}
	listed = "drv-none"
	if got := b.chosen(node("m1")); !strings.Contains(got, "drv-none, which is not installed") {
		t.Errorf("the list asks for one that is not there: %s", got)
	}
	listed = driver.Standard
	if got := b.chosen(node("m1")); got != driver.Standard {
		t.Errorf("the list asks for the standard one, chosen is %s", got)
	}
	listed = ""
	b.install("drv-bad", &fake{match: switchdriver.Match{SysDescr: "("}})
	b.until("the bad one is reported", func() bool {
		for _, d := range b.chooser.Drivers() {
			if d.Name == "drv-bad" && strings.Contains(d.State, "sysDescr") {
				return true
			}
		}
		return false
	})
	if got := b.chosen(node("m1")); got != "drv-model" {
		t.Errorf("a bad driver changes the choice to %s", got)
	}
}

// board is a switchboard whose list the test sets.
type board struct {
	*host.Switchboard
	list chan []host.Provider
}

func (b *board) Watch(ctx context.Context, _ string, f func([]host.Provider) error) error {
	for {
		select {
		case l := <-b.list:
			if err := f(l); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A driver that is uninstalled leaves its switches to the standard one; one that only
// restarts does not: its switches wait for it.
func TestDriverGoes(t *testing.T) {
	b := newBench(t, driver.Options{})
	b.install("drv", &fake{match: switchdriver.Match{Models: []string{"m"}}})
	c := b.host.Client(t, &pluginv1.Manifest{Name: "switch", Uses: []string{driver.Capability}})
	list := &board{c.Switchboard, make(chan []host.Provider)}
	chooser := driver.New(driver.Options{Standard: standard{}, Board: list, Log: testLog()})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { chooser.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	first := func() string { return chooser.Choices(node("m"))[0].Name }
	list.list <- []host.Provider{{Name: "drv", Ready: true, Generation: 1}}
	b.until("known", func() bool { return first() == "drv" })
	list.list <- []host.Provider{{Name: "drv", Ready: false, Generation: 1}}
	list.list <- []host.Provider{{Name: "drv", Ready: false, Generation: 1}} // the one before is taken
	if got := first(); got != "drv" {
		t.Errorf("while it restarts: %s", got)
	}
	list.list <- nil
	list.list <- nil
	if got := first(); got != driver.Standard {
		t.Errorf("when it is uninstalled: %s", got)
	}
}

func vlans(t *testing.T, b *bench, sw *switchdriver.Switch) ([]*switchdriver.VLAN, error) {
	t.Helper()
	d, sw, err := driver.For[switchdriver.VLANReader](deadline(t), b.chooser, sw, "ReadVlans")
	if err != nil {
		return nil, err
	}
	return d.ReadVLANs(deadline(t), sw)
}

func write(t *testing.T, b *bench, sw *switchdriver.Switch, id uint32) error {
	t.Helper()
	_, err := b.writer.Do(deadline(t), sw, writes.Operation{What: "a VLAN", Request: &pluginv1.WriteVlanRequest{Create: true, SetPorts: true,
		Vlan: &switchdriver.VLAN{VlanId: id, EgressPorts: []uint32{1, 2}}}})
	return err
}

// What a driver lacks the standard one does; what it has is its own.
func TestFallback(t *testing.T) {
	b := newBench(t, driver.Options{})
	f := &fake{match: switchdriver.Match{Models: []string{"m"}}}
	b.install("drv", f)
	b.until("drv", func() bool { return b.chosen(node("m")) == "drv" })
	if err := write(t, b, node("m"), 5); err != nil {
		t.Fatal(err)
	}
	if v, err := vlans(t, b, node("m")); err != nil || len(v) != 2 {
		t.Errorf("%v %v", v, err)
	}
	d, sw, err := driver.For[switchdriver.FDBReader](deadline(t), b.chooser, node("m"), "ReadFdb")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := d.ReadFDB(deadline(t), sw, 0, 0); err != nil || len(e) != 1 {
		t.Errorf("fdb %v %v", e, err)
	}
	if _, _, err := driver.For[switchdriver.ACLApplier](deadline(t), b.chooser, node("m"), "ApplyAcl"); !errors.Is(err, &fault.Error{Kind: fault.Unsupported}) {
		t.Errorf("acl: %v", err)
	}
}

// A driver that lies, fails or says yes without doing is found out, and the switches of
// others are served as before.
func TestLies(t *testing.T) {
	b := newBench(t, driver.Options{})
	f := &fake{match: switchdriver.Match{Models: []string{"m"}}}
	b.install("drv", f)
	b.until("drv", func() bool { return b.chosen(node("m")) == "drv" })
	v := func(id uint32, egress, untagged []uint32) *switchdriver.VLAN {
		return &switchdriver.VLAN{VlanId: id, EgressPorts: egress, UntaggedPorts: untagged}
	}
	for name, answer := range map[string][]*switchdriver.VLAN{
		"vlan 0": {v(0, nil, nil)}, "vlan 4095": {v(4095, nil, nil)}, "twice": {v(2, nil, nil), v(2, nil, nil)},
		"port 0": {v(2, []uint32{0}, nil)}, "port 70000": {v(2, []uint32{70000}, nil)}, "untagged only": {v(2, nil, []uint32{1})},
	} {
		f.set(func() { f.lie = func([]*switchdriver.VLAN) []*switchdriver.VLAN { return answer } })
		if _, err := vlans(t, b, node("m")); !errors.Is(err, &fault.Error{Kind: fault.Downstream}) || !strings.Contains(err.Error(), "the driver drv") {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.set(func() { f.lie, f.ignore = nil, true })
	if err := write(t, b, node("m"), 6); !errors.Is(err, &fault.Error{Kind: fault.Downstream}) || !strings.Contains(err.Error(), "no VLAN 6") {
		t.Errorf("says yes and does nothing: %v", err)
	}
	f.set(func() {
		f.ignore = false
		f.lie = func(all []*switchdriver.VLAN) []*switchdriver.VLAN { // port 2 stays untagged in VLAN 1
			return append(all[1:], v(1, []uint32{1, 2}, []uint32{1, 2}))
		}
	})
	_, err := b.writer.Do(deadline(t), node("m"), writes.Operation{What: "a VLAN", Request: &pluginv1.WriteVlanRequest{Create: true, SetPorts: true, Vlan: v(8, []uint32{2}, []uint32{2})}})
	if !errors.Is(err, &fault.Error{Kind: fault.Downstream}) || !strings.Contains(err.Error(), "VLAN 1 still with untagged ports [2]") {
		t.Errorf("a port that stays untagged in its old VLAN: %v", err)
	}
	if l := b.writer.List(); len(l) == 0 || l[len(l)-1].Operation.VLAN() != 8 {
		t.Errorf("what may be half done is not recorded: %+v", l)
	}
	f.set(func() {
		f.lie, f.ignore, f.fail = nil, false, &fault.Error{Kind: fault.Downstream, Path: "/etc/passwd", Text: "bad\x1b[31m\nthing" + strings.Repeat("x", 5000)}
	})
	_, err = vlans(t, b, node("m"))
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\n") || strings.Contains(err.Error(), "passwd") || len(err.Error()) > 1000 {
		t.Errorf("odd text comes through: %.200q", err)
	}
}

// A driver that hangs costs its own switches their deadline, and does not affect others.
func TestHang(t *testing.T) {
	b := newBench(t, driver.Options{Deadline: 50 * time.Millisecond})
	f := &fake{match: switchdriver.Match{Models: []string{"m"}}}
	b.install("drv", f)
	b.until("drv", func() bool { return b.chosen(node("m")) == "drv" })
	f.set(func() { f.hang = true })
	if _, err := vlans(t, b, node("m")); !errors.Is(err, &fault.Error{Kind: fault.Timeout}) || !strings.Contains(err.Error(), "the driver drv did not answer for switch 00:00:00:00:00:07") {
		t.Errorf("%v", err)
	}
	if got := b.chosen(node("other")); got != driver.Standard {
		t.Errorf("another switch gets %s", got)
	}
	f.set(func() { f.hang = false })
	b.until("it serves again", func() bool { // in a deadline that a busy machine may miss
		_, err := vlans(t, b, node("m"))
		return err == nil
	})
}

// A change whose driver dies in the middle is repaired before the next one.
func TestInterrupted(t *testing.T) {
	b := newBench(t, driver.Options{})
	f := &fake{match: switchdriver.Match{Models: []string{"m"}}}
	b.install("drv", f)
	b.until("drv", func() bool { return b.chosen(node("m")) == "drv" })
	f.set(func() { f.half = true })
	if err := write(t, b, node("m"), 9); !errors.Is(err, &fault.Error{Kind: fault.Unavailable}) {
		t.Fatalf("a driver that dies: %v", err)
	}
	if l := b.writer.List(); len(l) != 1 || l[0].State != writes.Unknown && l[0].Outcome != writes.Undone || l[0].What() != "a VLAN" {
		t.Fatalf("records %+v", l)
	}
	f.set(func() { f.half = false })
	if err := write(t, b, node("m"), 10); err != nil {
		t.Fatal(err)
	}
	f.set(func() {
		if f.vlans[9] != nil || f.vlans[10] == nil {
			t.Errorf("half a VLAN is left, or the next change is lost: %v", f.vlans)
		}
	})
	if r := b.repaired(); len(r) != 1 || r[0] != writes.Undone {
		t.Errorf("outcomes %v", r)
	}
}

// ported is a driver that names its ports.
type ported struct{ *fake }

func (ported) ReadPorts(context.Context, *switchdriver.Switch) ([]*switchdriver.Port, error) {
	return []*switchdriver.Port{{Number: 1, Name: "left"}, {Number: 2, Name: "right"}}, nil
}

// A port that was named, and is called otherwise by now, is not written.
func TestPortsAreStillCalledSo(t *testing.T) {
	b := newBench(t, driver.Options{})
	f := &fake{match: switchdriver.Match{Models: []string{"m"}}, vlans: map[uint32]*switchdriver.VLAN{}}
	b.installDriver("drv", ported{f})
	b.until("drv", func() bool { return b.chosen(node("m")) == "drv" })
	do := func(id uint32, names map[uint32]string) error {
		_, err := b.writer.Do(deadline(t), node("m"), writes.Operation{What: "a VLAN", Ports: names,
			Request: &pluginv1.WriteVlanRequest{Create: true, SetPorts: true, Vlan: &switchdriver.VLAN{VlanId: id, EgressPorts: []uint32{2}}}})
		return err
	}
	err := do(5, map[uint32]string{2: "left"})
	if !errors.Is(err, &fault.Error{Kind: fault.InUse}) || !strings.Contains(err.Error(), "port left was number 2, which is right now") || f.vlans[5] != nil {
		t.Errorf("%v", err)
	}
	if err := do(6, map[uint32]string{2: "RIGHT"}); err != nil || f.vlans[6] == nil {
		t.Errorf("%v", err)
	}
}
