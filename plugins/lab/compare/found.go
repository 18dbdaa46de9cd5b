// Package compare decides what of a lab is as it shall be: cables that are right, missing, swapped, at a wrong port or
// more than intended, devices that are missing or another one, VLANs that do not lead from port to port.
package compare

import (
	"fmt"
	"slices"
	"strings"

	"ctl.internal/internal/ifname"
)

// Found is the network as sources of topologies see it.
type Found struct {
	Nodes map[string]*Node // by a key that links name, unique in all topologies
	Links []Link
}

// Node is a device that a source sees.
type Node struct {
	ID, Name, Address string
	Topology          string // id of the topology that has it
	// MAC is that of the device as the operations of switches number it; 0 for other devices.
	MAC      uint64
	OpenFlow bool // whether it is a switch that an OpenFlow controller asks
	Silent   bool // whether the device does not answer any more
	Ports    []Port
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
// long form of vendors where one alone fits. It returns how many fit: none, one, or several of which none is meant.
func (n *Node) findPort(called string) (p Port, fit int) {
	for _, fits := range []func(Port) bool{
		func(p Port) bool { return p.Name == called },
		func(p Port) bool { return p.ID == called },
		func(p Port) bool { return strings.EqualFold(p.Name, called) || strings.EqualFold(p.ID, called) },
		func(p Port) bool { return ifname.Same(p.Name, called) },
	} {
		for _, one := range n.Ports {
			if fits(one) {
				p = one
				fit++
			}
		}
		if fit > 0 {
			return p, fit
		}
	}
	return Port{}, 0
}

// resolvePort is the id of a port by what somebody calls it, or what is wrong with that. The ports of a device that
// reports nothing are not known: any of them may be there.
func (n *Node) resolvePort(called string) (id, wrong string) {
	p, fit := n.findPort(called)
	switch {
	case fit == 1:
		return p.ID, ""
	case fit > 1:
		return "", fmt.Sprintf("has %d ports that are called %s: use the number", fit, called)
	case !n.isManaged():
		return called, ""
	}
	return "", "has no port " + called + suggestPorts(n)
}

// maxSuggested is how many names of ports an error shows.
const maxSuggested = 6

func suggestPorts(n *Node) string {
	if len(n.Ports) == 0 {
		return ": none of its ports is known"
	}
	var names []string
	for _, p := range n.Ports[:min(len(n.Ports), maxSuggested)] {
		name := p.Name
		if name == "" {
			name = p.ID
		}
		names = append(names, name)
	}
	more := ""
	if len(n.Ports) > maxSuggested {
		more = ", …"
	}
	return ": it has " + strings.Join(names, ", ") + more
}

// isManaged reports whether a source asks the device itself, so that its ports and neighbours are known.
func (n *Node) isManaged() bool {
	return n.MAC != 0 || n.OpenFlow
}

// reports reports whether a node is a device that says now what its neighbours are.
func (n *Node) reports() bool {
	return n.isManaged() && !n.Silent
}

// port is the port with an id.
func (n *Node) port(id string) Port {
	for _, p := range n.Ports {
		if p.ID == id {
			return p
		}
	}
	return Port{}
}

// label is how a node is called to people.
func (n *Node) label() string {
	if n.Name != "" {
		return n.Name
	}
	return n.ID
}

// HasPort reports whether a port is known by what somebody calls it.
func (n *Node) HasPort(called string) bool {
	_, fit := n.findPort(called)
	return fit == 1
}

// PortID is the id of a port by its name or number; what is not known stays as it is.
func (n *Node) PortID(called string) string {
	if p, fit := n.findPort(called); fit == 1 {
		return p.ID
	}
	return called
}

// NamePort adds what is known of a port; a port that is not there yet is added, unless it is there under another id:
// ids of ports that are no ports of the bridge are not numbers of it.
func (n *Node) NamePort(id, name string, up bool) {
	for i := range n.Ports {
		if n.Ports[i].ID == id {
			n.Ports[i].Name = name
			n.Ports[i].Up = up
			return
		}
	}
	if slices.ContainsFunc(n.Ports, func(p Port) bool { return name != "" && p.Name == name }) {
		return
	}
	n.Ports = append(n.Ports, Port{
		ID:   id,
		Name: name,
		Up:   up,
	})
}
