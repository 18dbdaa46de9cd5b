package home

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"ctl.internal/internal/nearest"
)

// reader reads settings as a JSON Schema describes them: the host's and those of plugins. Every
// problem has its line.
type reader struct {
	path      string
	schema    map[string]any
	validator *jsonschema.Schema
	lines     map[string]int     // joined location → line
	places    map[string]Problem // joined location → file and key of what is not from the file
	value     any                // with defaults
	problems  []Problem
}

func newReader(path string, schema []byte) (*reader, error) {
	doc, compiled, err := compileSchema(schema)
	return &reader{
		path:      path,
		schema:    doc,
		validator: compiled,
		lines:     map[string]int{},
		places:    map[string]Problem{},
	}, err
}

func joinLocation(loc []string) string {
	return strings.Join(loc, "\x00")
}

// convertDocument converts the root of a file; none is an empty object.
func (r *reader) convertDocument(root *yaml.Node) any {
	if root == nil {
		return map[string]any{}
	}
	return r.convertNode(root, r.derefSchema(r.schema), nil)
}

// finishValue fills in the defaults, checks the value and returns it as JSON, nil after problems.
func (r *reader) finishValue(value any) []byte {
	known := map[string]bool{}
	for _, p := range r.problems {
		known[p.Key] = true
	}
	before := len(r.problems)
	r.value = r.fillDefaults(value, r.schema, 4)
	if err := r.validator.Validate(r.value); err != nil {
		ve := new(jsonschema.ValidationError)
		if !errors.As(err, &ve) {
			r.problems = append(r.problems, Problem{
				File: r.path,
				Text: err.Error(),
			})
			return nil
		}
		r.reportValidation(ve)
	}
	r.value = r.convertFormats(r.value, r.derefSchema(r.schema), nil)
	// What could not be read is reported once, and hides no fault elsewhere.
	found := r.problems[before:]
	r.problems = append(r.problems[:before:before], slices.DeleteFunc(found, func(p Problem) bool {
		return known[p.Key]
	})...)
	if len(r.problems) > 0 {
		return nil
	}
	b, err := json.Marshal(r.value)
	if err != nil {
		r.problems = append(r.problems, Problem{
			File: r.path,
			Text: err.Error(),
		})
		return nil
	}
	return b
}

// convertNode turns a node into what the JSON decoder would have made. Where the schema wants a
// text, numbers are texts, too; a section with nothing in it is an empty one.
func (r *reader) convertNode(n *yaml.Node, schema map[string]any, loc []string) any {
	if _, ok := r.lines[joinLocation(loc)]; !ok {
		r.lines[joinLocation(loc)] = n.Line
	}
	below := func(step string) []string { return append(loc[:len(loc):len(loc)], step) }
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			at := below(key.Value)
			if _, twice := m[key.Value]; twice {
				first := r.lines[joinLocation(at)]
				r.faultAt(at, "set twice, first in line %d", first)
				r.problems[len(r.problems)-1].Line = key.Line
				continue
			}
			r.lines[joinLocation(at)] = key.Line
			m[key.Value] = r.convertNode(n.Content[i+1], r.memberSchema(schema, key.Value), at)
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for i, e := range n.Content {
			step := fmt.Sprint(i)
			list = append(list, r.convertNode(e, r.memberSchema(schema, step), below(step)))
		}
		return list
	}
	switch {
	case n.Tag == "!!null" && schema["type"] == "object":
		return map[string]any{}
	case n.Tag == "!!null":
		return nil
	case schema["type"] == "string":
		return n.Value
	case n.Tag == "!!bool":
		return strings.EqualFold(n.Value, "true")
	case n.Tag == "!!int" || n.Tag == "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
		var v any // hexadecimal, octal, +1, .5, .inf
		err := n.Decode(&v)
		var b []byte
		if err == nil {
			b, err = json.Marshal(v)
		}
		if err != nil {
			r.faultAt(loc, "%q is not a number that JSON can hold", n.Value)
			return nil
		}
		return json.Number(b)
	}
	return n.Value
}

// faultAt notes a problem at a location, with the line of the nearest enclosing node that the
// file has, or with where else the value comes from.
func (r *reader) faultAt(loc []string, format string, args ...any) {
	p := Problem{
		File: r.path,
		Key:  strings.Join(loc, "."),
		Text: fmt.Sprintf(format, args...),
	}
	if other, ok := r.places[joinLocation(loc)]; ok {
		p.File, p.Key = other.File, other.Key
	} else {
		for at := loc; ; at = at[:len(at)-1] {
			line, ok := r.lines[joinLocation(at)]
			if ok || len(at) == 0 {
				p.Line = line
				break
			}
		}
	}
	r.problems = append(r.problems, p)
}

func (r *reader) reportValidation(e *jsonschema.ValidationError) {
	loc := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		known := slices.Sorted(maps.Keys(toObject(r.schemaAt(loc)["properties"])))
		for _, name := range k.Properties {
			r.faultAt(
				append(loc[:len(loc):len(loc)], name),
				"no such setting%s",
				nearest.Hint(name, known),
			)
		}
		return
	case *kind.Required:
		for _, name := range k.Missing {
			r.faultAt(loc, "%s is missing", name)
		}
		return
	}
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			r.reportValidation(cause)
		}
		return
	}
	if r.schemaAt(loc)["writeOnly"] == true {
		r.faultAt(loc, "does not have the form it must have")
		return
	}
	r.faultAt(loc, "%s", r.explainError(e))
}

// explainError says what is wrong with a value, and what it can be.
func (r *reader) explainError(e *jsonschema.ValidationError) string {
	s := r.schemaAt(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Format:
		if _, ok := formatOf(k.Want); ok {
			return k.Err.Error()
		}
	case *kind.Enum:
		allowed, have := textsOf(k.Want), fmt.Sprint(k.Got)
		return fmt.Sprintf(
			"%q is not one of %s%s",
			have,
			strings.Join(allowed, ", "),
			nearest.Hint(have, allowed),
		)
	case *kind.Pattern:
		if title, ok := s["title"].(string); ok { // what the text should be
			return fmt.Sprintf("%q is not %s", k.Got, title)
		}
	case *kind.MinItems:
		if such := formatExamples(toObject(s["items"])); such != "" {
			return fmt.Sprintf(
				"the list has %d entries, at least %d must be there, such as %s",
				k.Got,
				k.Want,
				such,
			)
		}
	case *kind.Minimum, *kind.Maximum:
		if s["minimum"] != nil && s["maximum"] != nil {
			return fmt.Sprintf(
				"%v is not between %v and %v",
				r.valueAt(e.InstanceLocation),
				s["minimum"],
				s["maximum"],
			)
		}
	case *kind.Type:
		have := r.valueAt(e.InstanceLocation)
		switch want := strings.Join(k.Want, " or "); {
		case have == nil:
			return "has no value; remove the line to have the default"
		case want == "object":
			return "must be a mapping of settings"
		case want == "array":
			return "must be a list, such as [a, b]"
		case want == "string":
			return "must be a single value"
		case want == "integer":
			return fmt.Sprintf("%q is not a whole number", fmt.Sprint(have))
		case want == "boolean":
			return fmt.Sprintf("%q is neither true nor false", fmt.Sprint(have))
		}
	}
	return e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
}

// valueAt is the value at a location.
func (r *reader) valueAt(loc []string) any {
	v := r.value
	for _, step := range loc {
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			var i int
			_, err := fmt.Sscan(step, &i)
			if err != nil || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// Document is a YAML file that a JSON Schema describes.
type Document struct {
	JSON []byte // checked, with the schema's defaults; nil after problems
	r    *reader
}

// ReadDocument checks a file against a JSON Schema (an empty one allows no members). Texts of format
// duration become nanoseconds, those of format size bytes. Members that the schema marks writeOnly are secrets: their
// values are in no problem.
func ReadDocument(path string, text, schema []byte) *Document {
	r := &reader{path: path}
	root, p := parseYAML(path, text)
	if p != nil {
		r.problems = []Problem{*p}
		return &Document{r: r}
	}
	if len(bytes.TrimSpace(schema)) == 0 {
		schema = []byte(`{"type":"object","additionalProperties":false}`)
	}
	r, err := newReader(path, schema)
	if err != nil {
		r.problems = []Problem{{
			File: path,
			Text: "the plugin's own schema is not usable, report it to its author: " + err.Error(),
		}}
		return &Document{r: r}
	}
	return &Document{r.finishValue(r.convertDocument(root)), r}
}

// Fault adds a problem of a member, by its dotted key, with the line of the nearest one that the file has.
func (d *Document) Fault(key, format string, args ...any) {
	d.r.faultAt(strings.Split(key, "."), format, args...)
}

// Problems are those found so far, each with its line.
func (d *Document) Problems() []Problem { return d.r.problems }
