package network_test

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// start runs a network that ends with the test.
func start(t testing.TB, o network.Options) *network.Network {
	t.Helper()
	n, err := network.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// open returns a client of a switch.
func open(t testing.TB, n *network.Network, name string) *gosnmp.GoSNMP {
	t.Helper()
	node, err := n.Node(name)
	if err != nil {
		t.Fatal(err)
	}
	at := node.Server.Addr()
	g := &gosnmp.GoSNMP{Target: at.Addr().String(), Port: at.Port(), Version: gosnmp.Version2c, Community: "private",
		Timeout: 30 * time.Second, Retries: 1, MaxRepetitions: 25}
	if err := g.Connect(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Conn.Close() })
	return g
}

// column walks a column; the keys are the instances.
func column(t testing.TB, g *gosnmp.GoSNMP, root string) map[string]gosnmp.SnmpPDU {
	t.Helper()
	list, err := g.BulkWalkAll(root)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]gosnmp.SnmpPDU, len(list))
	for _, p := range list {
		out[p.Name[len(root)+2:]] = p
	}
	return out
}

// discovered asks one switch for its neighbours: "port name-of-the-other".
func discovered(t testing.TB, n *network.Network, name string) []string {
	t.Helper()
	out := []string{}
	for index, p := range column(t, open(t, n, name), "1.0.8802.1.1.2.1.4.1.1.9") {
		o := snmpwire.MustOID(index)
		out = append(out, fmt.Sprintf("%d %s", o[1], p.Value))
	}
	slices.Sort(out)
	return out
}

// told is what Links reports and discovered must find.
func told(n *network.Network, name string) []string {
	out := []string{}
	for _, l := range n.Links() {
		switch {
		case !l.Up:
		case l.A.Switch == name:
			out = append(out, fmt.Sprintf("%d %s", l.A.Port, l.B.Switch))
		case l.B.Switch == name:
			out = append(out, fmt.Sprintf("%d %s", l.B.Port, l.A.Switch))
		}
	}
	slices.Sort(out)
	return out
}

// listener receives traps of version 2c.
type listener struct{ conn *net.UDPConn }

func listen(t testing.TB) (*listener, snmpagent.Target) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	at := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	return &listener{conn}, snmpagent.Target{Addr: at, Version: snmpwire.Version2c, Community: "private"}
}

// next returns the sender, the trap and the value of the third variable binding.
func (l *listener) next(t testing.TB) (netip.AddrPort, string, string) {
	t.Helper()
	buf := make([]byte, 4096)
	n, from, err := l.conn.ReadFromUDPAddrPort(buf)
	if err != nil {
		t.Fatalf("no trap: %v", err)
	}
	m, err := snmpwire.DecodeCommunity(buf[:n])
	if err != nil {
		t.Fatal(err)
	}
	third := ""
	if len(m.PDU.VarBinds) > 2 {
		third = m.PDU.VarBinds[2].Value.String()
	}
	return from, m.PDU.VarBinds[1].Value.OID.String(), third
}
