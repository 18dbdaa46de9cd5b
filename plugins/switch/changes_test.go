package switchplugin

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"ctl.internal/internal/lab/network"
)

type vlanTable struct {
	Entries []struct {
		ID    int    `json:"vlan-id"`
		Name  string `json:"vlan-name"`
		Ports []int  `json:"port-list"`
	} `json:"vlan-table-entry"`
}

func (l *lab) vlans(t *testing.T, node int64) map[int][]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var v vlanTable
	if err := l.Call(ctx, "vlan:get-vlan-table", map[string]int64{"node-id": node}, &v); err != nil {
		t.Fatal(err)
	}
	out := map[int][]int{}
	for _, e := range v.Entries {
		out[e.ID] = e.Ports
	}
	return out
}

const sw1 = 0x020000000001

// changes is how many are made at the same time: CTL_CHANGES=500 for the whole show.
func changes() int {
	if n, err := strconv.Atoi(os.Getenv("CTL_CHANGES")); err == nil {
		return n
	}
	return 60
}

// Changes of one switch at the same time are made one after the other: none is lost.
func TestParallelChangesOfOneSwitch(t *testing.T) {
	count := changes()
	l := start(t, network.Options{Topology: "single:1", Ports: 48}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for i := range count {
		wg.Go(func() {
			in := map[string]any{"node-id": sw1, "vlan-id": 100 + i, "vlan-name": fmt.Sprintf("v%d", i),
				"tagged-port-list": strconv.Itoa(i%48 + 1), "untagged-port-list": ""}
			if err := l.Call(ctx, "vlan:add-vlan-and-set-ports", in, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := l.vlans(t, sw1)
	for i := range count {
		if p := got[100+i]; len(p) != 1 || p[0] != i%48+1 {
			t.Errorf("VLAN %d has ports %v", 100+i, p)
		}
	}
}

// A change of each of many switches at the same time.
func TestParallelChangesOfManySwitches(t *testing.T) {
	count := changes()
	l := start(t, network.Options{Topology: "ring:" + strconv.Itoa(count), Ports: 4, Hosts: -1},
		map[string]any{"discovery": map[string]any{"interval": "0s"}})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for i := range count {
		wg.Go(func() {
			in := map[string]any{"node-id": int64(sw1 + i), "vlan-id": 7, "vlan-name": "seven", "tagged-port-list": "1", "untagged-port-list": "4"}
			if err := l.Call(ctx, "vlan:add-vlan-and-set-ports", in, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range count {
		if got := l.vlans(t, int64(sw1+i)); fmt.Sprint(got[7]) != "[1 4]" || fmt.Sprint(got[1]) != "[1 2 3]" {
			t.Errorf("switch %d: %v", i+1, got)
		}
	}
}
