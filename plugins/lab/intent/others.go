package intent

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// outsideNodes are words for what a link of containerlab leads to besides nodes.
var outsideNodes = map[string]bool{
	"host":     true,
	"mgmt-net": true,
	"macvlan":  true,
	"vxlan":    true,
	"dummy":    true,
}

// readContainerlab reads what of a topology of containerlab says how things are connected.
func (l *Lab) readContainerlab(root *yaml.Node, f *faults) {
	file := f.object(root, "the document")
	l.Name = f.text(file["name"], "name")
	topology := f.object(file["topology"], "topology")
	for _, m := range f.members(topology["nodes"], "nodes") {
		l.Devices = append(l.Devices, Device{
			Name:    m.key,
			Address: f.text(f.object(m.value, m.key)["mgmt-ipv4"], "mgmt-ipv4"),
			Line:    m.line,
		})
	}
	l.sortDevices()
	for _, n := range f.items(topology["links"], "links") {
		ends, ok := containerlabEnds(n, f)
		switch {
		case !ok:
		case len(ends) != 2 || outsideNodes[ends[0].Device] || outsideNodes[ends[1].Device]:
			l.note(n.Line, "the link is left out: it does not lead from a node to a node")
		default:
			l.Links = append(l.Links, Link{
				A:    ends[0],
				B:    ends[1],
				Line: n.Line,
			})
		}
	}
	l.checkNamed(f)
}

// containerlabEnds are those of a link in the brief form, whose endpoints are texts, or in the extended one.
func containerlabEnds(n *yaml.Node, f *faults) (ends []End, ok bool) {
	before := len(f.list) + f.more
	link := f.object(n, "a link")
	for _, e := range f.items(link["endpoints"], "endpoints") {
		if e.Kind == yaml.ScalarNode {
			end, err := parseEnd(e.Value)
			if err != nil {
				f.at(e.Line, "%v", err)
			}
			ends = append(ends, end)
			continue
		}
		end := f.object(e, "an endpoint")
		ends = append(ends, f.namedEnd(e, end["node"], end["interface"]))
	}
	return ends, len(f.list)+f.more == before
}

// namedEnd is an end of which node and port are members of their own.
func (f *faults) namedEnd(at, node, port *yaml.Node) End {
	e := End{
		Device: f.text(node, "node"),
		Port:   f.text(port, "the port"),
	}
	if e.Device == "" {
		f.at(at.Line, "an end of a link names no node")
	}
	return e
}

// netlabReader reads what of a topology of netlab says how things are connected.
type netlabReader struct {
	*faults
	lab *Lab
	// dashes is the largest number of "-" in the name of a node.
	dashes int
}

func (l *Lab) readNetlab(root *yaml.Node, f *faults) {
	file := f.object(root, "the document")
	l.Name = f.text(file["name"], "name")
	r := netlabReader{
		faults: f,
		lab:    l,
	}
	r.addNodes(file["nodes"])
	l.sortDevices()
	for _, n := range f.items(file["links"], "links") {
		r.addLink(n)
	}
	l.checkNamed(f)
}

func (r *netlabReader) addNode(name string, line int, attributes *yaml.Node) {
	if name == "" {
		r.at(line, "a node has no name")
		return
	}
	r.dashes = max(r.dashes, strings.Count(name, "-"))
	r.lab.Devices = append(r.lab.Devices, Device{
		Name:    name,
		Address: valueAt(attributes, "mgmt", "ipv4"),
		Line:    line,
	})
}

// valueAt is a text in a mapping whose other members do not matter; empty if it is not there.
func valueAt(n *yaml.Node, path ...string) string {
	for _, name := range path {
		if n == nil || n.Kind != yaml.MappingNode {
			return ""
		}
		var next *yaml.Node
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				next = n.Content[i+1]
			}
		}
		n = next
	}
	if isNull(n) || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// addNodes reads nodes as a list of names or of mappings with a name, or as a mapping of names to what they are.
func (r *netlabReader) addNodes(nodes *yaml.Node) {
	if nodes != nil && nodes.Kind == yaml.MappingNode {
		for _, m := range r.members(nodes, "nodes") {
			r.addNode(m.key, m.line, m.value)
		}
		return
	}
	if isNull(nodes) {
		return
	}
	for _, n := range r.items(nodes, "nodes") {
		name := n.Value
		if n.Kind == yaml.MappingNode {
			name = valueAt(n, "name")
		}
		r.addNode(name, n.Line, n)
	}
}

// addLink reads a link in any of its forms: "a-b", [a, b], {a: {ifname: x}, b: {}} or {interfaces: [{node: a}]}.
func (r *netlabReader) addLink(n *yaml.Node) {
	before := len(r.list) + r.more
	link := Link{Line: n.Line}
	var ends []End
	switch n.Kind {
	case yaml.ScalarNode:
		ends = r.splitNames(n)
	case yaml.SequenceNode:
		ends = r.ends(n)
	default:
		ends = r.endsOfMapping(n, &link)
	}
	switch {
	case len(r.list)+r.more > before:
	case len(ends) != 2:
		r.lab.note(n.Line, "the link is left out: it has %d nodes and is no cable", len(ends))
	default:
		link.A, link.B = ends[0], ends[1]
		r.lab.Links = append(r.lab.Links, link)
	}
}

// ends reads a list of names of nodes, or of mappings that have one.
func (r *netlabReader) ends(list *yaml.Node) []End {
	var out []End
	for _, n := range r.items(list, "a link") {
		if n.Kind == yaml.ScalarNode {
			out = append(out, End{Device: n.Value})
			continue
		}
		end := r.object(n, "an end of a link")
		out = append(out, r.namedEnd(n, end["node"], end["ifname"]))
	}
	return out
}

func (r *netlabReader) endsOfMapping(n *yaml.Node, link *Link) []End {
	var out []End
	for _, m := range r.members(n, "a link") {
		_, isNode := r.lab.Device(m.key)
		switch {
		case m.key == "interfaces":
			out = append(out, r.ends(m.value)...)
		case isNode:
			out = append(out, End{
				Device: m.key,
				Port:   valueAt(m.value, "ifname"),
			})
		case m.key == "bandwidth":
			r.scalar(m.value, "bandwidth", "a number of kbit/s", &link.Kbps)
		}
	}
	return out
}

// maxParts is how many parts between "-" a link has that is written in one text.
const maxParts = 64

// splitNames divides "a-b" into names of nodes, which may have a "-" of their own.
func (r *netlabReader) splitNames(n *yaml.Node) []End {
	parts := strings.Split(n.Value, "-")
	if len(parts) > maxParts {
		r.at(n.Line, "the link has more than %d names: write them as a list", maxParts)
		return nil
	}
	var out []End
	for len(parts) > 0 {
		taken := 1
		for n := min(len(parts), r.dashes+1); n > 1; n-- {
			if _, known := r.lab.Device(strings.Join(parts[:n], "-")); known {
				taken = n
				break
			}
		}
		out = append(out, End{Device: strings.Join(parts[:taken], "-")})
		parts = parts[taken:]
	}
	return out
}
