package driver_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// applier has access lists that nothing reads.
type applier struct {
	match switchdriver.Match

	mu     sync.Mutex
	table  []*switchdriver.ACLEntry
	ignore bool  // says yes and does nothing
	fail   error // after it was done
}

func (f *applier) Match() switchdriver.Match { return f.match }

func (f *applier) ApplyACL(_ context.Context, _ *switchdriver.Switch, action switchdriver.ACLAction, p *switchdriver.ACLProfile, _ *switchdriver.ACLRule) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.ignore:
	case action == switchdriver.ACLClear:
		f.table = nil
	default:
		f.table = append(f.table, &switchdriver.ACLEntry{Profile: p})
	}
	return f.fail
}

// reader has access lists that can be read.
type reader struct{ applier }

func (f *reader) ReadACL(context.Context, *switchdriver.Switch) ([]*switchdriver.ACLEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.table, nil
}

// What a driver says it has done to access lists is read back where it reads them, and a
// change whose end is not known is repaired by what the switch shows.
func TestAccessListsAreReadBack(t *testing.T) {
	b := newBench(t, driver.Options{})
	blind := &applier{match: switchdriver.Match{Models: []string{"blind"}}, ignore: true}
	seeing := &reader{applier{match: switchdriver.Match{Models: []string{"seeing"}}, ignore: true}}
	b.installDriver("blind", blind)
	b.installDriver("seeing", seeing)
	apply := func(model string, id uint32) error {
		t.Helper()
		b.until(model+" is chosen", func() bool { return b.chosen(node(model)) == model })
		_, err := b.writer.Do(deadline(t), node(model), writes.Operation{What: "access lists", Request: &pluginv1.ApplyAclRequest{
			Action: switchdriver.ACLCreateProfile, Profile: &switchdriver.ACLProfile{ProfileId: id, ProfileName: "x", Layer: "IP"}}})
		return err
	}
	if err := apply("blind", 1); err != nil {
		t.Errorf("a driver that cannot read: %v", err)
	}
	if err := apply("seeing", 1); fault.KindOf(err) != fault.Downstream || !strings.Contains(err.Error(), "no access profile 1") {
		t.Errorf("a change that was not made: %v", err)
	}
	seeing.mu.Lock()
	seeing.ignore, seeing.fail = false, fault.New(fault.Unavailable, "the process ended")
	seeing.mu.Unlock()
	if err := apply("seeing", 2); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a driver that dies: %v", err)
	}
	seeing.mu.Lock()
	seeing.fail = nil
	seeing.mu.Unlock()
	if err := apply("seeing", 3); err != nil {
		t.Errorf("after it: %v", err)
	}
	// One that died in the middle and left the profile otherwise: that is not taken for undone.
	seeing.mu.Lock()
	seeing.ignore, seeing.fail = true, fault.New(fault.Unavailable, "the process ended")
	seeing.table = append(seeing.table, &switchdriver.ACLEntry{Profile: &switchdriver.ACLProfile{ProfileId: 4, ProfileName: "y"}})
	seeing.mu.Unlock()
	if err := apply("seeing", 4); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a driver that dies: %v", err)
	}
	seeing.mu.Lock()
	seeing.ignore, seeing.fail = false, nil
	seeing.mu.Unlock()
	if err := apply("seeing", 5); err != nil {
		t.Errorf("after it: %v", err)
	}
	if outcomes := b.repaired(); len(outcomes) != 2 || outcomes[0] != writes.Whole || outcomes[1] != writes.Left {
		t.Errorf("the changes whose ends were not known are %v", outcomes)
	}
	// What cannot be is not believed.
	for what, e := range map[string]*switchdriver.ACLEntry{"no id": {Profile: &pluginv1.AclProfile{ProfileName: "x"}}, "nothing": {},
		"a rule without an id": {Profile: &pluginv1.AclProfile{ProfileId: 9}, Rules: []*pluginv1.AclRule{{}}}, "twice the same": {Profile: &pluginv1.AclProfile{ProfileId: 2}}} {
		seeing.mu.Lock()
		seeing.table = []*switchdriver.ACLEntry{{Profile: &pluginv1.AclProfile{ProfileId: 2}}, e}
		seeing.mu.Unlock()
		d, sw, err := driver.For[switchdriver.ACLReader](deadline(t), b.chooser, node("seeing"), "ReadAcl")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.ReadACL(deadline(t), sw); fault.KindOf(err) != fault.Downstream || !strings.Contains(err.Error(), "seeing") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
