package switchplugin

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/internal/lab/network"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/topology"
)

// sets is how many SETs all switches have got.
func sets(n *network.Network) (all uint64) {
	for _, node := range n.Nodes() {
		all += uint64(node.Server.Agent().Stats().Sets)
	}
	return all
}

// Two processes with one datastore, as on two nodes: one acts, both answer, each change is
// sent once, and when the one that acts goes the other goes on.
func TestTwoProcesses(t *testing.T) {
	n, err := network.Start(network.Options{Topology: "ring:4", Ports: 8, Hosts: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	h := plugintest.NewHost(t)
	settings := plugintest.WithConfig(listening(map[string]any{"discovery": map[string]any{"interval": "0s"}}))
	a := &lab{Network: n, Plugin: plugintest.Start(t, Options(), plugintest.WithHost(h), settings)}
	list := t.TempDir() + "/list.csv"
	if err := n.WriteCSV(list); err != nil {
		t.Fatal(err)
	}
	a.shell(t, "switch:ReadDB", []string{list}, nil)
	edgeCount(t, a.Plugin, 8)
	b := &lab{Network: n, Plugin: plugintest.Start(t, Options(), plugintest.WithHost(h), settings)}
	edgeCount(t, b.Plugin, 8)
	follow(t, b, func(c topology.Change) bool { return len(c.PutNodes) == 4 && len(c.PutLinks) == 8 })
	if out := b.shell(t, "switch:PrintDB", nil, nil); strings.Count(out, "answered") != 4 {
		t.Errorf("PrintDB where nothing is polled:\n%s", out)
	}
	if out := b.shell(t, "switch:TopoDiscover", nil, nil); !strings.Contains(out, "4 of 4 switches answered") {
		t.Errorf("TopoDiscover asked of the other:\n%s", out)
	}
	if x, y := a.shell(t, "switch:history", nil, nil), b.shell(t, "switch:history", nil, nil); x != y || !strings.Contains(x, "edge added") {
		t.Errorf("history:\n%s\n%s", x, y)
	}
	if out := b.shell(t, "switch:traps", nil, nil); !strings.Contains(out, "listening on udp 127.0.0.1:") {
		t.Errorf("traps:\n%s", out)
	}
	// The same change costs the same SETs, wherever it is asked for.
	add := func(l *lab, id int) (uint64, error) {
		before := sets(n)
		err := l.Call(deadline(t), "vlan:add-vlan", map[string]any{"node-id": sw1, "vlan-id": id, "vlan-name": "x"}, nil)
		return sets(n) - before, err
	}
	here, err1 := add(a, 5)
	there, err2 := add(b, 6)
	if err1 != nil || err2 != nil || here != there || here == 0 {
		t.Errorf("%d SETs (%v), asked of the other %d (%v)", here, err1, there, err2)
	}
	_, err1 = add(a, 5)
	_, err2 = add(b, 5)
	if err1 == nil || err2 == nil || err1.Error() != err2.Error() {
		t.Errorf("an error is another one when it is asked for elsewhere:\n%v\n%v", err1, err2)
	}
	// Changes go on while the role goes from one process to the other.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	before := sets(n)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			in := map[string]any{"node-id": int64(sw1 + i%4), "vlan-id": 100 + i, "vlan-name": fmt.Sprint(i)}
			if err := b.Call(ctx, "vlan:add-vlan", in, nil); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	a.Stop()
	wg.Wait()
	if got := sets(n) - before; got != 20*here {
		t.Errorf("%d SETs for 20 changes, %d each", got, here)
	}
	if v := b.vlans(t, sw1); len(v) != 3+5 {
		t.Errorf("VLANs %v", v)
	}
	if out := b.shell(t, "switch:changes", nil, nil); !strings.Contains(out, "No change was interrupted") {
		t.Errorf("changes:\n%s", out)
	}
}

// The history names who asked for the discovery that found a change, also when another process carried it out.
func TestHistoryNamesWhoAsked(t *testing.T) {
	n, err := network.Start(network.Options{Topology: "chain:2", Ports: 8, Hosts: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	h := plugintest.NewHost(t)
	settings := plugintest.WithConfig(listening(map[string]any{"discovery": map[string]any{"interval": "0s"}}))
	a := &lab{Network: n, Plugin: plugintest.Start(t, Options(), plugintest.WithHost(h), settings)}
	list := t.TempDir() + "/list.csv"
	if err := n.WriteCSV(list); err != nil {
		t.Fatal(err)
	}
	a.shell(t, "switch:ReadDB", []string{list}, nil)
	edgeCount(t, a.Plugin, 2)
	b := &lab{Network: n, Plugin: plugintest.Start(t, Options(), plugintest.WithHost(h), settings)}
	edgeCount(t, b.Plugin, 2)
	for i, at := range []*lab{a, b} {
		who := caller.Caller{User: []string{"ann", "bob"}[i], Domain: "sdn", Roles: []string{"admin"}}
		if err := n.SetLink("sw1", "sw2", i != 0); err != nil {
			t.Fatal(err)
		}
		if err := at.Call(caller.With(deadline(t), who), "topology:rediscover", nil, nil); err != nil {
			t.Fatal(err)
		}
		if out := b.shell(t, "switch:history", nil, nil); !strings.Contains(out, who.ID()) {
			t.Errorf("the history does not name %s:\n%s", who.ID(), out)
		}
	}
}
