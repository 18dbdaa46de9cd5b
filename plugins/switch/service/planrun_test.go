package service

import (
	"context"
	"strings"
	"testing"

	"ctl.internal/internal/lab/network"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

// twoSwitches is a lab of two switches.
func twoSwitches(t *testing.T) *bench {
	t.Helper()
	return newLab(t, network.Options{Topology: "chain:2", Ports: 6, Hosts: 1})
}

// applied applies a plan and returns its id.
func (b *bench) applied(t *testing.T, document string) string {
	t.Helper()
	p, err := callPlan[planSummary](t, b, "apply", documented{document, 1, "stop", false})
	if err != nil {
		t.Fatal(err)
	}
	b.endOf(t, p.Plan, planApplied)
	return p.Plan
}

// undone begins the undo of a plan and waits for its end.
func (b *bench) undone(t *testing.T, id string, force bool, want planState) planOut {
	t.Helper()
	if _, err := callPlan[planSummary](t, b, "undo", planIn{Plan: id, Force: force}); err != nil {
		t.Fatal(err)
	}
	return b.endOf(t, id, want)
}

// An undo that has not all changes any more says so, and is no success.
func TestPlanUndoSaysWhatIsNotKept(t *testing.T) {
	b := twoSwitches(t)
	id := b.applied(t, "switches: [{switch: sw1, vlans: [20, 21, 22]}, {switch: sw2, vlans: [20]}]")
	if _, err := b.store.Update(t.Context(), func(tx *state.Tx) error {
		b.writer.Forget(tx, id, false, 2)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		out := b.undone(t, id, false, planUndoFailed)
		if e := out.Entries; out.Failed != 1 || e[0].Detail != "2 of 3 changes are no longer kept and stay" || e[1].State != "done" {
			t.Errorf("%+v", e)
		}
	}
}

// A plan is removed with its steps and changes, to make room for the changes of another. The oldest goes, and never the one
// that is applied again.
func TestPlansMakeRoom(t *testing.T) {
	b := twoSwitches(t)
	first := b.applied(t, "switches: [{switch: sw1, vlans: [20]}]")
	second := b.applied(t, "switches: [{switch: sw1, vlans: [21]}]")
	kept := func(id string) bool {
		_, err := b.findPlan(b.store.Now(), id)
		known := err == nil
		node := b.inventory.All()[0].NodeId
		_, step := b.plans.steps.Get(b.store.Now(), stepKey(id, node))
		if changes := len(b.writer.Done(id)) > 0; changes != known || step != known {
			t.Errorf("plan %s: known %v, changes %v, step %v", id, known, changes, step)
		}
		return known
	}
	if err := b.makeRoom(t.Context(), first, maxPlanned-1); err != nil {
		t.Fatal(err)
	}
	if !kept(first) || kept(second) {
		t.Error("the other plan was not removed")
	}
	if _, err := b.beginPlan(t.Context(), planRecord{Parallel: 1, Document: "switches: [{switch: sw1}]"}, maxPlanned); err != nil {
		t.Fatal(err)
	}
	if kept(first) {
		t.Error("the plan was not removed")
	}
}

// A plan that is undone keeps no changes once it is applied again, but those of that.
func TestPlanKeepsWhatCanBeUndone(t *testing.T) {
	b := twoSwitches(t)
	id := b.applied(t, "switches: [{switch: sw1, vlans: [20, 21]}]")
	before := b.allVLANs(t)
	for range 2 {
		b.undone(t, id, false, planUndone)
		if _, err := callPlan[planSummary](t, b, "apply", map[string]string{"plan": id}); err != nil {
			t.Fatal(err)
		}
		b.endOf(t, id, planApplied)
		if n := len(b.writer.Done(id)); n != 2 || b.allVLANs(t) != before {
			t.Errorf("%d changes are kept", n)
		}
	}
}

// What others of this controller change between the comparison and a write of a plan stays.
func TestPlanLosesNoChangeOfOthers(t *testing.T) {
	b := twoSwitches(t)
	b.mustCall(t, "switch", "vlan-add", `{"switch":"sw1","vlan-id":30,"vlan-name":"x","tagged":["port3"]}`)
	do := b.writer.DoRecorded
	b.plans.do = func(ctx context.Context, sw *switchdriver.Switch, o writes.Operation) (string, []string, error) {
		switch {
		case strings.Contains(o.What, "making VLAN 20"):
			b.mustCall(t, "switch", "vlan-set", `{"switch":"sw1","vlan-id":30,"tagged":["port3","port4"]}`)
		case strings.Contains(o.What, "VLAN 30"):
			b.mustCall(t, "switch", "vlan-set", `{"switch":"sw1","vlan-id":30,"tagged":["port3","port4","port5"]}`)
		case strings.Contains(o.What, "VLAN 40"):
			b.mustCall(t, "switch", "vlan-add", `{"switch":"sw1","vlan-id":40,"tagged":["port2"]}`)
		}
		return do(ctx, sw, o)
	}
	id := b.applied(t, "switches: [{switch: sw1, ports: [{port: port2, tagged: [20,30,40]}]}]")
	now := b.mustCall(t, "switch", "vlans", `{"switch":"sw1","vlan-id":30}`)
	for _, port := range []string{"port2", "port3", "port4", "port5"} {
		if !strings.Contains(now, `"`+port+`"`) {
			t.Errorf("%s is not in VLAN 30: %s", port, now)
		}
	}
	if out := b.endOf(t, id, planApplied); out.Entries[0].Changes != 2 { // VLAN 40 is as planned by others
		t.Errorf("%+v", out.Entries)
	}
}

// What an undo has left, an undo with force takes back.
func TestPlanUndoWithForce(t *testing.T) {
	b := twoSwitches(t)
	before := b.allVLANs(t)
	id := b.applied(t, "switches: [{switch: sw1, vlans: [20], ports: [{port: '5', description: room 3, state: down}]}]")
	b.mustCall(t, "switch-port", "set-port", `{"switch":"sw1","port":"5","description":"other"}`)
	out := b.undone(t, id, false, planUndone)
	if !strings.Contains(out.Entries[0].Detail, `"other"`) || b.allVLANs(t) == before {
		t.Errorf("%+v", out.Entries)
	}
	if _, err := b.undoPlan(t.Context(), planIn{Plan: id}); fault.KindOf(err) != fault.InUse {
		t.Error(err)
	}
	if out = b.undone(t, id, true, planUndone); out.Entries[0].Detail != "" || b.allVLANs(t) != before {
		t.Errorf("%+v\n got %s\nwant %s", out.Entries, b.allVLANs(t), before)
	}
}

// A panic while a plan is applied or undone is a fault of the step, and the process lives.
func TestPlanPanics(t *testing.T) {
	b := twoSwitches(t)
	do := b.plans.do
	b.plans.do = func(context.Context, *switchdriver.Switch, writes.Operation) (string, []string, error) { panic("ouch") }
	p, err := callPlan[planSummary](t, b, "apply", documented{"switches: [{switch: sw1, vlans: [20]}]", 1, "stop", false})
	if err != nil {
		t.Fatal(err)
	}
	if out := b.endOf(t, p.Plan, planFailed); !strings.Contains(out.Entries[0].Detail, "internal error") {
		t.Errorf("%+v", out.Entries)
	}
	b.plans.do = do
	if _, err := callPlan[planSummary](t, b, "apply", map[string]string{"plan": p.Plan}); err != nil {
		t.Fatal(err)
	}
	b.endOf(t, p.Plan, planApplied)
}
