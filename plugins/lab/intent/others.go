package intent

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/sdk/fault"
)

// containerlabFile is what of a containerlab topology says how things are connected.
type containerlabFile struct {
	Name     string `yaml:"name"`
	Topology struct {
		Nodes map[string]containerlabNode `yaml:"nodes"`
		Links []containerlabLink          `yaml:"links"`
	} `yaml:"topology"`
}

type containerlabNode struct {
	Address string `yaml:"mgmt-ipv4"`
	line    int
}

// UnmarshalYAML keeps the line.
func (n *containerlabNode) UnmarshalYAML(node *yaml.Node) error {
	type plain containerlabNode
	n.line = node.Line
	if node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		return nil
	}
	return node.Decode((*plain)(n))
}

// containerlabLink is a link in the brief form, whose endpoints are texts, or in the extended one.
type containerlabLink struct {
	Type      string      `yaml:"type"`
	Endpoints []yaml.Node `yaml:"endpoints"`
	line      int
}

// UnmarshalYAML keeps the line.
func (l *containerlabLink) UnmarshalYAML(node *yaml.Node) error {
	type plain containerlabLink
	l.line = node.Line
	return node.Decode((*plain)(l))
}

// outsideNodes are words for what a link of containerlab leads to besides nodes.
var outsideNodes = map[string]bool{
	"host":     true,
	"mgmt-net": true,
	"macvlan":  true,
	"vxlan":    true,
	"dummy":    true,
}

func readContainerlab(text []byte) (*Lab, fault.List) {
	var f containerlabFile
	if faults := decodeYAML(text, &f, false); faults != nil {
		return nil, faults
	}
	lab := &Lab{Name: f.Name}
	for name, n := range f.Topology.Nodes {
		lab.Devices = append(lab.Devices, Device{
			Name:    name,
			Address: n.Address,
			Line:    n.line,
		})
	}
	lab.sortDevices()
	var faults fault.List
	for _, x := range f.Topology.Links {
		ends, err := x.ends()
		switch {
		case err != nil:
			faults = append(faults, lineFault(x.line, "%v", err))
		case len(ends) != 2 || outsideNodes[ends[0].Device] || outsideNodes[ends[1].Device]:
			lab.Notes = append(lab.Notes, fmt.Sprintf("line %d: the link is left out: it does not lead from a node to a node", x.line))
		default:
			lab.Links = append(lab.Links, Link{
				A:    ends[0],
				B:    ends[1],
				Line: x.line,
			})
		}
	}
	return lab, append(faults, lab.checkNamed()...)
}

func (l containerlabLink) ends() ([]End, error) {
	var out []End
	for i := range l.Endpoints {
		n := &l.Endpoints[i]
		if n.Kind == yaml.ScalarNode {
			e, err := parseEnd(n.Value)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
			continue
		}
		var end struct {
			Node      string `yaml:"node"`
			Interface string `yaml:"interface"`
		}
		if err := n.Decode(&end); err != nil {
			return nil, err
		}
		if end.Node == "" {
			return nil, fmt.Errorf("endpoint %d names no node", i+1)
		}
		out = append(out, End{
			Device: end.Node,
			Port:   end.Interface,
		})
	}
	return out, nil
}

// netlabFile is what of a netlab topology says how things are connected.
type netlabFile struct {
	Name  string      `yaml:"name"`
	Nodes yaml.Node   `yaml:"nodes"`
	Links []yaml.Node `yaml:"links"`
}

func readNetlab(text []byte) (*Lab, fault.List) {
	var f netlabFile
	if faults := decodeYAML(text, &f, false); faults != nil {
		return nil, faults
	}
	lab := &Lab{Name: f.Name}
	if err := lab.addNetlabNodes(&f.Nodes); err != nil {
		return nil, fault.List{lineFault(f.Nodes.Line, "%v", err)}
	}
	lab.sortDevices()
	var faults fault.List
	for i := range f.Links {
		n := &f.Links[i]
		link, count, err := lab.netlabLink(n)
		switch {
		case err != nil:
			faults = append(faults, lineFault(n.Line, "%v", err))
		case count != 2:
			lab.Notes = append(lab.Notes, fmt.Sprintf("line %d: the link is left out: it has %d nodes and is no cable", n.Line, count))
		default:
			lab.Links = append(lab.Links, link)
		}
	}
	return lab, append(faults, lab.checkNamed()...)
}

// addNetlabNodes reads nodes as a list of names, or as a mapping of names to what they are.
func (l *Lab) addNetlabNodes(nodes *yaml.Node) error {
	switch nodes.Kind {
	case yaml.SequenceNode:
		for _, n := range nodes.Content {
			l.Devices = append(l.Devices, Device{
				Name: n.Value,
				Line: n.Line,
			})
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(nodes.Content); i += 2 {
			var attributes struct {
				Mgmt struct {
					IPv4 string `yaml:"ipv4"`
				} `yaml:"mgmt"`
			}
			_ = nodes.Content[i+1].Decode(&attributes) // whatever else it has
			l.Devices = append(l.Devices, Device{
				Name:    nodes.Content[i].Value,
				Address: attributes.Mgmt.IPv4,
				Line:    nodes.Content[i].Line,
			})
		}
	default:
		return fmt.Errorf("nodes is a list of names, or a mapping")
	}
	return nil
}

// netlabInterface is an end of a link.
type netlabInterface struct {
	Node   string `yaml:"node"`
	IfName string `yaml:"ifname"`
}

// netlabLink reads a link in any of its forms: "a-b", [a, b], {a: {ifname: x}, b: {}} or {interfaces: [{node: a}]}. It
// returns how many nodes the link has.
func (l *Lab) netlabLink(n *yaml.Node) (Link, int, error) {
	var ends []End
	link := Link{Line: n.Line}
	switch n.Kind {
	case yaml.ScalarNode:
		for _, name := range l.splitNames(n.Value) {
			ends = append(ends, End{Device: name})
		}
	case yaml.SequenceNode:
		for _, name := range n.Content {
			ends = append(ends, End{Device: name.Value})
		}
	case yaml.MappingNode:
		var err error
		if ends, err = l.netlabEnds(n); err != nil {
			return Link{}, 0, err
		}
		var attributes struct {
			Bandwidth uint64 `yaml:"bandwidth"` // kilobits per second
		}
		if err := n.Decode(&attributes); err != nil {
			return Link{}, 0, fmt.Errorf("%s", explainYAML(err))
		}
		link.Kbps = attributes.Bandwidth
	default:
		return Link{}, 0, fmt.Errorf("a link is a text, a list or a mapping")
	}
	if len(ends) == 2 {
		link.A, link.B = ends[0], ends[1]
	}
	return link, len(ends), nil
}

func (l *Lab) netlabEnds(n *yaml.Node) ([]End, error) {
	var out []End
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Value == "interfaces" {
			var list []netlabInterface
			if err := value.Decode(&list); err != nil {
				return nil, fmt.Errorf("%s", explainYAML(err))
			}
			for _, x := range list {
				out = append(out, End{
					Device: x.Node,
					Port:   x.IfName,
				})
			}
			continue
		}
		if _, isNode := l.Device(key.Value); !isNode {
			continue // an attribute of the link
		}
		var x netlabInterface
		_ = value.Decode(&x) // whatever else it has
		out = append(out, End{
			Device: key.Value,
			Port:   x.IfName,
		})
	}
	return out, nil
}

// splitNames divides "a-b" into names of nodes, which may have a "-" of their own.
func (l *Lab) splitNames(text string) []string {
	parts := strings.Split(text, "-")
	var out []string
	for len(parts) > 0 {
		taken := 1
		for n := len(parts); n > 1; n-- {
			if _, known := l.Device(strings.Join(parts[:n], "-")); known {
				taken = n
				break
			}
		}
		out = append(out, strings.Join(parts[:taken], "-"))
		parts = parts[taken:]
	}
	return out
}
