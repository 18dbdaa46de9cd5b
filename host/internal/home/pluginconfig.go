package home

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"ctl.internal/internal/nearest"
)

// PluginConfig reads etc/NAME.yaml; an absent file is empty settings.
func (d Dir) PluginConfig(name string) (b []byte, path string, err error) {
	path = d.Etc(name + ".yaml")
	b, err = readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, nil
	}
	if err != nil {
		return nil, path, fmt.Errorf("home: %s: %w", path, err)
	}
	return b, path, nil
}

// CheckPluginConfig turns a plugin's settings file into the JSON it is
// configured with: checked against the JSON Schema of its manifest (an empty one
// allows no settings), the schema's defaults filled in. Members a schema marks
// writeOnly are secrets: their values appear in no problem.
func CheckPluginConfig(path string, yamlText, schema []byte) (config []byte, problems []Problem) {
	root, p := parseYAML(path, yamlText)
	if p != nil {
		return nil, []Problem{*p}
	}
	if len(bytes.TrimSpace(schema)) == 0 {
		schema = []byte(`{"type":"object","additionalProperties":false}`)
	}
	doc, compiled, err := compile(schema)
	if err != nil {
		return nil, []Problem{{File: path, Text: "the plugin's own schema is not usable, tell its author: " + err.Error()}}
	}
	c := &pluginConfig{path: path, schema: doc, lines: map[string]int{}}
	var value any = map[string]any{}
	if root != nil {
		value = c.convert(root, nil)
	}
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	value = c.fill(value, doc)
	if err := compiled.Validate(value); err != nil {
		ve := new(jsonschema.ValidationError)
		if !errors.As(err, &ve) {
			return nil, []Problem{{File: path, Text: err.Error()}}
		}
		c.report(ve)
		return nil, c.problems
	}
	config, err = json.Marshal(value)
	if err != nil {
		return nil, []Problem{{File: path, Text: err.Error()}}
	}
	return config, nil
}

func compile(schema []byte) (map[string]any, *jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, nil, err
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return nil, nil, errors.New("it is not a JSON object")
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.AssertFormat()
	if err := c.AddResource("plugin.json", doc); err != nil {
		return nil, nil, err
	}
	s, err := c.Compile("plugin.json")
	return object, s, err
}

// noLoader keeps a plugin's schema from making us read files or addresses.
type noLoader struct{}

// Load refuses.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s outside itself", url)
}

type pluginConfig struct {
	path     string
	schema   map[string]any
	lines    map[string]int // joined location → line
	problems []Problem
}

func joined(loc []string) string { return strings.Join(loc, "\x00") }

// convert turns a node into what the JSON decoder would have made.
func (c *pluginConfig) convert(n *yaml.Node, loc []string) any {
	c.lines[joined(loc)] = n.Line
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i].Value
			at := append(loc[:len(loc):len(loc)], key)
			if _, twice := m[key]; twice {
				c.fault(n.Content[i].Line, at, "set twice")
				continue
			}
			m[key] = c.convert(n.Content[i+1], at)
			c.lines[joined(at)] = n.Content[i].Line
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for i, e := range n.Content {
			list = append(list, c.convert(e, append(loc[:len(loc):len(loc)], fmt.Sprint(i))))
		}
		return list
	}
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
		var v any // hexadecimal, octal, +1, .5, .inf
		if b, err := yamlNumber(n); err == nil {
			v = json.Number(b)
		} else {
			c.fault(n.Line, loc, "%q is not a number that JSON can hold", n.Value)
		}
		return v
	}
	return n.Value
}

func yamlNumber(n *yaml.Node) (string, error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return "", err
	}
	b, err := json.Marshal(v)
	return string(b), err
}

func (c *pluginConfig) fault(line int, loc []string, format string, args ...any) {
	c.problems = append(c.problems, Problem{File: c.path, Line: line, Key: strings.Join(loc, "."), Text: fmt.Sprintf(format, args...)})
}

// line is that of the nearest enclosing node that the file has.
func (c *pluginConfig) line(loc []string) int {
	for ; ; loc = loc[:len(loc)-1] {
		if l, ok := c.lines[joined(loc)]; ok || len(loc) == 0 {
			return l
		}
	}
}

func (c *pluginConfig) report(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		known := sortedKeys(c.properties(e.InstanceLocation))
		for _, name := range k.Properties {
			at := append(e.InstanceLocation[:len(e.InstanceLocation):len(e.InstanceLocation)], name)
			c.fault(c.line(at), at, "no such setting%s", nearest.Hint(name, known))
		}
		return
	case *kind.Required:
		for _, name := range k.Missing {
			c.fault(c.line(e.InstanceLocation), e.InstanceLocation, "%s is missing", name)
		}
		return
	}
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			c.report(cause)
		}
		return
	}
	text := e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	if at := c.at(e.InstanceLocation); at["writeOnly"] == true {
		text = "does not have the form it must have"
	}
	c.fault(c.line(e.InstanceLocation), e.InstanceLocation, "%s", text)
}
