package service

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/traps"
	"ctl.internal/sdk/fault"
)

// 240,000 ports come in pages, each once and in order; switches without ports and a page that ends with a switch do not
// matter.
func TestPortsInPages(t *testing.T) {
	n := &discovery.Network{}
	var want int
	for k := range 5000 {
		node := discovery.Node{ID: fmt.Sprint(k + 1), Kind: discovery.SNMP}
		if k%100 != 0 {
			for p := range 48 {
				node.Ports = append(node.Ports, discovery.Port{ID: fmt.Sprint(p + 1)})
			}
		}
		want += len(node.Ports)
		n.Nodes = append(n.Nodes, node)
	}
	for _, limit := range []int{0, 48, 1000} {
		var last, pages, got int
		for in := (pageIn{Limit: limit}); ; pages++ {
			p, err := portsOf(n, in)
			if err != nil {
				t.Fatal(err)
			}
			if most := in.pageRows(); len(p.Entries) > most || most > driver.PageSize {
				t.Fatalf("%d entries in a page of %d", len(p.Entries), most)
			}
			for _, e := range p.Entries {
				var node, port int
				if _, err := fmt.Sscan(e.NodeID, &node); err != nil {
					t.Fatal(err)
				}
				if _, err := fmt.Sscan(e.ID, &port); err != nil {
					t.Fatal(err)
				}
				if at := node*100 + port; at <= last {
					t.Fatalf("port %d of %d comes after %d", port, node, last)
				} else {
					last = at
				}
			}
			got += len(p.Entries)
			if in.Cursor = p.Next; in.Cursor == "" {
				break
			}
		}
		if got != want {
			t.Errorf("limit %d: %d ports in %d pages, want %d", limit, got, pages+1, want)
		}
	}
	for _, cursor := range []string{"77777/1", "2/49", "x", "2/"} {
		if _, err := portsOf(n, pageIn{Cursor: cursor}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the cursor %q: %v", cursor, err)
		}
	}
}

// A storm of one switch, or of several, does not keep the first traps of another from the event stream.
func TestTrapEventsAreFair(t *testing.T) {
	at := time.Unix(100, 0)
	d := &trapped{}
	sent := map[byte]int{}
	send := func(n byte, count int) {
		for range count {
			if d.allowsEvent(traps.Trap{At: at, From: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 162)}) {
				sent[n]++
			}
		}
	}
	for _, n := range []byte{1, 2, 3} {
		send(n, 38_000)
	}
	send(4, 3)
	if sent[1] != trapsOfSender || sent[2] != trapsOfSender || sent[3] != trapsFirst || sent[4] != 3 {
		t.Errorf("sent %v", sent)
	}
	at = at.Add(time.Second)
	send(3, 48)
	if sent[3] != trapsFirst+48 {
		t.Errorf("in the next second: %d", sent[3])
	}
}
