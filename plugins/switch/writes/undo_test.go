package writes

import (
	"fmt"
	"testing"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

// vlanOp is an operation that can be undone.
func vlanOp(id uint32) Operation {
	return Operation{
		What:    fmt.Sprintf("making VLAN %d", id),
		Group:   "plan",
		Request: &pluginv1.WriteVlanRequest{Vlan: &switchdriver.VLAN{VlanId: id}, Create: true},
	}
}

// What was carried out can be undone by every process and after a restart, also what a process left that lost the role
// in the middle; what failed, and what nobody can take back, cannot.
func TestWhatWasDoneIsKept(t *testing.T) {
	h, d := plugintest.NewHost(t), newDevice()
	a, b := start(t, h, d), start(t, h, d)
	release := a.hold()
	first, _, err := a.DoRecorded(within(t, time.Minute), sw7, vlanOp(1))
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := b.DoRecorded(within(t, time.Minute), sw7, vlanOp(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = a.Do(within(t, time.Minute), sw7, op("a spanning tree")); err != nil {
		t.Fatal(err)
	}
	d.fail = func() error { return fmt.Errorf("refused") }
	if _, err = a.Do(within(t, time.Minute), sw7, vlanOp(3)); err == nil {
		t.Fatal("it did not fail")
	}
	d.fail = nil
	d.block = make(chan struct{})
	result := make(chan error, 1)
	go func() { _, err := a.Do(within(t, time.Minute), sw7, vlanOp(4)); result <- err }()
	<-d.begun
	release()
	<-result // its end is not known to the caller
	close(d.block)
	b.hold()
	c := start(t, h, d)
	if err := c.store.WaitUntil(within(t, time.Minute), func(n *state.Snapshot) bool { return c.done.Len(n) == 3 }); err != nil {
		t.Fatal(err)
	}
	done := c.Done("plan")
	if len(done) != 3 || done[0].Operation.VLAN() != 4 || done[1].ID != second || done[2].ID != first || done[2].Driver != "test" {
		t.Errorf("%+v", done)
	}
	if len(c.Done("another plan")) > 0 {
		t.Error("changes are of a plan that has none")
	}
	if u, err := c.Undoing(&Operation{Undo: first}); err != nil || u.Record.ID != first || u.By("1.3") != "not by this controller" {
		t.Errorf("%+v %v", u, err)
	}
}
