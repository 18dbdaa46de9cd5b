package discovery

import (
	"cmp"
	"slices"
	"strconv"
	"time"
	"unicode"

	"ctl.internal/plugins/switch/mib"
)

// Kind is the type of a node, as device-type of module snmp4sdn-types names it.
type Kind string

// SNMP is a switch of the list; PR ("production") a neighbour outside it.
const (
	SNMP Kind = "SNMP"
	PR   Kind = "PR"
)

// Network is the result of a discovery.
type Network struct {
	Nodes []Node
	Edges []Edge
	// Unresolved are neighbours that were reported but could not be placed.
	Unresolved []Unresolved
	Built      time.Time
}

// Node is a switch of the list, or a device outside it.
type Node struct {
	ID   string // decimal MAC for SNMP, eight octets of the chassis id for PR
	Kind Kind
	Name string // sysName as the device or its neighbours report it
	// The rest is of SNMP nodes only.
	MAC      mib.MAC
	Address  string
	Model    string
	Ports    []Port
	Observed time.Time
	Stale    bool
	Partial  []string // tables that could be read up to some row only
}

// End is one end of an edge.
type End struct {
	Node, Port string
	Kind       Kind
}

// Edge leads from Tail to Head. A link between two switches is two edges; one to
// a device outside the list is one, with that device as the tail.
type Edge struct {
	Tail, Head End
	// Confirmed says that both ends reported each other.
	Confirmed bool
	// TailMembers and HeadMembers are the ports of a link aggregation; the edge's own are the
	// aggregates, or made of the members where an aggregate is no port. An edge without
	// ports (NodeLevel) says only that its members connect the two nodes.
	TailMembers, HeadMembers []string
	// Source is how it was reported: LLDP, LLDPV2 or CDP, or how it was inferred: STP, FDB.
	Source   string
	Observed time.Time
}

// Inferred reports whether no switch reported the edge: it follows from the spanning
// tree or the forwarding tables, which is less sure.
func (e Edge) Inferred() bool {
	return e.Source == STP || e.Source == FDB
}

// NodeLevel reports whether the edge joins two nodes, but which ports with which is not known.
func (e Edge) NodeLevel() bool {
	return e.Tail.Port == "" && e.Head.Port == ""
}

// Names are the names of the nodes by their ids, empty where none is known.
func (n *Network) Names() map[string]string {
	names := make(map[string]string, len(n.Nodes))
	for _, node := range n.Nodes {
		names[node.ID] = node.Name
	}
	return names
}

// Peer returns the switch of the list at the other end of a port, or of the link that it is
// a member of; 0 if it is in no aggregate.
func (n *Network) Peer(node, port string) mib.MAC {
	for i := range n.Edges {
		e := &n.Edges[i]
		if e.Head.Node != node ||
			e.Head.Port != port && !slices.Contains(e.HeadMembers, port) ||
			e.Tail.Kind != SNMP {
			continue
		}
		if m, err := strconv.ParseUint(e.Tail.Node, 10, 48); err == nil {
			return mib.MAC(m)
		}
	}
	return 0
}

// Unresolved is a neighbour that could not be placed, and why.
type Unresolved struct {
	Node, Port string
	Neighbor   string
	Why        string
}

// outsideID is the id of a device outside the list: its chassis id as octets in
// hexadecimal, filled to eight octets in front. Telephones without an address all announce the same one: those are distinguished
// apart by the address that their port has, else by name, port and the switch that reports them.
func outsideID(n *Neighbor, reporter string) string {
	if len(n.Chassis.ID) == 0 {
		return ""
	}
	b := n.Chassis.ID
	if isAnonymousChassis(n.Chassis) {
		if b = n.Port.ID; n.Port.Subtype != portMAC || !mib.MACOf(b).Unicast() {
			b = []byte(n.SysName + "@" + reporter + ":" + n.LocalPort)
		}
	}
	m := mib.MACOf(b)
	if m != 0 && n.Chassis.Subtype == chassisMAC && len(b) > 6 {
		return "00:00:" + m.String()
	}
	if len(b) < 8 {
		b = append(make([]byte, 8-len(b)), b...)
	}
	return mib.ColonHex(b)
}

// outsidePort is the port id of such a device as text.
func outsidePort(n *Neighbor) string {
	return cmp.Or(n.Port.String(), n.PortDesc, "unknown")
}

// String returns the identifier for people: addresses with colons, text as text,
// other octets in hexadecimal.
func (id Identifier) String() string {
	if len(id.ID) == 6 && (id.Subtype == portMAC || id.Subtype == chassisMAC || id.Subtype == 0) {
		return mib.ColonHex(id.ID)
	}
	s, ok := printableIdentifier(id.ID)
	if !ok {
		return mib.ColonHex(id.ID)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) || r > 0x7e {
			return mib.ColonHex(id.ID)
		}
	}
	return s
}

// String names the neighbour for people.
func (n *Neighbor) String() string {
	s := cmp.Or(n.Chassis.String(), "unknown chassis")
	if n.SysName != "" {
		s += " (" + n.SysName + ")"
	}
	return s + " port " + outsidePort(n)
}
