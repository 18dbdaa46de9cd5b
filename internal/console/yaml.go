package console

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// WriteYAML writes what YAML has made of a value.
func WriteYAML(w io.Writer, n *yaml.Node) error {
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return err
	}
	return enc.Close()
}

// YAML is a value of JSON as YAML. A json.Number keeps its digits; the members of objects are sorted.
func YAML(v any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := v.(type) {
	case []any:
		n.Kind = yaml.SequenceNode
		for _, one := range v {
			n.Content = append(n.Content, YAML(one))
		}
	case map[string]any:
		n.Kind = yaml.MappingNode
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, YAML(k), YAML(v[k]))
		}
	case json.Number:
		n.Value = string(v)
	case bool:
		n.Value, n.Tag = strconv.FormatBool(v), "!!bool"
	case nil:
		n.Value, n.Tag = "null", "!!null"
	default:
		n.SetString(fmt.Sprint(v))
		if isOldScalar(n.Value) {
			n.Style = yaml.DoubleQuotedStyle
		}
	}
	if n.Kind != yaml.ScalarNode && len(n.Content) == 0 {
		n.Style = yaml.FlowStyle // [] and {}
	}
	return n
}

// isOldScalar reports whether readers of YAML 1.1 take a text for a boolean, or for a number to the base 60.
func isOldScalar(text string) bool {
	switch strings.ToLower(text) {
	case "y", "yes", "on", "n", "no", "off":
		return true
	}
	return strings.Contains(text, ":") && strings.Trim(text, "0123456789:.+-_") == ""
}
