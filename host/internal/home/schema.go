package home

import (
	"maps"
	"strconv"
	"strings"
)

// fill adds the defaults of a schema to a value, however deep. A schema that
// refers to itself ends with the value.
func (c *pluginConfig) fill(value any, schema map[string]any) any {
	schema = c.deref(schema)
	switch v := value.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for name, sub := range object(schema["properties"]) {
			s := c.deref(object(sub))
			if have, ok := v[name]; ok {
				out[name] = c.fill(have, s)
			} else if def, ok := s["default"]; ok {
				out[name] = c.fill(def, s) // a default of {} still gets those of its members
			} else if made := c.defaults(s, 4); made != nil {
				out[name] = made
			}
		}
		return out
	case []any:
		items := object(schema["items"])
		out := make([]any, len(v))
		for i := range v {
			out[i] = c.fill(v[i], items)
		}
		return out
	}
	return value
}

// defaults makes the object of a section that the file leaves out, nil when
// nothing in it has a default or something in it is required.
func (c *pluginConfig) defaults(schema map[string]any, depth int) map[string]any {
	schema = c.deref(schema)
	if _, required := schema["required"]; required || depth == 0 {
		return nil
	}
	var out map[string]any
	for name, sub := range object(schema["properties"]) {
		s := c.deref(object(sub))
		def, ok := s["default"]
		if ok {
			def = c.fill(def, s)
		} else {
			if made := c.defaults(s, depth-1); made != nil {
				def, ok = made, true
			}
		}
		if ok {
			if out == nil {
				out = map[string]any{}
			}
			out[name] = def
		}
	}
	return out
}

// deref follows "$ref": "#/…" within the schema.
func (c *pluginConfig) deref(schema map[string]any) map[string]any {
	for range 16 {
		ref, ok := schema["$ref"].(string)
		if !ok || !strings.HasPrefix(ref, "#") {
			return schema
		}
		var at any = c.schema
		for _, step := range strings.Split(strings.TrimPrefix(strings.TrimPrefix(ref, "#"), "/"), "/") {
			if step == "" {
				continue
			}
			step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
			at = object(at)[step]
		}
		schema = object(at)
	}
	return map[string]any{}
}

// at is the schema of an instance location, as far as plain properties and items lead.
func (c *pluginConfig) at(loc []string) map[string]any {
	s := c.deref(c.schema)
	for _, step := range loc {
		next, ok := object(s["properties"])[step]
		if _, err := strconv.Atoi(step); !ok && err == nil {
			next = s["items"]
		} else if !ok {
			next = s["additionalProperties"]
		}
		s = c.deref(object(next))
	}
	return s
}

func (c *pluginConfig) properties(loc []string) map[string]any {
	return object(c.at(loc)["properties"])
}

// object is v as a JSON object; anything else is an empty one.
func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}
