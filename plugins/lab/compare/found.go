// Package compare decides what of a lab is as it shall be: cables that are right, missing, swapped, at a wrong port or
// more than intended, devices that are missing or another one, VLANs that do not lead from port to port.
package compare

import (
	"slices"
	"strings"

	"ctl.internal/internal/ifname"
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

// Link leads from a port to a port, as one end says, or as both do where it is confirmed.
type Link struct {
	SourceNode, SourcePort string
	DestNode, DestPort     string
	Confirmed              bool
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

// nodeAt is the device at an address.
func (f *Found) nodeAt(address string) *Node {
	for _, n := range f.Nodes {
		if address != "" && n.Address == address {
			return n
		}
	}
	return nil
}
