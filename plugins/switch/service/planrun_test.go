package service

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctl.internal/internal/lab/network"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/commands"
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

// run runs a command and returns what it prints.
func (b *bench) run(t *testing.T, name, arg string, options map[string]string) (string, error) {
	t.Helper()
	c, ok := commands.Find(b.planCommands(), name)
	if !ok {
		t.Fatalf("there is no command %s", name)
	}
	for option := range options {
		if !slices.ContainsFunc(c.Options, func(o commands.Option) bool { return o.Name == option }) {
			return "", fmt.Errorf("%s has no option %s", name, option)
		}
	}
	var out strings.Builder
	err := c.Run(t.Context(), &commands.Invocation{
		Name:    name,
		Args:    map[string][]string{c.Arguments[0].Name: {arg}},
		Options: options,
		Format:  "text",
		Stdin:   commands.NoInput,
		Stdout:  &out,
		Stderr:  &out,
	})
	return out.String(), err
}

// A command that does not end as asked for fails, also if no switch has failed.
func TestPlanCommandsEnd(t *testing.T) {
	b := twoSwitches(t)
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte("switches: [{switch: sw1, vlans: [20]}, {switch: sw2, vlans: [20]}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	do := b.plans.do
	b.plans.do = func(ctx context.Context, sw *switchdriver.Switch, o writes.Operation) (string, []string, error) {
		if _, err := b.stopPlan(ctx, planIn{Plan: o.Group}); err != nil && fault.KindOf(err) != fault.InUse {
			t.Error(err)
		}
		return do(ctx, sw, o)
	}
	_, err := b.run(t, "switch:plan", file, map[string]string{"apply": "true", "parallel": "1"})
	if err == nil || !strings.Contains(err.Error(), "is stopped, not applied") {
		t.Fatal(err)
	}
	id := b.listPlans()[0].ID
	b.plans.do = do
	if _, err := b.run(t, "switch:plan-apply", id, map[string]string{"parallel": "0"}); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
	if text, err := b.run(t, "switch:plan-apply", id, map[string]string{"parallel": "2", "continue": "true"}); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if _, err := b.run(t, "switch:plan-stop", id, map[string]string{"force": "true"}); err == nil {
		t.Error("plan-stop has an option force")
	}
	if text, err := b.run(t, "switch:plan-undo", id, nil); err != nil || !strings.Contains(text, "is undone") {
		t.Errorf("%v: %s", err, text)
	}
}

// An undo that is stopped makes no further write at the switch, and is undone later.
func TestPlanUndoIsStoppedInsideASwitch(t *testing.T) {
	b := twoSwitches(t)
	before := b.allVLANs(t)
	id := b.applied(t, "switches: [{switch: sw1, vlans: [20, 21, 22]}]")
	do := b.plans.do
	ended := make(chan struct{})
	var sent int
	b.plans.do = func(ctx context.Context, sw *switchdriver.Switch, o writes.Operation) (string, []string, error) {
		sent++
		defer func() {
			if _, err := b.stopPlan(ctx, planIn{Plan: id}); err == nil {
				close(ended)
			}
		}()
		return do(ctx, sw, o)
	}
	if _, err := b.undoPlan(t.Context(), planIn{Plan: id}); err != nil {
		t.Fatal(err)
	}
	<-ended
	step := func(n *state.Snapshot) bool {
		p, err := b.findPlan(n, id)
		return err == nil && len(b.stepsOf(n, &p)) > 0
	}
	if err := b.store.WaitUntil(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	if out := b.endOf(t, id, planStopped); sent != 1 || out.Entries[0].Detail != "it was stopped" {
		t.Errorf("%d writes, %+v", sent, out.Entries)
	}
	b.plans.do = do
	b.undone(t, id, false, planUndone)
	if b.allVLANs(t) != before {
		t.Error("the switches are not as before")
	}
}

// Applying again takes what the input says, and the switches that the names mean now; what was changed at others before
// is undone, too.
func TestPlanIsAppliedAgainAsAsked(t *testing.T) {
	b := twoSwitches(t)
	before := b.allVLANs(t)
	id := b.applied(t, "switches: [{switch: sw1, vlans: [20]}, {switch: sw2, vlans: [20]}]")
	all := b.inventory.All()
	if _, err := b.store.Update(t.Context(), func(tx *state.Tx) error { // as if sw2 had been another switch
		p, err := b.findPlan(tx, id)
		if err != nil {
			return err
		}
		p.Nodes = []uint64{all[0].NodeId, 7}
		return b.plans.records.Put(tx, id, p)
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.applyPlan(t.Context(), applyIn{Plan: id, Parallel: 7, OnFault: onFaultContinue, Wait: true}); err != nil {
		t.Fatal(err)
	}
	p, err := b.findPlan(b.store.Now(), id)
	if err != nil || p.Parallel != 7 || !p.GoOn || !slices.Equal(p.Nodes, []uint64{all[0].NodeId, all[1].NodeId}) {
		t.Errorf("%v %+v", err, p)
	}
	if _, err := b.applyPlan(t.Context(), applyIn{Plan: id, OnFault: onFaultStop, Wait: true}); err != nil {
		t.Fatal(err)
	}
	if p, err = b.findPlan(b.store.Now(), id); err != nil || p.Parallel != 7 || p.GoOn {
		t.Errorf("%v %+v", err, p)
	}
	if _, err := b.store.Update(t.Context(), func(tx *state.Tx) error {
		p.Nodes = p.Nodes[:1]
		return b.plans.records.Put(tx, id, p)
	}); err != nil {
		t.Fatal(err)
	}
	b.undone(t, id, false, planUndone)
	if b.allVLANs(t) != before {
		t.Error("the switches are not as before")
	}
}

// A document that could not be kept is refused before switches are asked, with the bound; a plan that is gone is a fault.
func TestPlanThatCannotBeKept(t *testing.T) {
	b := twoSwitches(t)
	text := make([]byte, 100<<10)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(text)
	document := "# " + hex.EncodeToString(text) + "\nswitches: [{switch: nowhere, vlans: [20]}]"
	_, err := callPlan[planSummary](t, b, "apply", documented{document, 1, "stop", false})
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "64 KiB") {
		t.Error(err)
	}
	if out, err := b.awaitApplied(t.Context(), "gone"); fault.KindOf(err) != fault.NotFound || out != nil {
		t.Error(err)
	}
}

// A panic before any step ends the plan, and the next one is applied.
func TestPlanPanicsBeforeItsSteps(t *testing.T) {
	b := twoSwitches(t)
	inventory := b.inventory
	b.inventory = nil
	document := "switches: [{switch: sw1, vlans: [20]}]"
	p, err := b.beginPlan(t.Context(), planRecord{Parallel: 1, Document: document, Nodes: []uint64{7}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = b.awaitPlan(t.Context(), p.ID, nil); err != nil || p.State != planFailed {
		t.Errorf("%v %+v", err, p)
	}
	b.inventory = inventory
	b.applied(t, document)
}
