package plugintest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// completeSettings fills the defaults of a schema into settings and checks them.
func completeSettings(doc map[string]any, schema []byte) ([]byte, error) {
	if len(schema) == 0 {
		if len(doc) > 0 {
			return nil, errors.New("the plugin has no settings: plugin.yaml has no `config`")
		}
		return []byte("{}"), nil
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("the schema of the settings: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("ctl:///settings.json", parsed); err != nil {
		return nil, fmt.Errorf("the schema of the settings: %w", err)
	}
	compiled, err := c.Compile("ctl:///settings.json")
	if err != nil {
		return nil, fmt.Errorf("the schema of the settings: %w", err)
	}
	fillDefaults(doc, parsed)
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	again, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if err := compiled.Validate(again); err != nil {
		return nil, fmt.Errorf("the settings do not fit the schema in plugin.yaml: %w", err)
	}
	return raw, nil
}

// fillDefaults adds the defaults of properties that are absent.
func fillDefaults(doc map[string]any, schema any) {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	for name, sub := range properties {
		p, _ := sub.(map[string]any)
		if _, ok := doc[name]; !ok {
			if d, ok := p["default"]; ok {
				doc[name] = d
			}
		}
		if inner, ok := doc[name].(map[string]any); ok {
			fillDefaults(inner, sub)
		}
	}
}
