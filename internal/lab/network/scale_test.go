package network_test

import (
	"net"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpwire"
)

// many is a tree of 1 + 9 + 81 + 729 = 820 switches.
const many = "tree:4x9"

func TestManySwitches(t *testing.T) {
	n := start(t, network.Options{Topology: many, Ports: 48})
	for i := 0; i < len(n.Nodes()); i += 101 {
		name := "sw" + strconv.Itoa(i+1)
		if got, want := len(discovered(t, n, name)), len(told(n, name)); got != want {
			t.Errorf("%s has %d neighbours, want %d", name, got, want)
		}
	}
}

// What a switch of 48 ports costs, and how long a network takes to start.
func BenchmarkStart(b *testing.B) {
	before := inUse()
	for b.Loop() {
		n, err := network.Start(network.Options{Topology: "tree:5x7,single:2199", Ports: 48}) // 5,000 switches
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(inUse()-before)/float64(len(n.Nodes()))/1024, "KiB/switch")
		b.ReportMetric(float64(len(n.Nodes())), "switches")
		n.Close()
	}
}

// inUse is the memory of heap and stacks, octets.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// A walk of ifTable and ifXTable with GETBULK, agent and client in one process
// over the loopback; vb/s counts variable bindings.
func BenchmarkBulkWalk(b *testing.B) {
	n := start(b, network.Options{Topology: "chain:1", Ports: 48})
	at := n.Nodes()[0].Server.Addr()
	conn, err := net.Dial("udp", at.String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	root, buf, total := snmpwire.MustOID("1.3.6.1.2.1.2.2"), make([]byte, 65536), 0
	for b.Loop() {
		for name := root; name.HasPrefix(root); {
			p := snmpwire.PDU{Type: snmpwire.GetBulkRequest, Index: 50, VarBinds: []snmpwire.VarBind{{Name: name, Value: snmpwire.Value{Tag: snmpwire.Null}}}}
			if _, err := conn.Write(snmpwire.EncodeCommunity(1, "public", p.Raw())); err != nil {
				b.Fatal(err)
			}
			k, err := conn.Read(buf)
			if err != nil {
				b.Fatal(err)
			}
			m, err := snmpwire.DecodeCommunity(buf[:k])
			if err != nil {
				b.Fatal(err)
			}
			total += len(m.PDU.VarBinds)
			name = m.PDU.VarBinds[len(m.PDU.VarBinds)-1].Name
		}
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "vb/s")
}

// The agent alone on one core, without sockets and client.
func BenchmarkHandleBulk(b *testing.B) {
	n := start(b, network.Options{Topology: "chain:1", Ports: 48})
	a := n.Nodes()[0].Server.Agent()
	p := snmpwire.PDU{Type: snmpwire.GetBulkRequest, Index: 50, VarBinds: []snmpwire.VarBind{
		{Name: snmpwire.MustOID("1.3.6.1.2.1.2.2.1.7"), Value: snmpwire.Value{Tag: snmpwire.Null}}}}
	msg := snmpwire.EncodeCommunity(1, "public", p.Raw())
	b.ReportAllocs()
	for b.Loop() {
		if a.Handle(msg) == nil {
			b.Fatal("no answer")
		}
	}
	b.ReportMetric(float64(b.N)*50/b.Elapsed().Seconds(), "vb/s")
}

// A whole walk of ifTable by version 3, authPriv SHA-256 and AES, as gosnmp does it.
func BenchmarkV3Walk(b *testing.B) {
	n := start(b, network.Options{Topology: "chain:1", Ports: 48, V3: true})
	g := &gosnmp.GoSNMP{Target: "127.0.0.1", Port: n.Nodes()[0].Server.Addr().Port(), Version: gosnmp.Version3, Timeout: 30 * time.Second,
		MaxRepetitions: 50, SecurityModel: gosnmp.UserSecurityModel, MsgFlags: gosnmp.AuthPriv, SecurityParameters: &gosnmp.UsmSecurityParameters{
			UserName: "ops", AuthenticationProtocol: gosnmp.SHA256, AuthenticationPassphrase: "authpass123",
			PrivacyProtocol: gosnmp.AES, PrivacyPassphrase: "privpass123"}}
	if err := g.Connect(); err != nil {
		b.Fatal(err)
	}
	defer g.Conn.Close()
	total := 0
	for b.Loop() {
		list, err := g.BulkWalkAll("1.3.6.1.2.1.2.2")
		if err != nil {
			b.Fatal(err)
		}
		total += len(list)
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "vb/s")
}
