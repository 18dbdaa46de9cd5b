//go:build peers

package rogue

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// mostMemory is what a small controller may have of the memory whatever a plugin does: 460 to 650 MiB were measured, more
// on faster machines; it was 2 to 5 GB without bounds. Pages of its files, which the kernel takes back when others need
// them, are not counted.
const mostMemory = 800 << 20

// A plugin that rewrites its store without a pause, and reads nothing of hundreds of streams that it opened, let the
// controller have 5 GB.
func TestAPluginThatReadsNothingIsBounded(t *testing.T) {
	file := filepath.Join(bin, "plugins", "faulty")
	program, err := os.ReadFile(file)
	if os.IsNotExist(err) { // another test has taken it
		program, err = os.ReadFile(takenProgram(file))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Run("Go", func(t *testing.T) { readNothing(t, "faulty", program) })
	t.Run("Python", func(t *testing.T) {
		python, missing := pythonRogue(t)
		if missing != "" {
			t.Skip("SKIPPED, NOT TESTED: the peer, a plugin in Python, is not here: ", missing)
		}
		readNothing(t, "rogue", python)
	})
}

// takenProgram is where the program of a plugin is kept while no controller finds it.
func takenProgram(file string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(file)), filepath.Base(file)+".taken")
}

// readNothing runs a rogue beside a controller that has nothing else in its store.
func readNothing(t *testing.T, name string, program []byte) {
	c := harness.Run(t, harness.Options{Bin: bin, Files: map[string]string{"ctl.yaml": "supervisor: {memory: 4GiB, stopGrace: 1s}\n"}})
	c.Ctl("feature:install ctl-switch-all")
	r := &rogue{T: t, Controller: c, name: name, column: name, program: program}
	r.install()
	defer r.beside()()
	if out := r.made("rewrite", "", 1); out.Taken == 0 {
		t.Fatal("nothing was written: ", out.Refused)
	}
	if out := r.made("unread", "", 240, 240, 200); out.Taken != 680 {
		t.Fatalf("%d streams are open: %s", out.Taken, out.Refused)
	}
	before := memoryOf(c)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	most := make(chan int)
	go func() { most <- highestMemory(ctx, c) }()
	out := r.made("rewrite", "", 14) // longer than a stream may stay unread
	cancel()
	highest := <-most
	t.Logf("%d times 8 MB written (%.200s); the controller has %d MiB at most, %d MiB before", out.Taken, out.Refused, highest>>20, before>>20)
	if highest == 0 || highest > mostMemory {
		t.Errorf("the controller has %d MiB", highest>>20)
	}
	if !r.counted(fmt.Sprintf("ctl_plugin_over_quota_total{plugin=%q,quota=%q}", name, "unread")) {
		t.Error("that the plugin does not read is not counted")
	}
}

// highestMemory looks until ctx ends.
func highestMemory(ctx context.Context, c *harness.Controller) (highest int) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		highest = max(highest, memoryOf(c))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return highest
		}
	}
}

// memoryOf is the memory of the controller, without pages of files, in bytes.
func memoryOf(c *harness.Controller) (bytes int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.PID()))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "RssAnon:"); found {
			_, _ = fmt.Sscan(rest, &bytes)
		}
	}
	return bytes << 10
}
