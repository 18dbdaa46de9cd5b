package service

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/internal/lab/network"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

// callPlan calls an RPC of module switch-plan and returns its output.
func callPlan[Out any](t *testing.T, b *bench, rpc string, input any) (Out, error) {
	t.Helper()
	in, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	var out Out
	text, err := b.call(t, "switch-plan", rpc, string(in))
	if err == nil {
		if e := json.Unmarshal([]byte(text), &out); e != nil {
			t.Fatalf("%v: %s", e, text)
		}
	}
	return out, err
}

// endOf waits until a plan has a state.
func (b *bench) endOf(t *testing.T, id string, want planState) planOut {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	err := b.store.WaitUntil(ctx, func(n *state.Snapshot) bool {
		p, ok := b.plans.records.Get(n, id)
		return ok && !p.State.isRunning()
	})
	out, e := callPlan[planOut](t, b, "get-plan", planIn{Plan: id})
	if err != nil || e != nil || out.State != want {
		t.Fatalf("the plan is %s, not %s: %v %v %+v", out.State, want, err, e, out.Entries)
	}
	return out
}

// vlansOf is what all switches show of their VLANs and the settings of sw1.
func (b *bench) allVLANs(t *testing.T) string {
	t.Helper()
	return b.mustCall(t, "switch", "vlans", `{}`) + b.mustCall(t, "switch-port", "get-ports", `{"switch":"sw1"}`)
}

type documented struct {
	Document string `json:"document"`
	Parallel int    `json:"parallel"`
	OnFault  string `json:"on-fault"`
	Force    bool   `json:"force"`
}

const office = `
name: office
vlans: [{id: 10, name: office}]
switches:
- switch: sw1
  ports:
  - {port: port1, tagged: [10]}
  - {port: "5", untagged: 10, description: room 3, state: down}
- switch: sw2
  ports:
  - {port: port1, tagged: [10]}
  - {port: port2, tagged: [10]}
- switch: sw3
  ports:
  - {port: port1, tagged: [10]}
  - {port: port5, untagged: 10}
`

// A plan is previewed, applied, compared with the switches, undone exactly, and applied again.
func TestPlan(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:3", Ports: 6, Hosts: 1})
	before := b.allVLANs(t)
	found, err := callPlan[differencesOut](t, b, "preview", documentIn{office})
	if err != nil || found.Switches != 3 || found.Changes != 4 || len(found.Differences) != 3 || len(found.Gaps) > 0 {
		t.Fatalf("%v %+v", err, found)
	}
	if d := found.Differences[0]; d.Switch != "sw1" || d.Changes[0].Change != "making VLAN 10" ||
		d.Changes[0].Detail != `name "office"; untagged port5; tagged port1` || d.Changes[1].Change != "setting port port5" {
		t.Errorf("%+v", d)
	}
	if b.allVLANs(t) != before {
		t.Error("the preview has changed something")
	}
	alice := caller.With(t.Context(), caller.Caller{User: "alice", Domain: "lab"})
	begun, err := b.applyPlan(alice, applyIn{documentIn: documentIn{office}, Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	p := *begun
	if p.State != planApplying && p.State != planApplied || p.Name != "office" {
		t.Fatalf("%v %+v", err, p)
	}
	out := b.endOf(t, p.Plan, planApplied)
	for _, r := range b.writer.Done(p.Plan) {
		if r.By != "alice@lab" {
			t.Errorf("%s was asked for by %q", r.What(), r.By)
		}
	}
	if out.Done != 3 || out.Failed != 0 || out.Entries[0].Changes != 2 || out.Document != office {
		t.Errorf("%+v", out)
	}
	after := b.allVLANs(t)
	drift, err := callPlan[differencesOut](t, b, "get-drift", planIn{Plan: p.Plan})
	if err != nil || len(drift.Differences) > 0 {
		t.Errorf("%v %+v", err, drift)
	}
	b.mustCall(t, "switch", "vlan-set", `{"switch":"sw2","vlan-id":10,"tagged":["port1"]}`)
	drift, err = callPlan[differencesOut](t, b, "get-drift", planIn{Plan: p.Plan})
	if err != nil || len(drift.Differences) != 1 || drift.Differences[0].Changes[0].Detail != "tagged port2" {
		t.Errorf("%v %+v", err, drift)
	}
	if _, err := b.undoChange(t, b.lastChange(t).ID, false); err != nil {
		t.Fatal(err)
	}
	if _, err := callPlan[planSummary](t, b, "undo", map[string]string{"plan": p.Plan}); err != nil {
		t.Fatal(err)
	}
	b.endOf(t, p.Plan, planUndone)
	if now := b.allVLANs(t); now != before {
		t.Errorf("undone:\n got %s\nwant %s", now, before)
	}
	if _, err := callPlan[planSummary](t, b, "undo", map[string]string{"plan": p.Plan}); fault.KindOf(err) != fault.InUse {
		t.Error(err)
	}
	if _, err := callPlan[planSummary](t, b, "apply", map[string]string{"plan": p.Plan}); err != nil {
		t.Fatal(err)
	}
	b.endOf(t, p.Plan, planApplied)
	if now := b.allVLANs(t); now != after {
		t.Errorf("applied again:\n got %s\nwant %s", now, after)
	}
	all, err := callPlan[plansOut](t, b, "get-plans", struct{}{})
	if err != nil || len(all.Entries) != 1 || all.Entries[0].State != planApplied {
		t.Errorf("%v %+v", err, all)
	}
}

// What cannot be made, or must not, is said before anything is sent.
func TestPlanIsChecked(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:3", Ports: 6, Hosts: 1})
	before := b.allVLANs(t)
	for _, c := range []struct{ document, want string }{
		{strings.ReplaceAll(office, "switch: sw3", "switch: sw9"), "sw9"},
		{strings.ReplaceAll(office, "port: port2", "port: port22"), `no port "port22"`},
		{strings.ReplaceAll(office, "port: port2", "port: port1"), "twice"},
		{strings.ReplaceAll(office, "switch: sw3", "switch: 127.0.0.1"), "127.0.0.1"},
		{strings.ReplaceAll(office, "{port: port2, tagged: [10]}", "{port: port3, tagged: [10]}"), "VLAN 10: no links carry it all the way"},
		{strings.ReplaceAll(office, "{port: port1, tagged: [10]}", "{port: port1, tagged: [10], state: down}"), "leads to switch"},
		{"vlans: [{id: 1, name: other}]\nswitches: [{switch: sw1, vlans: [1]}]", `exists with the name "default", not "other"`},
		{"name: x", "document"},
	} {
		_, err := callPlan[planSummary](t, b, "apply", documented{c.document, 2, "stop", false})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v", c.document, err)
		}
	}
	if b.allVLANs(t) != before || len(b.listPlans()) > 0 {
		t.Error("something was changed")
	}
	gap := strings.ReplaceAll(office, "{port: port2, tagged: [10]}", "{port: port3, tagged: [10]}")
	p, err := callPlan[planSummary](t, b, "apply", documented{gap, 2, "stop", true})
	if err != nil {
		t.Fatal(err)
	}
	b.endOf(t, p.Plan, planApplied)
}

// A preview has a bounded number of problems and changes, however small the document is that asks for more.
func TestPreviewIsBounded(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:5", Ports: 4, Hosts: 1})
	var ports, vlans strings.Builder
	for i := range 3 * maxProblems {
		fmt.Fprintf(&ports, "{port: x%d},", i)
	}
	found, err := callPlan[differencesOut](t, b, "preview", documentIn{
		"switches: [{switch: sw1, ports: [" + ports.String() + "]}, {switch: sw2, ports: [" + ports.String() + "]}]"})
	if err != nil || len(found.Differences) != 2 ||
		len(found.Differences[0].Problems) != maxProblems || len(found.Differences[1].Problems) != 1 {
		t.Errorf("%v: %d switches", err, len(found.Differences))
	}
	_, err = callPlan[planSummary](t, b, "apply", map[string]string{
		"document": "switches: [{switch: sw1, ports: [" + ports.String() + "]}]"})
	if n := len(fault.All(err)); n != maxRefused+1 {
		t.Errorf("%d faults", n)
	}
	for id := range 4093 {
		fmt.Fprintf(&vlans, "%d,", id+2)
	}
	found, err = callPlan[differencesOut](t, b, "preview", documentIn{"switches: [{switch: sw1, vlans: &v [" +
		vlans.String() + "]}, {switch: sw2, vlans: *v}, {switch: sw3, vlans: *v}, {switch: sw4, vlans: *v}, {switch: sw5, vlans: *v}]"})
	if err != nil || found.Changes > maxChanges || found.Changes < maxChanges-4093 {
		t.Fatalf("%v: %d changes", err, found.Changes)
	}
	if last := found.Differences; !strings.Contains(fmt.Sprint(last), "divide it") {
		t.Error("nothing says that there are too many changes")
	}
}

// cutAt ends the term of the role at one point of a plan: before or after one of its writes.
func (b *bench) cutAt(point int) (reached func() bool) {
	do := b.writer.DoRecorded
	var mu sync.Mutex
	at := 0
	pass := func() {
		mu.Lock()
		defer mu.Unlock()
		if at == point {
			(*b.cut.Load())()
		}
		at++
	}
	b.plans.do = func(ctx context.Context, sw *switchdriver.Switch, o writes.Operation) (string, []string, error) {
		pass()
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		id, lines, err := do(ctx, sw, o)
		pass()
		return id, lines, err
	}
	return func() bool {
		mu.Lock()
		defer mu.Unlock()
		return at > point
	}
}

// A plan, and its undo, go on wherever the process ends that carries them out: each ends as if nothing had happened.
func TestPlanGoesOn(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:3", Ports: 6, Hosts: 1})
	before := b.allVLANs(t)
	after := ""
	points := 0
	for more := true; more; points++ {
		reached := b.cutAt(points)
		p, err := callPlan[planSummary](t, b, "apply", documented{office, 1, "stop", false})
		if err != nil {
			t.Fatal(err)
		}
		if out := b.endOf(t, p.Plan, planApplied); out.Failed > 0 || out.Done != 3 {
			t.Fatalf("cut at %d: %+v", points, out)
		}
		more = reached()
		now := b.allVLANs(t)
		if after == "" {
			after = now
		}
		if now != after {
			t.Fatalf("cut at %d:\n got %s\nwant %s", points, now, after)
		}
		reached = b.cutAt(points)
		if _, err := callPlan[planSummary](t, b, "undo", map[string]string{"plan": p.Plan}); err != nil {
			t.Fatal(err)
		}
		b.endOf(t, p.Plan, planUndone)
		more = reached() || more
		if now := b.allVLANs(t); now != before {
			t.Fatalf("undo, cut at %d:\n got %s\nwant %s", points, now, before)
		}
	}
	if points < 9 { // four writes, before and after each
		t.Errorf("only %d points", points)
	}
}

// A fault stops a plan, or does not, as asked; the rest is applied later.
func TestPlanAtAFault(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:3", Ports: 6, Hosts: 1})
	for onFault, want := range map[string]int{"stop": 2, "continue": 3} {
		do := b.writer.DoRecorded
		b.plans.do = func(ctx context.Context, sw *switchdriver.Switch, o writes.Operation) (string, []string, error) {
			if switchdriver.Label(sw) == switchdriver.Label(b.inventory.All()[1]) {
				return "", nil, fault.Device(fault.Downstream, "the switch is on fire")
			}
			return do(ctx, sw, o)
		}
		p, err := callPlan[planSummary](t, b, "apply", documented{office, 1, onFault, false})
		if err != nil {
			t.Fatal(err)
		}
		out := b.endOf(t, p.Plan, planFailed)
		if out.Done != want || out.Failed != 1 || out.Entries[1].Detail != "the switch is on fire" {
			t.Errorf("%s: %+v", onFault, out)
		}
		b.plans.do = do
		if _, err := callPlan[planSummary](t, b, "apply", map[string]string{"plan": p.Plan}); err != nil {
			t.Fatal(err)
		}
		b.endOf(t, p.Plan, planApplied)
		if _, err := callPlan[planSummary](t, b, "undo", map[string]string{"plan": p.Plan}); err != nil {
			t.Fatal(err)
		}
		b.endOf(t, p.Plan, planUndone)
	}
}

// Two hundred switches get a VLAN on four ports, and are as before after the undo.
func TestPlanOfManySwitches(t *testing.T) {
	const switches = 200
	b := newLab(t, network.Options{Topology: fmt.Sprintf("chain:%d", switches), Ports: 8, Hosts: -1})
	var doc strings.Builder
	doc.WriteString("switch,port,untagged,tagged,description,vlan,name\n,,,,,10,office\n")
	for i := range switches {
		name := fmt.Sprintf("sw%d", i+1)
		fmt.Fprintf(&doc, "%s,port1,,10,,,\n%s,port2,,10,,,\n", name, name)
		fmt.Fprintf(&doc, "%s,port5,10,,room %d,,\n%s,port6,10,,,,\n", name, i, name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	shown := func() string {
		out, err := b.vlanLines(ctx, vlanIDIn{})
		if err != nil || len(out.Partial) > 0 {
			t.Fatalf("%v %q", err, out.Partial)
		}
		return out.formatTable()
	}
	before := shown()
	p, err := b.applyPlan(ctx, applyIn{documentIn: documentIn{doc.String()}, Parallel: 32, Wait: true})
	if err != nil || p.Done != switches || p.Failed > 0 {
		t.Fatalf("%v %+v", err, p)
	}
	drift, err := b.getDrift(ctx, planIn{Plan: p.Plan})
	if err != nil || drift.Changes > 0 || len(drift.Gaps) > 0 {
		t.Errorf("%v: %+v", err, drift)
	}
	if _, err := b.undoPlan(ctx, planIn{Plan: p.Plan}); err != nil {
		t.Fatal(err)
	}
	if end, err := b.awaitPlan(ctx, p.Plan, nil); err != nil || end.State != planUndone {
		t.Fatalf("%v %s", err, end.State)
	}
	if shown() != before {
		t.Error("the switches are not as before")
	}
}
