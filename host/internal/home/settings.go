package home

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// setting is one leaf of Config.
type setting struct {
	key    string // dotted
	value  reflect.Value
	secret bool
}

// leaves lists the settings of a Config in the order of its fields.
func leaves(c *Config) []setting { return walk("", reflect.ValueOf(c).Elem()) }

func walk(prefix string, v reflect.Value) []setting {
	var out []setting
	for i := range v.NumField() {
		f := v.Type().Field(i)
		key := prefix + f.Tag.Get("yaml")
		if f.Type.Kind() == reflect.Struct {
			out = append(out, walk(key+".", v.Field(i))...)
			continue
		}
		out = append(out, setting{key, v.Field(i), f.Tag.Get("secret") != ""})
	}
	return out
}

// env is the variable of a setting: limits.headerTimeout → CTL_LIMITS_HEADER_TIMEOUT.
func (s setting) env() string {
	var b strings.Builder
	b.WriteString("CTL_")
	for _, r := range s.key {
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			b.WriteString("_" + string(r))
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// shortEnv are the names that the flags have, too.
func shortEnv() map[string]string {
	return map[string]string{"CTL_HTTP": "listeners.http", "CTL_HTTPS": "listeners.https",
		"CTL_SSH": "listeners.ssh", "CTL_ADMIN": "listeners.admin"}
}

// setText sets a setting from a flag or a variable; lists and maps are YAML.
func (s setting) setText(text string) error {
	switch s.value.Interface().(type) {
	case []string, map[string]string:
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(text), &n); err != nil || len(n.Content) == 0 {
			return fmt.Errorf("%q is not a YAML list or mapping", text)
		}
		return s.setNode(n.Content[0])
	}
	return s.setScalar(text)
}

// setNode sets a setting from the file.
func (s setting) setNode(n *yaml.Node) error {
	switch v := s.value.Addr().Interface().(type) {
	case *[]string:
		if n.Kind != yaml.SequenceNode {
			return fmt.Errorf("must be a list, such as [a, b]")
		}
		list := []string{}
		for _, c := range n.Content {
			if c.Kind != yaml.ScalarNode {
				return fmt.Errorf("must be a list of single values")
			}
			list = append(list, c.Value)
		}
		*v = list
		return nil
	case *map[string]string:
		if n.Kind != yaml.MappingNode {
			return fmt.Errorf("must be a mapping, such as {a: b}")
		}
		m := map[string]string{}
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i+1].Kind != yaml.ScalarNode {
				return fmt.Errorf("%s must have a single value", n.Content[i].Value)
			}
			m[n.Content[i].Value] = n.Content[i+1].Value
		}
		*v = m
		return nil
	}
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("must be a single value")
	}
	if n.Tag == "!!null" {
		return fmt.Errorf("has no value; remove the line to have the default")
	}
	return s.setScalar(n.Value)
}

func (s setting) setScalar(text string) (err error) {
	switch v := s.value.Addr().Interface().(type) {
	case *string:
		*v = text
	case *Address:
		*v, err = ParseAddress(text)
	case *Size:
		*v, err = ParseSize(text)
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		*v = n
	case *bool:
		switch text {
		case "true", "false":
			*v = text == "true"
		default:
			return fmt.Errorf("%q is neither true nor false", text)
		}
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if seconds, e := strconv.ParseUint(text, 10, 31); e == nil {
			d, err = time.Duration(seconds)*time.Second, nil
		}
		if err != nil || d < 0 {
			return fmt.Errorf("%q is not a duration; write such as 500ms, 30s, 10m or 1h", text)
		}
		*v = d
	default:
		return fmt.Errorf("a setting of type %T cannot be read", v)
	}
	return err
}

// text is the value as show --effective prints it.
func (s setting) text() string {
	if s.secret {
		if s.value.IsZero() {
			return ""
		}
		return "**********"
	}
	switch v := s.value.Interface().(type) {
	case []string:
		return "[" + strings.Join(v, ", ") + "]"
	case map[string]string:
		return strings.TrimPrefix(fmt.Sprint(v), "map") // fmt sorts the keys
	}
	return fmt.Sprint(s.value.Interface())
}
