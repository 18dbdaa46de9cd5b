package discovery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sameID makes ports 1 and 2 of a switch announce the same port id, as members of an
// aggregate may, and gives it a port for the aggregate with ifIndex 100.
func sameID(o *Observation, aggregate uint32) *Observation {
	for i := range o.Ports {
		o.Ports[i].IfIndex = o.Ports[i].Number
		if i < 2 {
			o.Ports[i].LLDP, o.Ports[i].Aggregate = Identifier{5, []byte("lag1")}, aggregate
		}
	}
	if aggregate != 0 {
		o.Ports = append(o.Ports, Port{ID: "100", Number: 100, IfIndex: 100, Name: "lag1", Admin: 1, Oper: 1})
	}
	return o
}

// seesLag is a neighbour whose port id is that of all members.
func seesLag(local, n int) Neighbor {
	return with(sees(local, n, 0), func(n *Neighbor) { n.Port = Identifier{5, []byte("lag1")} })
}

// namedBy gives the members port ids of their own again: what they announce is then only the
// name of another port, as on switches that announce the aggregate and list the members.
func namedBy(o *Observation) *Observation {
	for i := range o.Ports {
		o.Ports[i].LLDP = Identifier{}
	}
	if len(o.Ports) == 0 || o.Ports[len(o.Ports)-1].Name != "lag1" {
		o.Ports = append(o.Ports, Port{ID: "100", Number: 100, IfIndex: 100, Name: "lag1", Admin: 1, Oper: 1})
	}
	return o
}

func bundled(n *Network) (out []string) {
	for _, e := range n.Edges {
		if short(e.Tail.Node) < short(e.Head.Node) {
			out = append(out, fmt.Sprintf("%s/%s[%s]>%s/%s[%s]", short(e.Tail.Node), e.Tail.Port, strings.Join(e.TailMembers, ","),
				short(e.Head.Node), e.Head.Port, strings.Join(e.HeadMembers, ",")))
		}
	}
	return out
}

// Members of an aggregate that announce the same port id are one edge of the aggregate
// where a switch says what its members are, else an edge of the nodes.
func TestBundles(t *testing.T) {
	a := func(aggregate uint32) *Observation { return sameID(sw(1, seesLag(1, 2), seesLag(2, 2)), aggregate) }
	b := func(aggregate uint32) *Observation { return sameID(sw(2, seesLag(1, 1), seesLag(2, 1)), aggregate) }
	for name, c := range map[string]struct {
		obs        []*Observation
		want       []string
		unresolved int
	}{
		"both ends say":    {[]*Observation{a(100), b(100)}, []string{"1/100[1,2]>2/100[1,2]"}, 0},
		"one end says":     {[]*Observation{a(100), b(0)}, []string{"1/100[1,2]>2/1+2[1,2]"}, 0},
		"neither end says": {[]*Observation{a(0), b(0)}, []string{"1/[1,2]>2/[1,2]"}, 4},
		"the id is another port's, both ends say":    {[]*Observation{namedBy(a(100)), namedBy(b(100))}, []string{"1/100[1,2]>2/100[1,2]"}, 0},
		"the id is another port's, one end says":     {[]*Observation{namedBy(a(0)), namedBy(b(100))}, []string{"1/1+2[1,2]>2/100[1,2]"}, 0},
		"the id is another port's, neither end says": {[]*Observation{namedBy(a(0)), namedBy(b(0))}, []string{"1/[1,2]>2/[1,2]"}, 4},
		"two aggregates at one end": {[]*Observation{with(a(100), func(o **Observation) { (*o).Ports[1].Aggregate = 101 }), b(100)},
			[]string{"1/[1,2]>2/[1,2]"}, 4},
		"a member that one end does not see": {[]*Observation{a(100), with(b(100), func(o **Observation) { (*o).Neighbors = (*o).Neighbors[:1] })},
			nil, 3},
		"only one end reports": {[]*Observation{a(100), sameID(sw(2), 100)}, nil, 2},
		"ports of their own": {[]*Observation{sameID(sw(1, sees(3, 2, 3), sees(4, 2, 4)), 0), sameID(sw(2, sees(3, 1, 3), sees(4, 1, 4)), 0)},
			[]string{"1/3[]>2/3[]", "1/4[]>2/4[]"}, 0},
	} {
		n := Build(c.obs, time.Unix(0, 0))
		if d := cmp.Diff(c.want, bundled(n)); d != "" {
			t.Errorf("%s: edges (-want +got):\n%s", name, d)
		}
		if len(n.Unresolved) != c.unresolved {
			t.Errorf("%s: %d neighbours not placed, want %d: %v", name, len(n.Unresolved), c.unresolved, n.Unresolved)
		}
		for _, u := range n.NotPlaced(mac(1)) {
			if !strings.Contains(u, "port ") || !strings.Contains(u, "which of its ports is not clear") {
				t.Errorf("%s: %q does not say which neighbour and why", name, u)
			}
		}
	}
}
