package device

import (
	"strings"
	"testing"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

// What another client writes to running between our edit of the candidate and our commit is never lost: a lock
// keeps it out, and where running cannot be locked the change is made again.
func TestEditsOfOthersAreNotOverwritten(t *testing.T) {
	for name, o := range map[string]simrouter.Options{"confirmed commit": {}, "no confirmed commit": {Leave: []string{netconf.ConfirmedCommit}},
		"reports no changes": {Leave: []string{netconf.Notifications}}, "no rollback-on-error": {Leave: []string{netconf.RollbackOnError}}} {
		for _, lockable := range []bool{true, false} {
			sim, r := start(t, o)
			d := newDriver(quick())
			apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
			other := xmltree.New("", "", xmltree.New(simrouter.NSSystem, "system", xmltree.Leaf(simrouter.NSSystem, "contact", "an operator")))
			sim.Set(simrouter.Faults{NoLock: !lockable, Meanwhile: other})
			apply(t, d, r, config(4, 1, 5), bierdriver.Applied)
			there := strings.Contains(sim.Config().String(), "an operator")
			if there == lockable {
				t.Errorf("%s, running can be locked %v: what the operator wrote is there: %v", name, lockable, there)
			}
			if o, err := d.Read(t.Context(), r); err != nil || o.Config.Global.GetBfrId() != 4 {
				t.Errorf("%s: %v, %v", name, o, err)
			}
			if sim.Counts()["lock"] < sim.Counts()["unlock"] {
				t.Errorf("%s: %v", name, sim.Counts())
			}
		}
	}
}

// While somebody else has running locked, the router is left alone.
func TestRunningThatIsLockedByAnother(t *testing.T) {
	sim, r := start(t, simrouter.Options{})
	other, err := netconf.Dial(t.Context(), netconf.Target{Host: sim.Host(), Port: sim.Port(), User: "lab", Password: "lab"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(t.Context())
	if err := other.OK(t.Context(), netconf.LockOp(netconf.Running)); err != nil {
		t.Fatal(err)
	}
	d := newDriver(quick())
	before := sim.Config().String()
	if a := apply(t, d, r, config(3), bierdriver.Pending); !strings.Contains(a.Reason, "locking running") || sim.Config().String() != before {
		t.Errorf("%v", a)
	}
	if err := other.OK(t.Context(), netconf.UnlockOp(netconf.Running)); err != nil {
		t.Fatal(err)
	}
	apply(t, d, r, config(3), bierdriver.Applied)
}
