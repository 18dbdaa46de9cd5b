//go:build peers

package switchpeers

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/internal/lab/network"
	"ctl.internal/plugins/switch/service"
	"ctl.internal/sdk"
	"ctl.internal/sdk/plugintest"
)

// inside marks the run of the test in a namespace of its own: "refused" or "allowed".
const inside = "CTL_TEST_PORT_162"

// The port of traps with and without the privilege to bind it. Each half runs in a
// network namespace of its own, where no other program can have the port.
func TestPort162(t *testing.T) {
	if half := os.Getenv(inside); half != "" {
		port162(t, half)
		return
	}
	need(t, "ip", "unshare", "setpriv")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for half, privileges := range map[string]string{
		"refused": "--bounding-set=-net_bind_service",
		"allowed": "--bounding-set=+net_bind_service",
	} {
		t.Run(half, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, "unshare", "--net", "sh", "-c", `ip link set lo up && exec "$@"`, "sh",
				"setpriv", privileges, "--inh-caps=-all", self, "-test.run=^TestPort162$", "-test.v")
			c.Env = append(os.Environ(), inside+"="+half)
			if out, err := c.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS: TestPort162")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// locked is a log that several goroutines write.
type locked struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// port162 runs in the namespace, with the port of the specification.
func port162(t *testing.T, half string) {
	var log locked
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	n, err := network.Start(network.Options{Topology: "ring:4"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	list := filepath.Join(t.TempDir(), "list.csv")
	if err := n.WriteCSV(list); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "plugins", "switch")
	manifest, err := os.ReadFile(filepath.Join(dir, "plugin.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p := plugintest.Start(t, sdk.Options{Manifest: manifest, YANG: os.DirFS(dir), New: service.New, Commands: service.Commands()},
		plugintest.WithConfig(map[string]any{"lists": []string{list}}))
	ctx := long(t)
	r := reported(ctx, t, p, func(r *trapReport) bool { return r.Listening != "" || r.Error != "" })
	warnings := strings.Count(log.String(), "traps are not received")
	switch half {
	case "refused":
		if !strings.Contains(r.Error, "permission denied") || !strings.Contains(r.Error, ":162") || warnings != 1 {
			t.Errorf("%+v, %d warnings:\n%s", r, warnings, &log)
		}
	case "allowed":
		if !strings.HasSuffix(r.Listening, ":162") || warnings != 0 {
			t.Errorf("%+v, %d warnings:\n%s", r, warnings, &log)
		}
	}
	var edges edgeList // all else works
	if err := p.Call(ctx, "topology:get-edge-list", nil, &edges); err != nil || len(edges.Entries) != 8 {
		t.Errorf("%d edges, %v", len(edges.Entries), err)
	}
}
