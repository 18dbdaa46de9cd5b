package home

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/internal/nearest"
)

// Decode reads a YAML file into the struct that v points to. It is strict:
// unknown and repeated members are faults, each with its line; v is only to be
// used when there are none. Types that unmarshal themselves check themselves.
func Decode(path string, b []byte, v any) []Problem {
	if len(b) > maxConfig {
		return []Problem{{File: path, Text: fmt.Sprintf("the file has %d bytes, at most %d are read", len(b), maxConfig)}}
	}
	root, p := parseYAML(path, b)
	if p != nil {
		return []Problem{*p}
	}
	if root == nil {
		return nil
	}
	d := &decoder{path: path}
	d.members(root, reflect.TypeOf(v).Elem(), "")
	if len(d.problems) > 0 {
		return d.problems
	}
	if err := root.Decode(v); err != nil {
		return d.typeFaults(err)
	}
	return nil
}

type decoder struct {
	path     string
	problems []Problem
}

var unmarshaler = reflect.TypeFor[yaml.Unmarshaler]()

// members compares the names in a node with those of a type.
func (d *decoder) members(n *yaml.Node, t reflect.Type, at string) {
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return
	}
	switch {
	case t.Kind() == reflect.Pointer:
		d.members(n, t.Elem(), at)
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i, c := range n.Content {
			d.members(c, t.Elem(), fmt.Sprintf("%s[%d]", at, i))
		}
	case t.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			d.members(n.Content[i], t.Elem(), at+"."+n.Content[i-1].Value)
		}
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		fields := fieldsOf(t)
		seen := map[string]bool{}
		for i := 0; i < len(n.Content); i += 2 {
			name := n.Content[i].Value
			key := strings.TrimPrefix(at+"."+name, ".")
			f, ok := fields[name]
			switch {
			case seen[name]:
				d.fault(n.Content[i].Line, key, "set twice")
			case !ok:
				d.fault(n.Content[i].Line, key, "no such member%s", nearest.Hint(name, slices.Sorted(maps.Keys(fields))))
			default:
				d.members(n.Content[i+1], f, key)
			}
			seen[name] = true
		}
	}
}

func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		switch {
		case name == "-":
		case opts == "inline":
			for k, v := range fieldsOf(t.Field(i).Type) {
				out[k] = v
			}
		case name == "":
			out[strings.ToLower(t.Field(i).Name)] = t.Field(i).Type
		default:
			out[name] = t.Field(i).Type
		}
	}
	return out
}

func (d *decoder) fault(line int, key, format string, args ...any) {
	d.problems = append(d.problems, Problem{File: d.path, Line: line, Key: key, Text: fmt.Sprintf(format, args...)})
}

// typeFaults takes the lines out of the library's "line 3: cannot unmarshal …".
func (d *decoder) typeFaults(err error) []Problem {
	texts := []string{err.Error()}
	if te := (*yaml.TypeError)(nil); errors.As(err, &te) {
		texts = te.Errors
	}
	for _, text := range texts {
		line := 0
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
			text = strings.Replace(text, m[0], "", 1)
		}
		d.fault(line, "", "%s", strings.TrimPrefix(text, "yaml: "))
	}
	return d.problems
}
