package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/test/harness"
)

// labSwitch is the node-id of the n-th simulated switch, from 0.
func labSwitch(n int) int64 { return 0x020000000001 + int64(n) }

// vlanPorts asks for the VLANs of a switch.
func (c *controller) vlanPorts(node int64) map[int]string {
	c.t.Helper()
	a := c.Do("POST", "/restconf/operations/vlan:get-vlan-table", admin, fmt.Sprintf(`{"input":{"node-id":%d}}`, node))
	if a.Status != http.StatusOK {
		c.t.Fatalf("get-vlan-table: %d %s", a.Status, a.Body)
	}
	var v struct {
		Output struct {
			Entries []struct {
				ID    int   `json:"vlan-id"`
				Ports []int `json:"port-list"`
			} `json:"vlan-table-entry"`
		} `json:"output"`
	}
	if err := json.Unmarshal([]byte(a.Body), &v); err != nil {
		c.t.Fatalf("%v: %s", err, a.Body)
	}
	out := map[int]string{}
	for _, e := range v.Output.Entries {
		out[e.ID] = fmt.Sprint(e.Ports)
	}
	return out
}

// The plugin is killed in the middle of changes: afterwards each VLAN is there whole or
// not at all, and what was undone is reported.
func TestKilledInTheMiddleOfChanges(t *testing.T) {
	const switches, port = 6, 4
	n, err := network.Start(network.Options{Topology: fmt.Sprintf("chain:%d", switches), Ports: 8, Hosts: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	home := harness.NewHome(t)
	c := start(t, home)
	if err := os.MkdirAll(filepath.Join(home, "etc"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := n.WriteCSV(filepath.Join(home, "etc", "switch_swdb.csv")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "etc", "switch.yaml"), []byte("snmp:\n  timeout: 10s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Ctl("feature:install ctl-switch-all")
	c.Ctl("switch:TopoDiscover")
	sets := func() (all uint64) {
		for _, node := range n.Nodes() {
			all += uint64(node.Server.Agent().Stats().Sets)
		}
		return all
	}
	for i := range switches { // so that a change lasts a while
		if err := n.SetFaults(fmt.Sprintf("sw%d", i+1), faults.Set{Delay: 600 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
	}
	pid := c.pid("switch")
	answered := make([]int, switches)
	var wg sync.WaitGroup
	for i := range switches {
		wg.Go(func() {
			a := c.Do("POST", "/restconf/operations/vlan:add-vlan-and-set-ports", admin, fmt.Sprintf(
				`{"input":{"node-id":%d,"vlan-id":100,"vlan-name":"lab","tagged-port-list":"3","untagged-port-list":"%d"}}`, labSwitch(i), port))
			answered[i] = a.Status
		})
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(3 * time.Minute); sets() < switches/2; <-tick.C { // these have the first SET only
		if time.Now().After(end) {
			t.Fatal("no change began")
		}
	}
	if pid < 2 {
		t.Fatalf("the plugin has the process %d", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for i := range switches {
		if err := n.SetFaults(fmt.Sprintf("sw%d", i+1), faults.Set{}); err != nil {
			t.Fatal(err)
		}
	}
	// The next change of each switch comes behind the settling of the one before.
	for i := range switches {
		in := fmt.Sprintf(`{"input":{"node-id":%d,"vlan-id":200,"vlan-name":"next"}}`, labSwitch(i))
		for end := time.Now().Add(3 * time.Minute); ; {
			a := c.Do("POST", "/restconf/operations/vlan:add-vlan", admin, in)
			if a.Status == http.StatusOK {
				break
			}
			if <-tick.C; time.Now().After(end) {
				t.Fatalf("switch %d: %d %s", i+1, a.Status, a.Body)
			}
		}
	}
	undone := 0
	for i := range switches {
		got := c.vlanPorts(labSwitch(i))
		whole := got[100] == "[3 4]" && got[1] == "[1 2 3 5 6 7 8]"
		before := got[100] == "" && got[1] == "[1 2 3 4 5 6 7 8]"
		if !whole && !before || answered[i] == http.StatusOK && !whole {
			t.Errorf("switch %d, answered %d: %v", i+1, answered[i], got)
		}
		if before {
			undone++
		}
	}
	table := c.Ctl("switch:changes")
	t.Logf("%d of %d changes undone\n%s", undone, switches, table)
	if !strings.Contains(table, "undone") && !strings.Contains(table, "whole") {
		t.Errorf("no change was found in the journal:\n%s", table)
	}
	if !strings.Contains(table, "admin@sdn") {
		t.Errorf("who made the changes is not named:\n%s", table)
	}
	if strings.Contains(table, "waits") || strings.Contains(table, "left") {
		t.Errorf("not everything is applied:\n%s", table)
	}
}
