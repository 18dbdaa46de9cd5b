package intent

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/sdk/fault"
)

// parseYAML is the only document of a text, without aliases and merged mappings: each has a copy of what it is about.
func parseYAML(text []byte) (*yaml.Node, *fault.Error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF), err == nil && len(document.Content) == 0:
		return nil, fault.New(fault.Invalid, "the document is empty")
	case err != nil:
		return nil, fault.New(fault.Malformed, "%s", explainYAML(err))
	}
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, lineFault(second.Line, "a second document begins here: a lab is one document")
	case !errors.Is(err, io.EOF):
		return nil, fault.New(fault.Malformed, "%s", explainYAML(err))
	}
	r := resolver{open: map[*yaml.Node]bool{}}
	if err := r.resolve(&document); err != nil {
		return nil, err
	}
	return document.Content[0], nil
}

// explainYAML is what a fault of YAML says, without the name of the library.
func explainYAML(err error) string {
	return strings.TrimPrefix(err.Error(), "yaml: ")
}

// maxCopied is how many values the aliases of a document may repeat.
const maxCopied = 100_000

// resolver puts copies of their anchors in the place of aliases.
type resolver struct {
	open   map[*yaml.Node]bool // what is being resolved: the value itself and those that contain it
	copied int
}

func (r *resolver) resolve(n *yaml.Node) *fault.Error {
	r.open[n] = true
	defer delete(r.open, n)
	for i, child := range n.Content {
		if child.Kind != yaml.AliasNode {
			if err := r.resolve(child); err != nil {
				return err
			}
			continue
		}
		if r.open[child.Alias] {
			return lineFault(child.Line, "the anchor %s contains itself", child.Value)
		}
		var err *fault.Error
		if n.Content[i], err = r.copyOf(child.Alias, child.Line); err != nil {
			return err
		}
	}
	return mergeMembers(n)
}

// copyOf is a copy of a value that has been resolved; faults of it are at the line of the alias.
func (r *resolver) copyOf(n *yaml.Node, line int) (*yaml.Node, *fault.Error) {
	r.copied++
	if r.copied > maxCopied {
		return nil, lineFault(line, "aliases repeat more than %d values", maxCopied)
	}
	out := *n
	out.Anchor = ""
	out.Line = line
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		var err *fault.Error
		if out.Content[i], err = r.copyOf(child, line); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

const mergeTag = "!!merge"

// mergeMembers puts the members of the mappings that "<<" names into a mapping, as far as it has none of their names.
func mergeMembers(n *yaml.Node) *fault.Error {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	var merged []*yaml.Node
	var own []*yaml.Node
	known := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.ShortTag() != mergeTag {
			known[key.Value] = true
			own = append(own, key, value)
			continue
		}
		all := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			all = value.Content
		}
		for _, m := range all {
			if m.Kind != yaml.MappingNode {
				return lineFault(key.Line, "<< merges mappings only")
			}
		}
		merged = append(merged, all...)
	}
	for _, m := range merged {
		for i := 0; i+1 < len(m.Content); i += 2 {
			if !known[m.Content[i].Value] {
				known[m.Content[i].Value] = true
				own = append(own, m.Content[i], m.Content[i+1])
			}
		}
	}
	n.Content = own
	return nil
}

// member is one of a mapping.
type member struct {
	key   string
	line  int
	value *yaml.Node
}

func isNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// members are those of a mapping, in their order; none if there is none.
func (f *faults) members(n *yaml.Node, what string) []member {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		f.at(n.Line, "%s: a mapping is expected", what)
		return nil
	}
	if count := len(n.Content) / 2; count > maxEntries {
		f.at(n.Line, "%s: it has %d members, more than %d", what, count, maxEntries)
		return nil
	}
	var out []member
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		first, twice := lines[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || isNull(key) || key.Value == "":
			f.at(key.Line, "%s: a member has no name", what)
		case twice:
			f.at(key.Line, "%s: %s is there already, in line %d", what, key.Value, first)
		default:
			lines[key.Value] = key.Line
			out = append(out, member{key.Value, key.Line, value})
		}
	}
	return out
}

// object are the members of a mapping by their names; where known is given, others are faults.
func (f *faults) object(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	for _, m := range f.members(n, what) {
		if len(known) > 0 && !slices.Contains(known, m.key) {
			f.at(m.line, "there is no member %q here: it is one of %s", m.key, strings.Join(known, ", "))
			continue
		}
		out[m.key] = m.value
	}
	return out
}

// items are the values of a list, of which none is null.
func (f *faults) items(n *yaml.Node, what string) []*yaml.Node {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		f.at(n.Line, "%s: a list is expected", what)
		return nil
	}
	if len(n.Content) > maxEntries {
		f.at(n.Line, "%s: it has %d entries, more than %d", what, len(n.Content), maxEntries)
		return nil
	}
	var out []*yaml.Node
	for _, one := range n.Content {
		if isNull(one) {
			f.at(one.Line, "%s: an entry is empty", what)
			continue
		}
		out = append(out, one)
	}
	return out
}

// text is a value that is a text or a number; empty if there is none.
func (f *faults) text(n *yaml.Node, what string) string {
	if isNull(n) {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		f.at(n.Line, "%s: a text is expected", what)
		return ""
	}
	return n.Value
}

// scalar reads a value into out, a boolean or a number; what is not there stays as it is.
func (f *faults) scalar(n *yaml.Node, what, kind string, out any) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.ScalarNode || n.Decode(out) != nil {
		f.at(n.Line, "%s: %s is expected", what, kind)
	}
}
