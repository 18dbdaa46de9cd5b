package switchplugin

import (
	"strings"
	"testing"
	"time"

	"ctl.internal/internal/lab/network"
)

// until waits for a condition that comes by itself.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(60 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never: %s", what)
		}
	}
}

// shell runs a command that must succeed.
func (l *lab) shell(t *testing.T, name string, args []string, options map[string]string) string {
	t.Helper()
	out, err := l.Shell(deadline(t), name, args, options)
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return out
}

// The settings for SDN are applied when the configuration asks, and only then.
func TestSDNSettings(t *testing.T) {
	on := map[string]any{"sdn": map[string]any{"apply": "on", "disable_stp": true, "disable_learning": true}}
	l := start(t, network.Options{Topology: "chain:2"}, on)
	until(t, "spanning tree is off", func() bool { return !l.Nodes()[0].STPEnabled(24) && !l.Nodes()[1].STPEnabled(24) })
	until(t, "it is reported", func() bool { return strings.Contains(l.shell(t, "switch:sdn", nil, nil), "switched off") })
	if out := l.shell(t, "switch:sdn", nil, nil); !strings.Contains(out, "learning of addresses: not switched off, no driver") {
		t.Error(out)
	}
	dry := map[string]any{"sdn": map[string]any{"apply": "dry-run", "disable_stp": true}}
	l = start(t, network.Options{Topology: "single:1"}, dry)
	until(t, "it is reported", func() bool {
		return strings.Contains(l.shell(t, "switch:sdn", nil, nil), "would be switched off, 24 ports take part")
	})
	if !l.Nodes()[0].STPEnabled(1) {
		t.Error("a dry run sends")
	}
	if out := l.shell(t, "switch:sdn", []string{"02:00:00:00:00:01"}, map[string]string{"apply": "true"}); !strings.Contains(out, "spanning tree: switched off") || l.Nodes()[0].STPEnabled(1) {
		t.Error(out)
	}
}
