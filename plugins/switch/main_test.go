package switchplugin

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/topology"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// lab is the plugin with a simulated network and a home.
type lab struct {
	*network.Network
	*plugintest.Plugin
	list string
}

func start(t *testing.T, o network.Options, settings map[string]any) *lab {
	t.Helper()
	if settings == nil {
		settings = map[string]any{}
	}
	n, err := network.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	home := t.TempDir()
	data := filepath.Join(home, "data", "plugins", "switch")
	for _, dir := range []string{filepath.Join(home, "etc"), data} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l := &lab{Network: n, list: filepath.Join(home, "etc", "switch_swdb.csv")}
	if err := n.WriteCSV(l.list); err != nil {
		t.Fatal(err)
	}
	l.Plugin = plugintest.Start(t, Options(), plugintest.WithConfig(settings), plugintest.WithDataDir(data))
	return l
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

type edges struct {
	Entries []struct {
		Head string `json:"head-node-id"`
		Tail string `json:"tail-node-id"`
	} `json:"edge-list-entry"`
}

// edgeCount waits until there are so many edges: on a busy machine the first result
// may be that of half the switches.
func edgeCount(t *testing.T, p *plugintest.Plugin, want int) {
	t.Helper()
	for ctx := deadline(t); ; {
		var e edges
		if err := p.Call(ctx, "topology:get-edge-list", nil, &e); err != nil {
			t.Fatal(err)
		}
		if len(e.Entries) == want {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%d edges, want %d", len(e.Entries), want)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// follow watches the topology until want says that it has seen enough.
func follow(t *testing.T, l *lab, want func(topology.Change) bool) {
	t.Helper()
	enough := errors.New("enough")
	err := topology.NewClient(l.Conn).Watch(deadline(t), nil, func(c topology.Change) error {
		if want(c) {
			return enough
		}
		return nil
	}, func() {})
	if !errors.Is(err, enough) {
		t.Fatalf("the topology ended before it was as expected: %v", err)
	}
}

// The list in the home is loaded at start and the network discovered, with no command.
func TestStart(t *testing.T) {
	l := start(t, network.Options{Topology: "ring:4"}, nil)
	edgeCount(t, l.Plugin, 8) // two for each link
	follow(t, l, func(c topology.Change) bool {
		if c.TopologyID != "switch:1" || !c.Snapshot || len(c.PutNodes) != 4 || len(c.PutLinks) != 8 {
			t.Errorf("first change: %s snapshot %v, %d nodes, %d links", c.TopologyID, c.Snapshot, len(c.PutNodes), len(c.PutLinks))
		}
		return true
	})
}

// A changed file is noticed; so is one that goes bad in part.
func TestListIsFollowed(t *testing.T) {
	l := start(t, network.Options{Topology: "ring:4"}, map[string]any{"discovery": map[string]any{"interval": "0s"}})
	follow(t, l, func(c topology.Change) bool { return len(c.PutNodes) == 4 })
	text, err := os.ReadFile(l.list)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[2] = "no switch at all\n"
	if err := os.WriteFile(l.list, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	snapshot := true
	follow(t, l, func(c topology.Change) bool {
		if snapshot { // four or three nodes, whichever came first
			snapshot = false
			return len(c.PutNodes) == 3
		}
		return len(c.RemovedNodes) == 1
	})
}

func TestCommands(t *testing.T) {
	l := start(t, network.Options{Topology: "chain:3"}, map[string]any{"snmp": map[string]any{"timeout": "200ms", "retries": 0}})
	if err := l.Call(deadline(t), "topology:get-edge-list", nil, nil); err != nil {
		t.Fatal(err)
	}
	out, err := l.Shell(deadline(t), "switch:PrintDB", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"00:00:02:00:00:00:00:01 (2199023255553)", "127.0.0.1:", "********", "standard-mib", "generic"} {
		if !strings.Contains(out, want) {
			t.Errorf("PrintDB does not show %q:\n%s", want, out)
		}
	}
	for _, secret := range []string{"private", "public", "password\n", " password "} {
		if strings.Contains(out, secret) {
			t.Errorf("PrintDB shows %q:\n%s", secret, out)
		}
	}
	if err := l.SetFaults("sw3", faults.Set{Silent: true}); err != nil {
		t.Fatal(err)
	}
	out = discover(t, l, "switch:TopoDiscover")
	if !strings.Contains(out, "2 of 3 switches answered") || !strings.Contains(out, "02:00:00:00:00:03") || !strings.Contains(out, "2 links between switches") {
		t.Errorf("TopoDiscover:\n%s", out)
	}
	discover(t, l, "switch:TopoDiscoverSwitches")
	discover(t, l, "switch:TopoDiscoverEdges")
	if _, err := l.Shell(deadline(t), "switch:ReadDB", []string{"etc/nothing.csv"}, nil); !errors.Is(err, &fault.Error{Kind: fault.NotFound}) {
		t.Errorf("a list that is not there: %v", err)
	}
	if out, err = l.Shell(deadline(t), "switch:ReadDB", []string{"etc/switch_swdb.csv"}, nil); err != nil || !strings.Contains(out, "3 switches read from "+l.list) {
		t.Errorf("ReadDB: %s %v", out, err)
	}
}

func discover(t *testing.T, l *lab, command string) string {
	t.Helper()
	out, err := l.Shell(deadline(t), command, nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return out
}

// A plugin that is started again, after a crash perhaps, knows the list that was
// loaded by hand.
func TestRestartKeepsTheList(t *testing.T) {
	n, err := network.Start(network.Options{Topology: "chain:3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	list := filepath.Join(t.TempDir(), "elsewhere.csv")
	if err := n.WriteCSV(list); err != nil {
		t.Fatal(err)
	}
	h := plugintest.NewHost(t)
	p := plugintest.Start(t, Options(), plugintest.WithHost(h))
	if _, err := p.Shell(deadline(t), "switch:ReadDB", []string{list}, nil); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	p = plugintest.Start(t, Options(), plugintest.WithHost(h))
	edgeCount(t, p, 4)
	if err := p.Call(deadline(t), "vlan:get-vlan-table", map[string]int64{"node-id": 0x020000000001}, nil); err != nil {
		t.Error(err)
	}
}

// The interval that was set holds over a restart, until the settings change.
func TestIntervalIsKept(t *testing.T) {
	h := plugintest.NewHost(t)
	p := plugintest.Start(t, Options(), plugintest.WithHost(h))
	if err := p.Call(deadline(t), "topology:set-discovery-interval", map[string]int{"interval-second": 0}, nil); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	p = plugintest.Start(t, Options(), plugintest.WithHost(h))
	var raw json.RawMessage
	if err := p.Call(deadline(t), "topology:get-node-list", nil, &raw); err != nil || string(raw) != `{"node-list-entry":[]}` {
		t.Errorf("without a list: %s %v", raw, err)
	}
}

func TestBadSettings(t *testing.T) {
	for _, s := range []map[string]any{
		{"discovery": map[string]any{"interval": "soon"}}, {"discovery": map[string]any{"interval": "-1s"}},
		{"snmp": map[string]any{"timeout": "1ns"}}, {"snmp": map[string]any{"sockets": 1}}, {"list": "x"},
	} {
		if _, err := plugintest.StartError(t, Options(), plugintest.WithConfig(s)); err == nil {
			t.Errorf("%v was taken", s)
		}
	}
}
