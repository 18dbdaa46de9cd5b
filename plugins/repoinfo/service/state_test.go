package service

import (
	"testing"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/syncer"
	"ctl.internal/sdk/fault"
)

func TestStateAfterASync(t *testing.T) {
	failed := fault.New(fault.Downstream, "no such host")
	for _, row := range []struct {
		seen    clones.State
		status  syncer.Status
		state   clones.State
		problem string
	}{
		{clones.Ok, syncer.Status{}, clones.Ok, "p"},
		{clones.Ok, syncer.Status{Unknown: 1}, clones.Partial, "objects are missing"},
		{clones.Shallow, syncer.Status{Unknown: 1}, clones.Shallow, "p"},
		{clones.Ok, syncer.Status{Err: failed}, clones.Ok, "no such host"},
		{clones.Ok, syncer.Status{Err: failed, Damaged: true}, clones.Damaged, "no such host"},
	} {
		if state, problem := stateAfter(clones.Info{State: row.seen, Problem: "p"}, row.status); state != row.state || problem != row.problem {
			t.Errorf("%s, %+v: %s %q, want %s %q", row.seen, row.status, state, problem, row.state, row.problem)
		}
	}
}
