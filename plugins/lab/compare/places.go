package compare

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"ctl.internal/plugins/lab/intent"
)

// Places are the nodes of the devices of a lab.
type Places struct {
	nodes   map[string]*Node   // by the device's name
	several map[string][]*Node // those that fit a device, where it has no node for that
	index   *index
}

// Place finds the node of each device.
func Place(lab *intent.Lab, found *Found) *Places {
	p := &Places{
		nodes:   map[string]*Node{},
		several: map[string][]*Node{},
		index:   newIndex(found),
	}
	for _, d := range lab.Devices {
		n, several := p.index.find(d.Name, d.Address)
		if n != nil {
			p.nodes[d.Name] = n
		}
		if len(several) > 0 {
			p.several[d.Name] = several
		}
	}
	return p
}

// Node is that of a device of the lab; nil if there is none, or several could be it.
func (p *Places) Node(device string) *Node {
	return p.nodes[device]
}

// index has the nodes by what they are called.
type index struct {
	byName, byID, byFullID, byWritten, byShort, byAddress map[string][]*Node
}

func newIndex(f *Found) *index {
	x := &index{
		byName:    map[string][]*Node{},
		byID:      map[string][]*Node{},
		byFullID:  map[string][]*Node{},
		byWritten: map[string][]*Node{},
		byShort:   map[string][]*Node{},
		byAddress: map[string][]*Node{},
	}
	for _, n := range sortedNodes(f) {
		x.byID[n.ID] = append(x.byID[n.ID], n)
		x.byFullID[fullID(n)] = append(x.byFullID[fullID(n)], n)
		written := writtenName(n.label())
		x.byWritten[written] = append(x.byWritten[written], n)
		if n.Name != "" {
			if id := writtenName(n.ID); id != written {
				x.byWritten[id] = append(x.byWritten[id], n)
			}
			x.byName[n.Name] = append(x.byName[n.Name], n)
			x.byShort[firstLabel(n.Name)] = append(x.byShort[firstLabel(n.Name)], n)
		}
		if a := plainAddress(n.Address); a != "" {
			x.byAddress[a] = append(x.byAddress[a], n)
		}
	}
	return x
}

// sortedNodes are the nodes in an order that is always the same.
func sortedNodes(f *Found) []*Node {
	var out []*Node
	for _, n := range f.Nodes {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(a.Topology, b.Topology), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// find finds a device by its name as it is, its id, its id in its topology, one of these with "-" for ":", its name
// without a domain, or its address. Where several fit, it returns these and no node.
func (x *index) find(name, address string) (n *Node, several []*Node) {
	nameless := slices.DeleteFunc(x.at(address), func(n *Node) bool { return n.Name != "" })
	for _, fit := range [][]*Node{
		x.byName[name],
		x.byID[name],
		x.byFullID[name],
		x.byWritten[name],
		x.byShort[firstLabel(name)],
		nameless,
	} {
		if len(fit) == 1 {
			return fit[0], nil
		}
		if len(fit) > 1 && several == nil {
			several = fit
		}
	}
	return nil, several
}

// at are the devices at an address: several where each has a port of its own there.
func (x *index) at(address string) []*Node {
	return slices.Clone(x.byAddress[plainAddress(address)])
}

// firstLabel is a name up to its first dot, in small letters: devices report theirs with or without a domain.
func firstLabel(name string) string {
	label, _, _ := strings.Cut(name, ".")
	return strings.ToLower(label)
}

// writtenName is a name as a document has it: a colon begins the port there.
func writtenName(name string) string {
	return strings.ReplaceAll(name, ":", "-")
}

// fullID is the id of a node and of its topology, as a document has it.
func fullID(n *Node) string {
	if n.Topology == "" {
		return writtenName(n.ID)
	}
	return writtenName(n.ID + "@" + n.Topology)
}

// plainAddress is the one spelling of an address; what is none stays as it is.
func plainAddress(text string) string {
	a, err := netip.ParseAddr(text)
	if err != nil {
		return text
	}
	return a.Unmap().String()
}
