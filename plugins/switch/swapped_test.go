package switchplugin

import (
	"os"
	"strings"
	"testing"

	"ctl.internal/internal/lab/network"
	"ctl.internal/sdk/fault"
)

// Two switches whose addresses were swapped: neither is changed in place of the other,
// until the list is right again.
func TestSwappedAddresses(t *testing.T) {
	l := start(t, network.Options{Topology: "chain:2"}, map[string]any{"discovery": map[string]any{"interval": "0s"}})
	right, err := os.ReadFile(l.list)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(right), "\n")
	mac := func(line string) string { return line[:strings.Index(line, ",")] }
	one, two := mac(lines[1]), mac(lines[2])
	lines[1], lines[2] = two+strings.TrimPrefix(lines[1], one), one+strings.TrimPrefix(lines[2], two)
	read := func(text string) {
		t.Helper()
		if err := os.WriteFile(l.list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l.shell(t, "switch:ReadDB", []string{l.list}, nil)
		l.shell(t, "switch:TopoDiscover", nil, nil)
	}
	add := func() error {
		return l.Call(deadline(t), "vlan:add-vlan", map[string]any{"node-id": sw1, "vlan-id": 5, "vlan-name": "x"}, nil)
	}
	read(strings.Join(lines, ""))
	if err := add(); fault.KindOf(err) != fault.Downstream || !strings.Contains(err.Error(), "reports that it is switch "+two) {
		t.Errorf("a swapped switch: %v", err)
	}
	if out := l.shell(t, "switch:PrintDB", nil, nil); strings.Count(out, "not changed: it says") != 2 {
		t.Errorf("PrintDB:\n%s", out)
	}
	read(string(right))
	if err := add(); err != nil {
		t.Errorf("put right: %v", err)
	}
	if out := l.shell(t, "switch:PrintDB", nil, nil); strings.Contains(out, "not changed") {
		t.Errorf("PrintDB:\n%s", out)
	}
}
