package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"go.yaml.in/yaml/v3"
)

// services.yaml describes access control and the resources of RFC 8040 that no module has.
//
//go:embed services.yaml
var servicesText []byte

// addServices adds them, and the event streams.
func (d *document) addServices() {
	var fixed struct {
		Paths   object `yaml:"paths"`
		Schemas object `yaml:"schemas"`
	}
	if err := yaml.Unmarshal(servicesText, &fixed); err != nil {
		panic(err) // the file is embedded
	}
	d.addPaths(fixed.Paths, fixed.Schemas)
	for _, s := range d.Streams {
		for _, at := range []string{"/rests/streams/json/", "/rests/streams/xml/", "/restconf/streams/stream/"} {
			path := at + s.Name
			op := object{
				"tags":        []string{"event streams"},
				"operationId": d.operationID("follow", path),
				"parameters": []object{
					{
						"name": "start-time",
						"in":   "query",
						"schema": object{
							"type":   "string",
							"format": "date-time",
						},
					},
					{
						"name": "stop-time",
						"in":   "query",
						"schema": object{
							"type":   "string",
							"format": "date-time",
						},
					},
					{
						"name":   "filter",
						"in":     "query",
						"schema": object{"type": "string"},
					},
				},
				"responses": form{}.operationResponses("200", "Server-sent events (RFC 8040 section 6.4), until either side ends it",
					object{"text/event-stream": object{"schema": object{"type": "string"}}}),
			}
			if s.Description != "" {
				op["description"] = s.Description
			}
			d.paths[path] = object{"get": op}
		}
	}
}

// addPaths adds paths and schemas, with an operationId if one is missing.
func (d *document) addPaths(paths, schemas object) {
	maps.Copy(d.schemas, schemas)
	for path, item := range paths {
		verbs, ok := item.(object)
		if !ok {
			continue
		}
		for verb, v := range verbs {
			op, ok := v.(object)
			if ok && op["operationId"] == nil {
				op["operationId"] = d.operationID(verb, path)
			}
		}
		d.paths[path] = item
	}
}

// addRoute adds what a plugin serves outside of YANG: by its own document, or as a subtree.
func (d *document) addRoute(r Route) error {
	if r.Document == nil {
		d.paths[r.Path] = object{"get": object{
			"operationId": d.operationID("get", r.Path),
			"tags":        []string{"plugins"},
			"summary":     r.Summary,
			"description": "A plugin serves this path and those below it; it has no document of its own.",
			"responses":   object{"200": object{"description": "What the plugin answers"}},
		}}
		return nil
	}
	var doc struct {
		Servers []struct {
			URL string `json:"url"`
		} `json:"servers"`
		Paths      object `json:"paths"`
		Components struct {
			Schemas object `json:"schemas"`
		} `json:"components"`
	}
	// The names of its schemas must not be those of others.
	prefix := toIdentifier(strings.Trim(r.Path, "/")) + "_"
	text := strings.ReplaceAll(
		string(r.Document),
		`"#/components/schemas/`,
		`"#/components/schemas/`+prefix,
	)
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Errorf("the document of %s: %w", r.Path, err)
	}
	schemas := object{}
	for name, s := range doc.Components.Schemas {
		schemas[prefix+name] = s
	}
	below := len(doc.Servers) > 0 && strings.HasSuffix(
		strings.TrimSuffix(doc.Servers[0].URL, "/"),
		r.Path,
	)
	paths := object{}
	for path, item := range doc.Paths {
		if below { // its paths are those below the route
			path = r.Path + strings.TrimSuffix(path, "/")
		}
		if path == r.Path || strings.HasPrefix(path, r.Path+"/") {
			paths[path] = item
		}
	}
	d.addPaths(paths, schemas)
	return nil
}
