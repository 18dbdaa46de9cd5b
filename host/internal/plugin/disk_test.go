package plugin

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A plugin that takes more of the disk than it may, or that fills it, is stopped and says why; another goes on.
func TestThePluginThatFillsTheDiskIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		quota int64
		low   bool
		says  string // empty = it goes on
	}{
		"over its quota":       {16 << 20, false, "its quota is 16 MiB (supervisor.disk)"},
		"within it":            {64 << 20, false, ""},
		"the disk is full":     {0, true, "is full, and this plugin has written"},
		"there is room enough": {0, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(o *Options) { o.Disk = c.quota })
			r.ensure(faulty())
			other := faulty("no-claims", "name=other")
			other.Name = "other"
			r.ensure(other)
			r.checkDisk(false)
			s, err := r.findSupervisor("faulty")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.dataDir(), "big"), bytes.Repeat([]byte("x"), 20<<20), 0o600); err != nil {
				t.Fatal(err)
			}
			r.checkDisk(c.low)
			if c.says == "" {
				if i, _ := r.Info("faulty"); i.State != Ready {
					t.Errorf("it is %s: %s", i.State, i.Reason)
				}
				return
			}
			if err := s.waitUntil(t.Context(), func(m machine) bool { return m.state == Failed }); err != nil {
				t.Fatal(err)
			}
			if i, _ := r.Info("faulty"); !strings.Contains(i.Reason, c.says) || !strings.Contains(i.Reason, s.dataDir()) {
				t.Errorf("the reason is %q", i.Reason)
			}
			if i, _ := r.Info("other"); i.State != Ready {
				t.Errorf("the other plugin is %s: %s", i.State, i.Reason)
			}
			if err := os.Remove(filepath.Join(s.dataDir(), "big")); err != nil {
				t.Fatal(err)
			}
			if err := r.Start(t.Context(), "faulty"); err != nil {
				t.Errorf("it does not start again: %v", err)
			}
		})
	}
}

func TestExceededIsMendedByAnOperatorAlone(t *testing.T) {
	m := machine{policy: DefaultPolicy}
	now := time.Now()
	m.step(evStart{}, now, 0)
	m.step(evStarted{attempt: m.attempt}, now, 0)
	if todo := m.step(evExceeded{"full"}, now, 0); m.state != Failed || m.reason != "full" || len(todo) != 1 || todo[0] != (doStop{"full"}) {
		t.Errorf("%s %q, %v", m.state, m.reason, todo)
	}
	if todo := m.step(evExited{"killed"}, now, 0); m.state != Failed || m.reason != "full" || len(todo) != 0 {
		t.Errorf("after its end: %s %q, %v", m.state, m.reason, todo)
	}
	if m.step(evStart{}, now, 0); m.state != Starting {
		t.Errorf("started by an operator: %s", m.state)
	}
}
