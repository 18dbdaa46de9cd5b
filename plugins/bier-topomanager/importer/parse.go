// Package importer reads topologies that users write down, as YAML or JSON.
package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/topology"
)

// MaxSize bounds a file, in bytes.
const MaxSize = 32 << 20

// file is what users write. Each list has the name of this product's documents and
// that of module network-topology.
type file struct {
	Topologies []network `yaml:"topology"`
	Wrapped    *file     `yaml:"network-topology:network-topology"`
	network    `yaml:",inline"`
}

type network struct {
	ID    string `yaml:"topology-id"`
	Nodes []node `yaml:"node"`
	Links []link `yaml:"link"`
}

type node struct {
	ID        string `yaml:"node-id"`
	Name      string `yaml:"name"`
	RouterID  string `yaml:"router-id"`
	Latitude  uint64 `yaml:"latitude"`
	Longitude uint64 `yaml:"longitude"`
	TPs       []struct {
		ID string `yaml:"tp-id"`
	} `yaml:"termination-point"`
}

type link struct {
	ID     string `yaml:"link-id"`
	Source struct {
		Node string `yaml:"source-node"`
		TP   string `yaml:"source-tp"`
	} `yaml:"source"`
	Dest struct {
		Node string `yaml:"dest-node"`
		TP   string `yaml:"dest-tp"`
	} `yaml:"destination"`
	Metric uint64 `yaml:"metric"`
	Delay  uint64 `yaml:"delay"`
	Loss   uint64 `yaml:"loss"`
	// Both makes a second link the other way.
	Both bool `yaml:"bidirectional"`
}

// Parse reads a file. All of it is right, or nothing is returned; the error has
// every fault found. Termination points that links name need not be listed.
func Parse(text []byte) ([]topology.Topology, error) {
	if len(text) > MaxSize {
		return nil, fault.New(fault.TooBig, "the file is larger than %d bytes", MaxSize)
	}
	var f file
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Invalid, "the file is empty")
	} else if err != nil {
		return nil, fault.New(fault.Malformed, "%s", plainYAMLError(err, text))
	}
	all := f.Topologies
	if f.Wrapped != nil {
		all = append(all, f.Wrapped.Topologies...)
	}
	if f.ID != "" || len(f.Nodes)+len(f.Links) > 0 {
		all = append(all, f.network)
	}
	if len(all) == 0 {
		return nil, fault.New(
			fault.Invalid,
			"the file has no topology: it needs topology-id, node and link, or a list topology of these",
		)
	}
	var l fault.List
	var out []topology.Topology
	seen := map[string]bool{}
	for i, n := range all {
		at := fmt.Sprintf("topology[%d]", i)
		if n.ID == "" {
			l = append(l, fault.At(fault.Missing, at, "topology-id is missing"))
		} else if seen[n.ID] {
			l = append(l, fault.At(fault.Invalid, at, "topology %s occurs twice", n.ID))
		}
		seen[n.ID] = true
		t, faults := n.buildTopology(at)
		out, l = append(out, t), append(l, faults...)
	}
	if len(l) > 0 {
		lines := linesOf(text)
		for _, e := range l {
			if line := lines[e.Path]; line > 0 { // not by way of an alias
				e.Path = fmt.Sprintf("line %d: %s", line, e.Path)
			}
		}
		return nil, l
	}
	return out, nil
}

// linesOf are the lines at which topologies, nodes and links begin, by their paths in faults.
func linesOf(text []byte) map[string]int {
	var root yaml.Node
	_ = yaml.Unmarshal(text, &root) // it was read once
	out, n := map[string]int{}, 0
	var walk func(m *yaml.Node, listed bool)
	walk = func(m *yaml.Node, listed bool) { // in the order of Parse
		members := map[string]*yaml.Node{}
		for i := 0; i+1 < len(m.Content); i += 2 {
			members[m.Content[i].Value] = m.Content[i+1]
		}
		if list := members["topology"]; list != nil {
			for _, x := range list.Content {
				walk(x, true)
			}
		}
		if wrapped := members["network-topology:network-topology"]; wrapped != nil {
			walk(wrapped, false)
		}
		if members["topology-id"] == nil &&
			members["node"] == nil &&
			members["link"] == nil &&
			!listed {
			return
		}
		at := fmt.Sprintf("topology[%d]", n)
		out[at], n = m.Line, n+1
		for _, key := range []string{"node", "link"} {
			if list := members[key]; list != nil {
				for i, x := range list.Content {
					out[fmt.Sprintf("%s/%s[%d]", at, key, i)] = x.Line
				}
			}
		}
	}
	if len(root.Content) > 0 {
		walk(root.Content[0], false)
	}
	return out
}

func (n *network) buildTopology(at string) (topology.Topology, fault.List) {
	var l fault.List
	t := topology.Topology{
		ID:    n.ID,
		Nodes: map[string]topology.Node{},
		Links: map[string]topology.Link{},
	}
	for i, x := range n.Nodes {
		where := fmt.Sprintf("%s/node[%d]", at, i)
		if _, twice := t.Nodes[x.ID]; x.ID == "" {
			l = append(l, fault.At(fault.Missing, where, "node-id is missing"))
		} else if twice {
			l = append(l, fault.At(fault.Invalid, where, "node %s occurs twice", x.ID))
		}
		out := topology.Node{
			ID:  x.ID,
			TPs: map[string]topology.TerminationPoint{},
			Attributes: attributeMap(
				"name", x.Name, "router-id", x.RouterID, "latitude", formatNonZero(x.Latitude), "longitude", formatNonZero(x.Longitude)),
		}
		for _, tp := range x.TPs {
			out.TPs[tp.ID] = topology.TerminationPoint{ID: tp.ID}
		}
		t.Nodes[x.ID] = out
	}
	for i, x := range n.Links {
		where := fmt.Sprintf("%s/link[%d]", at, i)
		l = append(l, addLink(&t, x, where)...)
	}
	return t, l
}

// addLink adds a link, and the one back when it leads both ways.
func addLink(t *topology.Topology, x link, where string) fault.List {
	var l fault.List
	for _, end := range [][2]string{{x.Source.Node, "source-node"}, {x.Dest.Node, "dest-node"}} {
		if _, ok := t.Nodes[end[0]]; !ok {
			l = append(
				l,
				fault.At(
					fault.Invalid,
					where,
					"%s %q is not among the nodes of topology %s",
					end[1],
					end[0],
					t.ID,
				),
			)
		}
	}
	if x.ID == "" {
		x.ID = x.Source.Node + ":" + x.Source.TP + "-" + x.Dest.Node + ":" + x.Dest.TP
	}
	if _, twice := t.Links[x.ID]; twice {
		l = append(l, fault.At(fault.Invalid, where, "link %s occurs twice", x.ID))
	}
	if len(l) > 0 {
		return l
	}
	a := attributeMap(
		"metric",
		formatNonZero(x.Metric),
		"delay",
		formatNonZero(x.Delay),
		"loss",
		formatNonZero(x.Loss),
	)
	there := topology.Link{
		ID:         x.ID,
		SourceNode: x.Source.Node,
		SourceTP:   x.Source.TP,
		DestNode:   x.Dest.Node,
		DestTP:     x.Dest.TP,
		Attributes: a,
	}
	t.Links[there.ID] = there
	addTerminationPoint(t, there.SourceNode, there.SourceTP)
	addTerminationPoint(t, there.DestNode, there.DestTP)
	if x.Both {
		back := topology.Link{
			ID:         x.ID + ":back",
			SourceNode: x.Dest.Node,
			SourceTP:   x.Dest.TP,
			DestNode:   x.Source.Node,
			DestTP:     x.Source.TP,
			Attributes: a,
		}
		t.Links[back.ID] = back
	}
	return nil
}

func addTerminationPoint(t *topology.Topology, node, tp string) {
	if tp != "" {
		t.Nodes[node].TPs[tp] = topology.TerminationPoint{ID: tp}
	}
}

func formatNonZero(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// attributeMap makes a map of pairs, without empty values.
func attributeMap(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out[pairs[i]] = pairs[i+1]
		}
	}
	return out
}

var (
	otherKind = regexp.MustCompile("(?s)^line ([0-9]+): cannot unmarshal !!([a-z]+)(?: `([^`]*?)(?:\\.\\.\\.)?`)? into .*")
	noField   = regexp.MustCompile(`field (.*) not found in type .*`)
)

// plainYAMLError is what the YAML library says, with the key it is about, without the names of Go's types, and without
// what is in the file: it may be any file that the controller can read.
func plainYAMLError(err error, text []byte) string {
	var many *yaml.TypeError
	if !errors.As(err, &many) {
		return strings.TrimPrefix(err.Error(), "yaml: ")
	}
	var root yaml.Node
	_ = yaml.Unmarshal(text, &root) // it was read once
	out := make([]string, len(many.Errors))
	for i, e := range many.Errors {
		if m := otherKind.FindStringSubmatch(e); m != nil {
			e = "line " + m[1] + ": " + keyOf(&root, m[1], "!!"+m[2], m[3]) + "a value of kind " + m[2] + " does not belong here"
		}
		out[i] = noField.ReplaceAllString(e, "there is no field $1")
	}
	return strings.Join(out, "; ")
}

// keyOf names the key of a value by its line, tag and beginning, if only one can be meant.
func keyOf(n *yaml.Node, line, tag, value string) string {
	var found []string
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode &&
				i%2 == 1 &&
				strconv.Itoa(c.Line) == line &&
				c.ShortTag() == tag &&
				strings.HasPrefix(c.Value, value) {
				found = append(found, n.Content[i-1].Value)
			}
			walk(c)
		}
	}
	walk(n)
	if len(found) != 1 {
		return ""
	}
	return found[0] + ": "
}
