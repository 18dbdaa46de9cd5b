package writes

import (
	"fmt"
	"testing"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
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
	if err := c.store.WaitUntil(within(t, time.Minute), func(n *state.Snapshot) bool { return c.planned.Len(n) == 3 }); err != nil {
		t.Fatal(err)
	}
	done := c.Done("plan")
	if len(done) != 3 || done[0].Operation.VLAN() != 4 || done[1].ID != second || done[2].ID != first || done[2].Driver != "test" {
		t.Errorf("%+v", done)
	}
	if len(c.Done("another plan")) > 0 {
		t.Error("changes are of a plan that has none")
	}
	if u, err := c.Undoing(sw7.NodeId, &Operation{Undo: first, Group: "plan"}); err != nil || u.Record.ID != first || u.By("1.3") != "not by this controller" {
		t.Errorf("%+v %v", u, err)
	}
}

// However many other changes are made, those of a plan are kept until they are forgotten.
func TestChangesOfAPlanAreKept(t *testing.T) {
	w := start(t, plugintest.NewHost(t), newDevice())
	record := func(i int, group string) Record {
		o := vlanOp(5)
		o.Group = group
		return Record{ID: fmt.Sprintf("%06d", i), Node: 7, Operation: o, State: Done, Ended: time.Now(), Plan: Plan{Driver: "test"}}
	}
	if _, err := w.store.Update(within(t, time.Minute), func(tx *state.Tx) error {
		for i := range maxDone + 1 {
			group := ""
			if i == 0 {
				group = "plan"
			}
			if err := w.putDone(tx, record(i, group)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Update(within(t, time.Minute), func(tx *state.Tx) error {
		return w.keepDone(tx, record(3*maxDone, ""))
	}); err != nil {
		t.Fatal(err)
	}
	now := w.store.Now()
	if w.done.Len(now) != maxDone-maxDone/10+1 || len(w.Done("plan")) != 1 || len(w.Planned(now, "plan", 7)) != 1 || !w.Plans(now)["plan"] {
		t.Errorf("%d changes are kept, of the plan %d", w.done.Len(now), len(w.Done("plan")))
	}
	if _, err := w.FindDone("000000"); err != nil {
		t.Error(err)
	}
	if _, err := w.store.Update(within(t, time.Minute), func(tx *state.Tx) error {
		if removed := w.Forget(tx, "plan", false, 10); len(removed) != 1 {
			t.Errorf("%d were removed", len(removed))
		}
		return nil
	}); err != nil || w.PlannedLen(w.store.Now()) > 0 {
		t.Error(err)
	}
}

// A panic of who carries an operation out is a fault of the operation, whoever asks; the process lives, and what was begun
// is repaired.
func TestPanicIsAFault(t *testing.T) {
	h, d := plugintest.NewHost(t), newDevice()
	a, b := start(t, h, d), start(t, h, d)
	a.hold()
	d.fail = func() error { panic("ouch") }
	d.panics = 1
	for i, p := range []*process{a, b} {
		sw := &switchdriver.Switch{NodeId: uint64(7 + i)}
		if _, err := p.Do(within(t, time.Minute), sw, op(fmt.Sprint(i))); err == nil || fault.KindOf(err) != fault.Internal {
			t.Errorf("%d: %v", i, err)
		}
	}
	d.mu.Lock()
	d.fail = nil
	d.mu.Unlock()
	for i := range 2 { // what was begun at a switch is repaired before it is changed again
		sw := &switchdriver.Switch{NodeId: uint64(7 + i)}
		_, err := a.Do(within(t, time.Minute), sw, op("after it"))
		for err != nil && fault.KindOf(err) == fault.Internal {
			_, err = a.Do(within(t, time.Minute), sw, op("after it"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range a.List() {
		if r.Outcome != Whole {
			t.Errorf("%+v", r)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.panics != 0 {
		t.Error("no repair panicked")
	}
}
