package main

import "go.yaml.in/yaml/v3"

// defaults returns the settings that the manifest's schema gives.
func defaults(manifest []byte) (map[string]any, error) {
	var f struct {
		Config schema `yaml:"config"`
	}
	if err := yaml.Unmarshal(manifest, &f); err != nil {
		return nil, err
	}
	return f.Config.values(), nil
}

type schema struct {
	Properties map[string]schema `yaml:"properties"`
	Default    any               `yaml:"default"`
}

func (s schema) values() map[string]any {
	out := map[string]any{}
	for name, p := range s.Properties {
		if out[name] = p.Default; p.Properties != nil {
			out[name] = p.values()
		}
	}
	return out
}
