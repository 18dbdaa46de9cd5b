package home

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ctl.internal/internal/nearest"
)

// valueFormat turns the text of a setting into what programs get, a number of nanoseconds or
// bytes, and such a number back into text.
type valueFormat struct {
	parse func(text string) (any, error)
	text  func(n int64) string // nil: it stays a text
}

// logLevels are those of package logs, which is on the same floor as this one.
var logLevels = []string{"OFF", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}

var formats = map[string]valueFormat{
	"duration": {func(s string) (any, error) {
		d, err := parseDuration(s)
		return int64(d), err
	}, func(n int64) string { return time.Duration(n).String() }},
	"size": {func(s string) (any, error) {
		n, err := ParseSize(s)
		return int64(n), err
	}, func(n int64) string { return Size(n).String() }},
	"address": {func(s string) (any, error) { return ParseAddress(s) }, nil},
	"level": {func(s string) (any, error) {
		if !slices.Contains(logLevels, strings.ToUpper(s)) {
			return nil, fmt.Errorf(
				"%q is not one of %s%s",
				s,
				strings.Join(logLevels, ", "),
				nearest.Hint(s, logLevels),
			)
		}
		return s, nil
	}, nil},
}

// formatOf finds the format that a schema names.
func formatOf(name any) (valueFormat, bool) {
	s, _ := name.(string)
	f, ok := formats[s]
	return f, ok
}

// parseDuration reads a duration; a number without a unit is seconds.
func parseDuration(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration such as 500ms, 30s, 10m or 1h", text)
	}
	return d, nil
}

func compileSchema(schema []byte) (map[string]any, *jsonschema.Schema, error) {
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
	for name, f := range formats {
		c.RegisterFormat(&jsonschema.Format{
			Name: name,
			Validate: func(v any) (err error) {
				if text, ok := v.(string); ok {
					_, err = f.parse(text)
				}
				return err
			},
		})
	}
	if err := c.AddResource("ctl:///settings.json", doc); err != nil {
		return nil, nil, err
	}
	s, err := c.Compile("ctl:///settings.json")
	return object, s, err
}

// noLoader keeps a plugin's schema from making us read files or addresses.
type noLoader struct{}

// Load refuses.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, which is not part of it", url)
}

// fillDefaults adds the defaults of a schema to a value, however deep. Of a section that is left out it makes
// those members that have defaults, unless one is required; depth ends a schema that refers to itself.
func (r *reader) fillDefaults(value any, schema map[string]any, depth int) any {
	schema = r.derefSchema(schema)
	switch v := value.(type) {
	case map[string]any:
		out := maps.Clone(v)
		known := toObject(schema["properties"])
		if others := toObject(schema["additionalProperties"]); len(others) > 0 {
			for name := range v {
				if _, there := known[name]; !there {
					out[name] = r.fillDefaults(v[name], others, depth)
				}
			}
		}
		for name, sub := range known {
			s := r.derefSchema(toObject(sub))
			def, ok := s["default"]
			if have, there := v[name]; there {
				out[name] = r.fillDefaults(have, s, depth)
			} else if ok {
				out[name] = r.fillDefaults(def, s, depth) // a default of {} still gets those of its members
			} else if s["required"] == nil && depth > 0 {
				if made := r.fillDefaults(map[string]any{}, s, depth-1); len(toObject(made)) > 0 {
					out[name] = made
				}
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.fillDefaults(v[i], toObject(schema["items"]), depth)
		}
		return out
	}
	return value
}

// derefSchema follows "$ref": "#/…" within the schema.
func (r *reader) derefSchema(schema map[string]any) map[string]any {
	for range 16 {
		ref, ok := schema["$ref"].(string)
		if !ok || !strings.HasPrefix(ref, "#") {
			return schema
		}
		var at any = r.schema
		for _, step := range strings.Split(
			strings.TrimPrefix(strings.TrimPrefix(ref, "#"), "/"),
			"/",
		) {
			if step == "" {
				continue
			}
			step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
			at = toObject(at)[step]
		}
		schema = toObject(at)
	}
	return map[string]any{}
}

// memberSchema is the schema of a member or an item, as far as plain properties and items lead.
func (r *reader) memberSchema(schema map[string]any, step string) map[string]any {
	next, ok := toObject(schema["properties"])[step]
	if _, err := strconv.Atoi(step); !ok && err == nil {
		next = schema["items"]
	} else if !ok {
		next = schema["additionalProperties"]
	}
	return r.derefSchema(toObject(next))
}

// schemaAt is the schema of an instance location.
func (r *reader) schemaAt(loc []string) map[string]any {
	s := r.derefSchema(r.schema)
	for _, step := range loc {
		s = r.memberSchema(s, step)
	}
	return s
}

// toObject is v as a JSON object; anything else is an empty one.
func toObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// convertFormats replaces the texts of durations, sizes and addresses by what programs get, and checks
// the bounds least and most of a schema, and its schemes.
func (r *reader) convertFormats(value any, schema map[string]any, loc []string) any {
	below := func(step string) []string { return append(loc[:len(loc):len(loc)], step) }
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = r.convertFormats(v[name], r.memberSchema(schema, name), below(name))
		}
	case []any:
		for i := range v {
			step := strconv.Itoa(i)
			v[i] = r.convertFormats(v[i], r.memberSchema(schema, step), below(step))
		}
	case string:
		if schemes, ok := schema["schemes"].([]any); ok && v != "" && !isURL(v, schemes) {
			r.faultAt(loc, "%q is not an address such as %s", v, formatExamples(schema))
		}
		f, ok := formatOf(schema["format"])
		if !ok {
			return v
		}
		n, err := f.parse(v)
		if err != nil {
			return v // the validator has reported it
		}
		have, ok := n.(int64)
		if !ok {
			return n
		}
		least := f.parseBound(schema["least"], 0)
		most := f.parseBound(schema["most"], 1<<62)
		if have < least || have > most {
			r.faultAt(loc, "%s is not between %s and %s", f.text(have), f.text(least), f.text(most))
		}
		return json.Number(strconv.FormatInt(have, 10))
	}
	return value
}

// isURL reports whether a text is a URL of one of the schemes, without a user; one that is neither of the web nor a socket
// names its port.
func isURL(text string, schemes []any) bool {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || !slices.Contains(schemes, any(u.Scheme)) {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "unix":
		return true
	}
	return u.Hostname() != "" && u.Port() != ""
}

// formatExamples are those of a schema, for an error.
func formatExamples(schema map[string]any) string {
	list, _ := schema["examples"].([]any)
	return strings.Join(textsOf(list), ", ")
}

func textsOf(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprint(v)
	}
	return out
}

func (f valueFormat) parseBound(text any, otherwise int64) int64 {
	s, _ := text.(string)
	v, err := f.parse(s)
	if n, ok := v.(int64); ok && err == nil && s != "" {
		return n
	}
	return otherwise
}
