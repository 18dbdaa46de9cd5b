package api

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

//go:embed schemas.json
var schemas []byte

type object = map[string]any

// openAPI answers /openapi.json: the paths of the table as OpenAPI 3.1.
func (a *API) openAPI(w http.ResponseWriter, r *http.Request, _ *params) error {
	doc, err := openAPI(strings.TrimSuffix(requestPath(r), "/openapi.json"))
	if err != nil {
		return err
	}
	return writeJSON(w, r, doc)
}

func openAPI(server string) (object, error) {
	var components object
	if err := json.Unmarshal(schemas, &components); err != nil {
		return nil, err
	}
	paths := object{}
	for _, e := range listEndpoints() {
		if e.schema == "" {
			continue
		}
		paths[e.path] = object{"get": openAPIOperation(e, false)}
		if e.hasParam("project") {
			paths["/projects/{project}"+e.path] = object{"get": openAPIOperation(e, true)}
		}
	}
	if server == "" {
		server = "/"
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title":   "Repository information",
			"version": "1.0.0",
		},
		"servers":    []object{{"url": server}},
		"paths":      paths,
		"components": object{"schemas": components},
	}, nil
}

func openAPIOperation(e endpoint, inPath bool) object {
	parameters := []object{}
	id := strings.ReplaceAll(strings.Trim(e.path, "/"), "/", "_")
	if inPath {
		id += "_of_project"
	}
	forms := []string{"application/json"}
	for _, p := range e.params {
		schema := object{"type": "string"}
		if p.values != nil {
			schema["enum"] = p.values
		}
		if p.name == "limit" {
			schema = object{"type": "integer", "minimum": 1}
		}
		one := object{
			"name":        p.name,
			"in":          "query",
			"description": p.help,
			"required":    p.required,
			"schema":      schema,
		}
		if p.name == "project" && inPath {
			one = object{
				"name":        p.name,
				"in":          "path",
				"description": "name of the project; its slashes stand as they are",
				"required":    true,
				"schema":      schema,
			}
		}
		if p.name == "format" {
			if slices.Contains(p.values, "ndjson") {
				forms = append(forms, typeLines)
			} else {
				forms = append(forms, "text/csv", "text/html")
			}
			if slices.Contains(p.values, "markdown") {
				forms = append(forms, "text/markdown")
			}
		}
		parameters = append(parameters, one)
	}
	content := object{}
	for _, f := range forms {
		content[f] = object{"schema": object{"type": "string"}}
	}
	content["application/json"] = object{"schema": object{"$ref": "#/components/schemas/" + e.schema}}
	return object{
		"operationId": id,
		"summary":     e.summary,
		"tags":        []string{strings.SplitN(e.path, "/", 3)[1]},
		"parameters":  parameters,
		"responses": object{
			"200": object{
				"description": "The answer; ETag is its version",
				"content":     content,
			},
			"304": object{"description": "The version named in If-None-Match is current"},
			"default": object{"description": "What is wrong",
				"content": object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}}},
		},
	}
}
