package discovery

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"ctl.internal/plugins/switch/mib"

	"github.com/google/go-cmp/cmp"
)

// sw makes a switch with ports 1 to 4 named p1 to p4.
func sw(n int, neighbours ...Neighbor) *Observation {
	o := &Observation{Node: mac(n), Bridge: mac(n), Address: netip.MustParseAddr(fmt.Sprintf("10.0.0.%d", n)),
		SysName: fmt.Sprintf("sw%d", n), Chassis: Identifier{4, octets(mac(n))}, Neighbors: neighbours, Observed: time.Unix(100, 0)}
	for p := 1; p <= 4; p++ {
		o.Ports = append(o.Ports, Port{ID: fmt.Sprint(p), Number: uint32(p), Name: fmt.Sprintf("p%d", p),
			LLDP: Identifier{5, fmt.Appendf(nil, "p%d", p)}, Admin: 1, Oper: 1, Bridged: true})
	}
	return o
}

func mac(n int) mib.MAC { return mib.MAC(0x020000000000 + uint64(n)) }

func octets(m mib.MAC) []byte {
	return []byte{byte(m >> 40), byte(m >> 32), byte(m >> 24), byte(m >> 16), byte(m >> 8), byte(m)}
}

// sees is a neighbour on a local port: port of switch n.
func sees(local, n, port int) Neighbor {
	return Neighbor{LocalPort: fmt.Sprint(local), Chassis: Identifier{4, octets(mac(n))}, SysName: fmt.Sprintf("sw%d", n),
		Port: Identifier{5, fmt.Appendf(nil, "p%d", port)}}
}

// with changes an observation or neighbour.
func with[T any](v T, f func(*T)) T { f(&v); return v }

func edges(n *Network) []string {
	out := []string{}
	for _, e := range n.Edges {
		s := fmt.Sprintf("%s/%s>%s/%s", short(e.Tail.Node), e.Tail.Port, short(e.Head.Node), e.Head.Port)
		if !e.Confirmed && e.Tail.Kind == SNMP {
			s += "?"
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

func short(id string) string {
	for n := range 20 {
		if id == NodeID(mac(n)) {
			return fmt.Sprint(n)
		}
	}
	return id
}

// numbered is port n, a bare number, of switch 2.
func numbered(n int, description string) Neighbor {
	return with(sees(1, 2, 0), func(nb *Neighbor) {
		nb.Port, nb.PortDesc = Identifier{7, fmt.Append(nil, n)}, description
	})
}

// ifIndexes gives each port the number of the next one as its ifIndex, and no id of its own.
func ifIndexes(o *Observation) *Observation {
	for i := range o.Ports {
		o.Ports[i].IfIndex, o.Ports[i].LLDP = o.Ports[i].Number+1, Identifier{}
	}
	return o
}

// telephone announces that it has no address.
func telephone(local, n int) Neighbor {
	return Neighbor{LocalPort: fmt.Sprint(local), Protocol: LLDP, SysName: "phone", Chassis: Identifier{5, append([]byte{2}, make([]byte, 16)...)},
		Port: Identifier{3, octets(mac(n))}, Addresses: []netip.Addr{netip.IPv6Unspecified()}}
}

func TestBuild(t *testing.T) {
	stale := func(o *Observation) *Observation { o.Stale = true; return o }
	for _, c := range []struct {
		name       string
		obs        []*Observation
		want       []string
		unresolved int
	}{
		{"both ends report", []*Observation{sw(1, sees(1, 2, 3)), sw(2, sees(3, 1, 1))}, []string{"1/1>2/3", "2/3>1/1"}, 0},
		{"one end reports: less certain", []*Observation{sw(1, sees(1, 2, 3)), sw(2)}, []string{"1/1>2/3?", "2/3>1/1?"}, 0},
		{"two cables between two switches", []*Observation{sw(1, sees(1, 2, 3), sees(2, 2, 4)), sw(2, sees(3, 1, 1), sees(4, 1, 2))},
			[]string{"1/1>2/3", "1/2>2/4", "2/3>1/1", "2/4>1/2"}, 0},
		{"text case and trailing NULs do not matter", []*Observation{
			sw(1, with(sees(1, 2, 3), func(n *Neighbor) { n.Port.ID = []byte("P3\x00") })), sw(2, sees(3, 1, 1))}, []string{"1/1>2/3", "2/3>1/1"}, 0},
		{"empty port id: the peer's view decides", []*Observation{
			sw(1, with(sees(1, 2, 0), func(n *Neighbor) { n.Port.ID = nil })), sw(2, sees(3, 1, 1))}, []string{"1/1>2/3", "2/3>1/1"}, 0},
		{"empty port id at both ends of one cable", []*Observation{
			sw(1, with(sees(1, 2, 0), func(n *Neighbor) { n.Port.ID = nil })), sw(2, with(sees(3, 1, 0), func(n *Neighbor) { n.Port.ID = nil }))},
			[]string{"1/1>2/3", "2/3>1/1"}, 0},
		{"two cables without any port id are a link of the nodes", []*Observation{
			sw(1, with(sees(1, 2, 0), func(n *Neighbor) { n.Port.ID = nil }), with(sees(2, 2, 0), func(n *Neighbor) { n.Port.ID = nil })),
			sw(2, with(sees(3, 1, 0), func(n *Neighbor) { n.Port.ID = nil }), with(sees(4, 1, 0), func(n *Neighbor) { n.Port.ID = nil }))},
			[]string{"1/>2/", "2/>1/"}, 4},
		{"one port id on all ports: the description decides", []*Observation{
			sw(1, with(sees(1, 2, 0), func(n *Neighbor) { n.Port.ID = []byte("same"); n.PortDesc = "p3" })),
			with(sw(2), func(o **Observation) {
				for i := range (*o).Ports {
					(*o).Ports[i].LLDP.ID = []byte("same")
				}
			})}, []string{"1/1>2/3?", "2/3>1/1?"}, 0},
		{"one port id on all ports and nothing else: not placed", []*Observation{
			sw(1, with(sees(1, 2, 0), func(n *Neighbor) { n.Port.ID = []byte("same") })),
			with(sw(2), func(o **Observation) {
				for i := range (*o).Ports {
					(*o).Ports[i].LLDP.ID = []byte("same")
				}
			})}, []string{}, 1},
		{"chassis id nobody has, but a port's address", []*Observation{
			sw(1, with(sees(1, 9, 0), func(n *Neighbor) { n.Port = Identifier{3, octets(mac(77))} })),
			with(sw(2), func(o **Observation) {
				(*o).Chassis = Identifier{}
				(*o).Ports[2].LLDP = Identifier{3, octets(mac(77))}
			})},
			[]string{"1/1>2/3?", "2/3>1/1?"}, 0},
		{"chassis id as an address", []*Observation{
			sw(1, with(sees(1, 2, 3), func(n *Neighbor) { n.Chassis = Identifier{5, []byte{1, 10, 0, 0, 2}} })), sw(2, sees(3, 1, 1))},
			[]string{"1/1>2/3", "2/3>1/1"}, 0},
		{"chassis id as text with hyphens", []*Observation{
			sw(1, with(sees(1, 2, 3), func(n *Neighbor) { n.Chassis.ID = []byte("02-00-00-00-00-02") })), sw(2, sees(3, 1, 1))},
			[]string{"1/1>2/3", "2/3>1/1"}, 0},
		{"management address", []*Observation{
			sw(1, with(sees(1, 2, 3), func(n *Neighbor) {
				n.Chassis = Identifier{7, []byte("x")}
				n.SysName, n.Addresses = "", []netip.Addr{netip.MustParseAddr("10.0.0.2")}
			})), sw(2)}, []string{"1/1>2/3?", "2/3>1/1?"}, 0},
		{"a name alone needs the other end", []*Observation{
			sw(1, with(sees(1, 2, 3), func(n *Neighbor) { n.Chassis = Identifier{7, []byte("x")} })), sw(2)},
			[]string{"00:00:00:00:00:00:00:78/p3>1/1"}, 0},
		{"a name, and the other end", []*Observation{
			sw(1, with(sees(1, 2, 3), func(n *Neighbor) { n.Chassis = Identifier{7, []byte("x")} })), sw(2, sees(3, 1, 1))},
			[]string{"1/1>2/3", "2/3>1/1"}, 0},
		{"a name that several have", []*Observation{
			sw(1, with(sees(1, 2, 3), func(n *Neighbor) { n.Chassis = Identifier{7, []byte("x")} })), sw(2),
			with(sw(3), func(o **Observation) { (*o).SysName = "SW2" })}, []string{"00:00:00:00:00:00:00:78/p3>1/1"}, 0},
		{"a chassis id that several have", []*Observation{sw(1, sees(1, 2, 3)), sw(2), with(sw(3), func(o **Observation) {
			(*o).Bridge, (*o).Chassis, (*o).SysName = mac(2), Identifier{4, octets(mac(2))}, "sw2"
		})}, []string{}, 1},
		{"device outside the list", []*Observation{sw(1, sees(1, 9, 3))}, []string{"00:00:02:00:00:00:00:09/p3>1/1"}, 0},
		{"many neighbours on one port", []*Observation{sw(1, sees(1, 9, 1), sees(1, 10, 1), sees(1, 2, 3)), sw(2, sees(3, 1, 1))},
			[]string{"00:00:02:00:00:00:00:09/p1>1/1", "00:00:02:00:00:00:00:0a/p1>1/1", "1/1>2/3", "2/3>1/1"}, 0},
		{"the same neighbour learned twice", []*Observation{sw(1, sees(1, 2, 3), sees(1, 2, 3)), sw(2, sees(3, 1, 1))}, []string{"1/1>2/3", "2/3>1/1"}, 0},
		{"reported before the port was disabled", []*Observation{
			with(sw(1, sees(1, 2, 3)), func(o **Observation) { (*o).Ports[0].Admin = 2 }), sw(2)}, []string{}, 0},
		{"both ports are down", []*Observation{
			with(sw(1, sees(1, 2, 3)), func(o **Observation) { (*o).Ports[0].Oper = 2 }),
			with(sw(2, sees(3, 1, 1)), func(o **Observation) { (*o).Ports[2].Oper = 2 })}, []string{}, 0},
		{"old news that the other end does not confirm", []*Observation{stale(sw(1, sees(1, 2, 3))), sw(2)}, []string{}, 0},
		{"a silent switch keeps its links", []*Observation{stale(sw(1, sees(1, 2, 3))), sw(2, sees(3, 1, 1))}, []string{"1/1>2/3", "2/3>1/1"}, 0},
		{"what one end reports does not break what two report", []*Observation{
			sw(1, sees(1, 2, 3)), sw(2, sees(3, 3, 1)), sw(3, sees(1, 2, 3))}, []string{"2/3>3/1", "3/1>2/3"}, 1},
		{"a cable from a switch to itself", []*Observation{sw(1, sees(1, 1, 2), sees(2, 1, 1))}, []string{"1/1>1/2", "1/2>1/1"}, 0},
		{"an address that all ports share is not the switch's own neighbour", []*Observation{
			with(sw(1, with(sees(1, 9, 0), func(n *Neighbor) { n.Chassis.ID = octets(mac(88)); n.Port.ID = []byte("2") })), func(o **Observation) {
				for i := range (*o).Ports {
					(*o).Ports[i].MAC = mac(88)
				}
			})}, []string{"00:00:02:00:00:00:00:58/2>1/1"}, 0},
		{"a bare number that is the ifIndex of one port and the number of another", []*Observation{sw(1, numbered(3, "")), ifIndexes(sw(2))}, []string{}, 1},
		{"the description says which of the two", []*Observation{sw(1, numbered(3, "p2")), ifIndexes(sw(2))}, []string{"1/1>2/2?", "2/2>1/1?"}, 0},
		{"the description speaks against the only port of that number", []*Observation{sw(1, numbered(1, "p4")), ifIndexes(sw(2))}, []string{}, 1},
		{"the other end says which of the two", []*Observation{sw(1, numbered(3, "")), with(ifIndexes(sw(2)), func(o **Observation) {
			(*o).Neighbors = []Neighbor{sees(2, 1, 1)}
		})}, []string{"1/1>2/2", "2/2>1/1"}, 0},
		{"short and long name of an interface", []*Observation{
			sw(1, with(sees(1, 2, 3), func(n *Neighbor) { n.Port = Identifier{5, []byte("GigabitEthernet1/0/3")} })),
			with(sw(2), func(o **Observation) {
				for i := range (*o).Ports {
					(*o).Ports[i].Name, (*o).Ports[i].LLDP = fmt.Sprintf("Gi1/0/%d", i+1), Identifier{}
				}
			})}, []string{"1/1>2/3?", "2/3>1/1?"}, 0},
		{"CDP with the octets of a listed switch", []*Observation{
			sw(1, with(sees(1, 2, 3), func(n *Neighbor) { n.Protocol, n.SysName, n.Chassis.Subtype = CDP, "", 0 })), sw(2)},
			[]string{"1/1>2/3?", "2/3>1/1?"}, 0},
		{"binary chassis ids are not what their blanks make of them", []*Observation{
			sw(1, with(sees(1, 9, 3), func(n *Neighbor) { n.Chassis, n.SysName = Identifier{7, []byte("\x01\x02AB")}, "" })),
			with(sw(2), func(o **Observation) { (*o).Chassis = Identifier{7, []byte("\x03\x04AB")} })},
			[]string{"00:00:00:00:01:02:41:42/p3>1/1"}, 0},
		{"telephones without an address are several", []*Observation{sw(1, telephone(1, 50), telephone(2, 51)), sw(2, telephone(1, 52))},
			[]string{"00:00:02:00:00:00:00:32/02:00:00:00:00:32>1/1", "00:00:02:00:00:00:00:33/02:00:00:00:00:33>1/2", "00:00:02:00:00:00:00:34/02:00:00:00:00:34>2/1"}, 0},
		{"one end reports a link whose port is down", []*Observation{
			with(sw(1, sees(1, 2, 3)), func(o **Observation) { (*o).Ports[0].Oper = 2 }), sw(2)}, []string{}, 1},
		{"a neighbour without chassis id", []*Observation{sw(1, Neighbor{LocalPort: "1", Port: Identifier{7, []byte("x")}})}, []string{}, 1},
		{"a neighbour on a port that is not there", []*Observation{sw(1, sees(9, 2, 1)), sw(2)}, []string{}, 1},
		{"nothing", nil, []string{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := Build(c.obs, time.Unix(0, 0))
			if d := cmp.Diff(c.want, edges(n)); d != "" {
				t.Error("edges (-want +got):\n" + d)
			}
			if len(n.Unresolved) != c.unresolved {
				t.Errorf("not placed: %v, want %d", n.Unresolved, c.unresolved)
			}
			slices.Reverse(c.obs)
			if d := cmp.Diff(edges(n), edges(Build(c.obs, time.Unix(0, 0)))); d != "" {
				t.Error("the order of the list matters:\n" + d)
			}
		})
	}
}
