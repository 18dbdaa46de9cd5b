package plugin

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// What operations do is said by the annotations of their modules, or by the fields of a manifest of the contract before.
func TestWhatOperationsDo(t *testing.T) {
	const own = `module m { yang-version 1.1; namespace "urn:m"; prefix m; import ctl-schema { prefix c; } import o { prefix o; }
		rpc get { c:read-only; c:repeatable; } rpc reconcile { c:repeatable; c:timeout 2m; } rpc add; rpc old;
		c:annotate /o:look { c:read-only; } }`
	const other = `module o { yang-version 1.1; namespace "urn:o"; prefix o; rpc look; }`
	rpc := func(module, name string) *pluginv1.Rpc { return &pluginv1.Rpc{Module: module, Name: name} }
	old := rpc("m", "old")
	old.Safe, old.Timeout = true, durationpb.New(time.Minute)
	m := &pluginv1.Manifest{
		YangModules: []*pluginv1.YangModule{{Name: "m", Text: own}, {Name: "o@2026-01-01", Text: other}},
		Rpcs:        []*pluginv1.Rpc{rpc("m", "get"), rpc("m", "reconcile"), rpc("m", "add"), old, rpc("o", "look")},
	}
	got := operationsOf(m)
	for name, want := range map[string]operation{
		"m:get":       {readOnly: true, repeatable: true},
		"m:reconcile": {repeatable: true, timeout: 2 * time.Minute},
		"m:add":       {},
		"m:old":       {readOnly: true, repeatable: true, timeout: time.Minute},
		"o:look":      {readOnly: true},
	} {
		if op, there := got[name]; !there || op != want {
			t.Errorf("%s: %+v, there %v", name, op, there)
		}
	}
	if fields := oldOperations(m); !slices.Equal(fields, []string{"operations.safe", "operations.timeouts"}) {
		t.Errorf("old fields are %q", fields)
	}
	old.Safe, old.Timeout = false, nil
	if fields := oldOperations(m); fields != nil {
		t.Errorf("old fields are %q", fields)
	}
}
