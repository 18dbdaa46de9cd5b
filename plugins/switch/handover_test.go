package switchplugin

import (
	"fmt"
	"net"
	"testing"

	"ctl.internal/internal/lab/network"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/plugintest/reserve"
)

// open reports whether somebody listens at a UDP address.
func open(address string) bool {
	c, err := net.ListenPacket("udp", address)
	if err == nil {
		c.Close()
	}
	return err != nil
}

// The role of acting on switches changes hands 200 times, as when nodes come and go: no
// switch gets a SET that was not requested, each change that is asked for during a hand-over is sent
// once, and traps are listened for by one process at a time.
func TestTwoHundredHandOversSendNothingUnasked(t *testing.T) {
	n, err := network.Start(network.Options{Topology: "chain:2", Ports: 4, Hosts: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	h := plugintest.NewHost(t)
	ports := [2]string{}
	for i := range ports {
		ports[i] = fmt.Sprint("127.0.0.1:", reserve.Port(t, "udp", "127.0.0.1"))
	}
	start := func(i int) *lab { // on one node and the other in turn
		c := listening(map[string]any{"traps": map[string]any{"listen": ports[i%2]}})
		return &lab{Network: n, Plugin: plugintest.Start(t, Options(), plugintest.WithHost(h), plugintest.WithConfig(c))}
	}
	listens := func(l *lab, i int) {
		t.Helper()
		trapsOf(t, l.Plugin, func(r *trapReport) bool { return r.Listening == ports[i%2] && r.Error == "" })
	}
	add := func(l *lab, id int) {
		in := map[string]any{"node-id": int64(sw1 + id%2), "vlan-id": id, "vlan-name": fmt.Sprint(id)}
		if err := l.Call(deadline(t), "vlan:add-vlan", in, nil); err != nil {
			t.Errorf("VLAN %d: %v", id, err)
		}
	}
	holder := start(0)
	list := t.TempDir() + "/list.csv"
	if err := n.WriteCSV(list); err != nil {
		t.Fatal(err)
	}
	holder.shell(t, "switch:ReadDB", []string{list}, nil)
	edgeCount(t, holder.Plugin, 2)
	listens(holder, 0)
	add(holder, 100)
	each := sets(n)
	if each == 0 {
		t.Fatal("a VLAN was made without a SET")
	}
	for i := 1; i <= 200; i++ {
		before := sets(n)
		next := start(i)
		if open(ports[i%2]) || !open(ports[(i+1)%2]) {
			t.Fatalf("hand-over %d: the process without the role listens for traps, or the one with it does not", i)
		}
		asked := i%4 == 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			if asked {
				add(next, 100+i)
			}
		}()
		holder.Stop()
		<-done
		listens(next, i)
		if open(ports[(i+1)%2]) {
			t.Fatalf("hand-over %d: the process that gave the role up listens for traps still", i)
		}
		want := before
		if asked {
			want += each
		}
		if got := sets(n); got != want {
			t.Fatalf("after hand-over %d the switches have got %d SETs, want %d (%d before)", i, got, want, before)
		}
		holder = next
	}
	if got := len(holder.vlans(t, sw1)) + len(holder.vlans(t, sw1+1)); got != 2+51 {
		t.Errorf("the switches have %d VLANs, want the default of each and 51", got)
	}
	t.Logf("%d SETs for 51 changes, %d each, during 200 hand-overs", sets(n), each)
}
