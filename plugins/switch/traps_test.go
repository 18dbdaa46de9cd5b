package switchplugin

import (
	"bytes"
	"encoding/json"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/topology"
)

// listening are settings under which only commands and traps have switches read.
func listening(more map[string]any) map[string]any {
	s := map[string]any{"traps": map[string]any{"listen": "127.0.0.1:0"}, "discovery": map[string]any{"interval": "0s"}}
	for k, v := range more {
		s[k] = v
	}
	return s
}

type trapReport struct {
	Listening string            `json:"listening"`
	Error     string            `json:"error"`
	Counts    map[string]uint64 `json:"counts"`
	Strangers []struct {
		Address string `json:"address"`
		Count   uint64 `json:"count"`
	} `json:"unknown-sources"`
	Traps []struct {
		Node    string `json:"node-id"`
		Version string `json:"version"`
		Inform  bool   `json:"inform"`
		Kind    string `json:"kind"`
	} `json:"traps"`
}

// trapsOf runs switch:traps until what it shows is enough.
func trapsOf(t *testing.T, p *plugintest.Plugin, enough func(*trapReport) bool) *trapReport {
	t.Helper()
	for ctx := deadline(t); ; {
		var out bytes.Buffer
		err := commands.NewClient(p.Conn).Execute(ctx, &commands.Invocation{Name: "switch:traps", Options: map[string]string{"last": "0"},
			Format: "json", Stdin: commands.NoInput, Stdout: &out, Stderr: &out})
		if err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
		var r trapReport
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
		if enough(&r) {
			return &r
		}
		select {
		case <-ctx.Done():
			t.Fatalf("what switch:traps shows is not what was waited for:\n%s", &out)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// receiver is where traps are received.
func receiver(t *testing.T, p *plugintest.Plugin) netip.AddrPort {
	t.Helper()
	r := trapsOf(t, p, func(r *trapReport) bool { return r.Listening != "" })
	return netip.MustParseAddrPort(r.Listening)
}

// linkCount waits until the topology has a number of directed links.
func linkCount(t *testing.T, l *lab, want int) {
	t.Helper()
	links := map[string]bool{}
	follow(t, l, func(c topology.Change) bool {
		if c.Snapshot {
			clear(links)
		}
		for _, x := range c.PutLinks {
			links[x.ID] = true
		}
		for _, id := range c.RemovedLinks {
			delete(links, id)
		}
		return len(links) == want
	})
}

// A cable is cut and mended; nothing but traps reports it.
func TestLinkFlapByTraps(t *testing.T) {
	for name, c := range map[string]struct {
		target snmpagent.Target
		v3     bool
		shown  string
		inform bool
	}{
		"v1":        {snmpagent.Target{Version: snmpwire.Version1, Community: "public"}, false, "1", false},
		"v2c":       {snmpagent.Target{Version: snmpwire.Version2c, Community: "private"}, false, "2c", false},
		"v3 inform": {snmpagent.Target{Version: snmpwire.Version3, Inform: true, Retries: 20}, true, "3", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time is waiting
			l := start(t, network.Options{Topology: "ring:4", V3: c.v3}, listening(nil))
			linkCount(t, l, 8)
			c.target.Addr = receiver(t, l.Plugin)
			l.SetTargets(c.target)
			if err := l.SetLink("sw1", "sw2", false); err != nil {
				t.Fatal(err)
			}
			linkCount(t, l, 6)
			if err := l.SetLink("sw1", "sw2", true); err != nil {
				t.Fatal(err)
			}
			linkCount(t, l, 8)
			r := trapsOf(t, l.Plugin, func(r *trapReport) bool { return len(r.Traps) >= 8 })
			kinds := map[string]int{}
			for _, x := range r.Traps {
				if x.Version != c.shown || x.Inform != c.inform || x.Node == "" {
					t.Errorf("%+v", x)
				}
				kinds[x.Kind]++
			}
			if kinds["linkDown"] < 2 || kinds["linkUp"] < 2 || kinds["lldpRemTablesChange"] < 4 {
				t.Errorf("traps %v", kinds)
			}
			out, err := l.Shell(deadline(t), "switch:history", nil, map[string]string{"last": "0"})
			if err != nil || strings.Count(out, "edge removed") < 1 || !strings.Contains(out, "trap") {
				t.Errorf("switch:history: %v\n%s", err, out)
			}
		})
	}
}

// A restarted switch is read again, and its links come back when its neighbours do.
func TestRestartByTraps(t *testing.T) {
	l := start(t, network.Options{Topology: "chain:3"}, listening(nil))
	linkCount(t, l, 4)
	l.SetTargets(snmpagent.Target{Addr: receiver(t, l.Plugin), Version: snmpwire.Version2c, Community: "public"})
	if err := l.Restart("sw2"); err != nil {
		t.Fatal(err)
	}
	trapsOf(t, l.Plugin, func(r *trapReport) bool {
		for _, x := range r.Traps {
			if x.Kind == "coldStart" {
				return true
			}
		}
		return false
	})
	linkCount(t, l, 4)
}

// Traps are events; those of unknown senders are only counted.
func TestTrapEvents(t *testing.T) {
	h := plugintest.NewHost(t)
	n, err := network.Start(network.Options{Topology: "chain:2"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	list := filepath.Join(t.TempDir(), "list.csv")
	if err := n.WriteCSV(list); err != nil {
		t.Fatal(err)
	}
	p := plugintest.Start(t, Options(), plugintest.WithHost(h), plugintest.WithConfig(listening(map[string]any{"lists": []string{list}})))
	at := receiver(t, p)
	stranger := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)}
	c, err := net.DialUDP("udp", stranger, net.UDPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("anything")); err != nil {
		t.Fatal(err)
	}
	r := trapsOf(t, p, func(r *trapReport) bool { return len(r.Strangers) == 1 })
	if r.Strangers[0].Address != "127.0.0.2" || r.Strangers[0].Count != 1 || r.Counts["unknown-source"] != 1 || len(r.Traps) != 0 {
		t.Errorf("%+v", r)
	}
	n.SetTargets(snmpagent.Target{Addr: at, Version: snmpwire.Version2c, Community: "public"})
	if err := n.Trap("sw2", network.AuthenticationFailure); err != nil {
		t.Fatal(err)
	}
	ctx := deadline(t)
	for seen := 0; ; {
		events, err := h.Events(ctx, seen)
		if err != nil {
			t.Fatal(err)
		}
		seen += len(events)
		for _, e := range events {
			if e.Stream != "switch-traps" {
				continue
			}
			var got struct {
				Trap struct {
					Node string `json:"node-id"`
					Kind string `json:"kind"`
				} `json:"switch-traps:trap-received"`
			}
			if err := json.Unmarshal(e.Data, &got); err != nil {
				t.Fatal(err)
			}
			if got.Trap.Kind != "authenticationFailure" || got.Trap.Node != "2199023255554" {
				t.Errorf("event %s", e.Data)
			}
			return
		}
	}
}

// A silent switch is still shown after the plugin was started again, with its age.
func TestLastGoodSurvives(t *testing.T) {
	n, err := network.Start(network.Options{Topology: "chain:3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	dir := t.TempDir()
	list := filepath.Join(dir, "list.csv")
	if err := n.WriteCSV(list); err != nil {
		t.Fatal(err)
	}
	settings := listening(map[string]any{"lists": []string{list}, "snmp": map[string]any{"timeout": "200ms", "retries": 0}})
	h := plugintest.NewHost(t)
	p := plugintest.Start(t, Options(), plugintest.WithConfig(settings), plugintest.WithHost(h))
	if err := p.Call(deadline(t), "topology:get-edge-list", nil, nil); err != nil {
		t.Fatal(err)
	}
	if out, err := p.Shell(deadline(t), "switch:TopoDiscover", nil, nil); err != nil || !strings.Contains(out, "3 of 3") {
		t.Fatalf("%v\n%s", err, out)
	}
	p.Stop()
	if err := n.SetFaults("sw2", faults.Set{Silent: true}); err != nil {
		t.Fatal(err)
	}
	p = plugintest.Start(t, Options(), plugintest.WithConfig(settings), plugintest.WithHost(h))
	out, err := p.Shell(deadline(t), "switch:TopoDiscover", nil, nil)
	if err != nil || !strings.Contains(out, "2 of 3 switches answered") || !strings.Contains(out, "2 links between switches") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err = p.Shell(deadline(t), "switch:PrintDB", nil, nil); err != nil || !strings.Contains(out, "silent; last answered") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, rpc := range []string{"switch:switches", "switch:neighbors"} { // what is known of the silent one says of when it is
		var list struct {
			Entry []struct {
				Switch, Observed string
				Answering        bool
			}
		}
		if err := p.Call(deadline(t), rpc, nil, &list); err != nil || len(list.Entry) < 3 {
			t.Fatalf("%s: %v %+v", rpc, err, list)
		}
		for _, e := range list.Entry {
			if e.Answering != (e.Switch != "sw2") || e.Observed == "" {
				t.Errorf("%s: %+v", rpc, e)
			}
		}
	}
	p.Stop()
	// A record that is broken costs nothing but the old data.
	if err := h.Client(t, &pluginv1.Manifest{Name: "switch"}).Datastore.Put(deadline(t), "observed/switch/02:00:00:00:00:02", []byte("broken")); err != nil {
		t.Fatal(err)
	}
	p = plugintest.Start(t, Options(), plugintest.WithConfig(settings), plugintest.WithHost(h))
	if out, err := p.Shell(deadline(t), "switch:TopoDiscover", nil, nil); err != nil || !strings.Contains(out, "2 of 3 switches answered") {
		t.Errorf("%v\n%s", err, out)
	}
}
