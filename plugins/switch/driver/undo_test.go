package driver_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// do has an operation carried out and returns its id.
func (b *bench) do(o writes.Operation) (id string, lines []string, err error) {
	b.t.Helper()
	return b.writer.DoRecorded(deadline(b.t), node("m"), o)
}

// mustDo is do of an operation that succeeds.
func (b *bench) mustDo(request proto.Message) string {
	b.t.Helper()
	id, _, err := b.do(writes.Operation{What: "a change", Request: request})
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// undo takes back a change.
func (b *bench) undo(of string, force bool) (id string, lines []string, err error) {
	b.t.Helper()
	return b.do(writes.Operation{What: "an undo", Undo: of, Force: force})
}

// A port that a driver plugin changes is as before after the undo, and as changed after the undo of the undo; what was
// changed since stays without force.
func TestUndoOfPortByPlugin(t *testing.T) {
	b := newBench(t, driver.Options{})
	p := &onePort{up: true}
	b.installDriver("drv", p)
	b.until("drv", func() bool { return b.chosen(node("m")) == "drv" })
	down := &pluginv1.WritePortSettingsRequest{Settings: &switchdriver.PortSettings{Port: 1, Up: new(false)}}
	id := b.mustDo(down)
	again, _, err := b.undo(id, false)
	if err != nil || !p.isUp() {
		t.Fatalf("up %v: %v", p.isUp(), err)
	}
	if _, _, err = b.undo(again, false); err != nil || p.isUp() {
		t.Fatalf("up %v: %v", p.isUp(), err)
	}
	var undone []string
	for _, r := range b.writer.Done("") {
		undone = append(undone, r.UndoneBy)
	}
	if len(undone) != 3 || undone[0] != "" || undone[1] == "" || undone[2] != "" {
		t.Errorf("undone by %q", undone)
	}
}

// A VLAN that a driver plugin makes, changes and removes is as before after the undo.
func TestUndoOfVLANByPlugin(t *testing.T) {
	b := newBench(t, driver.Options{})
	f := &fake{match: switchdriver.Match{Models: []string{"m"}}}
	b.install("drv", f)
	b.until("drv", func() bool { return b.chosen(node("m")) == "drv" })
	ports := func() []uint32 {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.vlans[5].GetEgressPorts()
	}
	write := func(create bool, ports ...uint32) *pluginv1.WriteVlanRequest {
		v := &switchdriver.VLAN{VlanId: 5, EgressPorts: ports}
		return &pluginv1.WriteVlanRequest{Vlan: v, Create: create, SetPorts: true}
	}
	made := b.mustDo(write(true, 1, 2))
	set := b.mustDo(write(false, 2, 3))
	if _, _, err := b.undo(made, false); fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), "force") {
		t.Fatal(err)
	}
	f.set(func() { // by somebody else
		f.vlans[5] = &switchdriver.VLAN{VlanId: 5, EgressPorts: []uint32{2, 3, 4}}
	})
	if _, _, err := b.undo(set, false); err != nil || !slices.Equal(ports(), []uint32{1, 2, 4}) {
		t.Fatalf("%v %v", ports(), err)
	}
	removed := b.mustDo(&pluginv1.DeleteVlanRequest{VlanId: 5})
	if _, _, err := b.undo(removed, false); err != nil || !slices.Equal(ports(), []uint32{1, 2, 4}) {
		t.Fatalf("%v %v", ports(), err)
	}
	if _, _, err := b.undo(made, true); err != nil || ports() != nil {
		t.Fatalf("%v %v", ports(), err)
	}
	if _, lines, err := b.undo(made, false); err != nil || !slices.Equal(lines, []string{writes.NothingShows}) {
		t.Fatalf("what is undone already: %v %v", lines, err)
	}
}

// A VLAN that a driver plugin makes because it is to be set, and was not there, goes with the undo.
func TestUndoOfSettingWhatWasNotThere(t *testing.T) {
	b := newBench(t, driver.Options{})
	f := &fake{match: switchdriver.Match{Models: []string{"m"}}}
	b.install("drv", f)
	b.until("drv", func() bool { return b.chosen(node("m")) == "drv" })
	id := b.mustDo(&pluginv1.WriteVlanRequest{Vlan: &switchdriver.VLAN{VlanId: 7, EgressPorts: []uint32{1}}, SetPorts: true})
	if _, _, err := b.undo(id, false); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.vlans[7] != nil {
		t.Errorf("VLAN 7 is still there: %v", f.vlans[7])
	}
}
