// Package compare decides what of a lab is as it shall be: cables that are right, missing, swapped, at a wrong port or
// more than intended, devices that are missing or another one, VLANs that do not lead from port to port.
package compare

import (
	"maps"
	"slices"
	"strings"

	"ctl.internal/internal/ifname"
	"ctl.internal/plugins/lab/intent"
)

// Found is the network as sources of topologies see it.
type Found struct {
	Nodes map[string]*Node // by node-id
	Links []Link
}

// Node is a device that a source sees.
type Node struct {
	ID, Name, Address string
	// MAC is that of the device as the operations of switches number it; 0 for other devices.
	MAC    uint64
	Silent bool // whether the device does not answer any more
	Ports  []Port
}

// Port is one of a device.
type Port struct {
	ID, Name string
	Up       bool
	Kbps     uint64 // 0 when not known
}

// Link leads from a port to a port; a cable is two of them.
type Link struct {
	SourceNode, SourcePort string
	DestNode, DestPort     string
	// OneSided is set where one end reports the link and the other one does not.
	OneSided bool
	// Inferred is set where no device reports the link.
	Inferred bool
	// SourceMembers and DestMembers are the ports of an aggregation.
	SourceMembers, DestMembers []string
}

// portName is what a port is called: its name, else its id.
func (n *Node) portName(id string) string {
	for _, p := range n.Ports {
		if p.ID == id && p.Name != "" {
			return p.Name
		}
	}
	return id
}

// findPort finds a port by what somebody calls it: its name or id as it is, then in another case, then in the short or
// long form of vendors where one alone fits.
func (n *Node) findPort(called string) (Port, bool) {
	for _, fits := range []func(Port) bool{
		func(p Port) bool { return p.Name == called },
		func(p Port) bool { return p.ID == called },
		func(p Port) bool { return strings.EqualFold(p.Name, called) || strings.EqualFold(p.ID, called) },
		func(p Port) bool { return ifname.Same(p.Name, called) },
	} {
		first := slices.IndexFunc(n.Ports, fits)
		if first < 0 {
			continue
		}
		if slices.ContainsFunc(n.Ports[first+1:], fits) {
			return Port{}, false
		}
		return n.Ports[first], true
	}
	return Port{}, false
}

// label is how a node is called to people.
func (n *Node) label() string {
	if n.Name != "" {
		return n.Name
	}
	return n.ID
}

// firstLabel is a name up to its first dot, in small letters: devices report theirs with or without a domain.
func firstLabel(name string) string {
	label, _, _ := strings.Cut(name, ".")
	return strings.ToLower(label)
}

// findNode finds a device by its name as it is, its id, its name without a domain, or its address; of several that fit
// none.
func (f *Found) findNode(name, address string) *Node {
	for _, fits := range []func(*Node) bool{
		func(n *Node) bool { return n.Name == name },
		func(n *Node) bool { return n.ID == name },
		func(n *Node) bool { return n.Name != "" && firstLabel(n.Name) == firstLabel(name) },
		func(n *Node) bool { return n.Name == "" && address != "" && n.Address == address },
	} {
		var found *Node
		several := false
		for _, n := range f.Nodes {
			if fits(n) {
				several = found != nil
				found = n
			}
			if several {
				break
			}
		}
		if found != nil && !several {
			return found
		}
	}
	return nil
}

// nodesAt are the devices at an address: several where each has a port of its own there.
func (f *Found) nodesAt(address string) []*Node {
	var out []*Node
	for _, n := range f.Nodes {
		if address != "" && n.Address == address {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b *Node) int { return strings.Compare(a.label(), b.label()) })
	return out
}

// Device finds the node of a device of a lab; nil if there is none, or several could be it.
func (f *Found) Device(d intent.Device) *Node {
	return f.findNode(d.Name, d.Address)
}

// NodeByID finds a node by its id in its topology.
func (f *Found) NodeByID(id string) *Node {
	for _, n := range f.Nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

// HasPort reports whether a port is known by what somebody calls it.
func (n *Node) HasPort(called string) bool {
	_, ok := n.findPort(called)
	return ok
}

// PortID is the id of a port by its name or number; what is not known stays as it is.
func (n *Node) PortID(called string) string {
	if p, ok := n.findPort(called); ok {
		return p.ID
	}
	return called
}

// NamePort adds what is known of a port; a port that is not there yet is added, too.
func (n *Node) NamePort(id, name string, up bool) {
	for i := range n.Ports {
		if n.Ports[i].ID == id {
			n.Ports[i].Name = name
			n.Ports[i].Up = up
			return
		}
	}
	n.Ports = append(n.Ports, Port{
		ID:   id,
		Name: name,
		Up:   up,
	})
}

// Describe is the network as a lab: what is there is what shall be. Inferred links are left out, and devices that
// report nothing have no address.
func Describe(f *Found, name string) *intent.Lab {
	lab := &intent.Lab{Name: name}
	labels := map[*Node]string{}
	taken := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(f.Nodes)) {
		n := f.Nodes[key]
		label := strings.ReplaceAll(n.label(), ":", "-")
		if taken[label] { // two devices of one name are distinguished by their ids
			label = strings.ReplaceAll(n.ID, ":", "-")
		}
		taken[label] = true
		labels[n] = label
		lab.Devices = append(lab.Devices, intent.Device{
			Name:    label,
			Address: n.Address,
		})
	}
	for _, c := range collectCables(f) {
		if c.inferred || c.a.id == "" || c.b.id == "" {
			continue
		}
		lab.Links = append(lab.Links, intent.Link{
			A: intent.End{
				Device: labels[c.a.node],
				Port:   c.a.node.portName(c.a.id),
			},
			B: intent.End{
				Device: labels[c.b.node],
				Port:   c.b.node.portName(c.b.id),
			},
		})
	}
	return lab
}
