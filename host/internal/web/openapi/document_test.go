package openapi

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"ctl.internal/internal/yang"
)

func TestDocument(t *testing.T) {
	src, err := yang.FromFS("lab", os.DirFS("../../restconf"), "testdata/yang")
	if err != nil {
		t.Fatal(err)
	}
	every, err := yang.FromFS("every", os.DirFS("../../../../internal/yang"), "testdata")
	if err != nil {
		t.Fatal(err)
	}
	set, err := yang.Load(src, every)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Document(Input{Set: set, Title: "lab", Version: "1", Streams: []Stream{{Name: "lab", Description: "what happens"}},
		Routes:  []Route{{Path: "/mine", Summary: "mine"}, {Path: "/below", Document: []byte(`{"servers":[{"url":"/below"}],"paths":{"/y":{"get":{"responses":{"200":{"description":"d"}}}}}}`)}, {Path: "/own", Document: []byte(`{"paths":{"/own/x":{"get":{"responses":{"200":{"description":"d","content":{"application/json":{"schema":{"$ref":"#/components/schemas/s"}}}}}}},"/auth":{}},"components":{"schemas":{"s":{"type":"string"}}}}`)}},
		Include: func(m string) bool { return m == "lab" || m == "every" }})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Paths.Find("/restconf/streams/stream/lab").Get == nil || doc.Paths.Find("/restconf/operational/lab:inventory").Get == nil {
		t.Errorf("version %s, paths %v", doc.OpenAPI, doc.Paths.InMatchingOrder())
	}
	op := doc.Paths.Find("/restconf/operations/lab:add-vlan").Post
	in := op.RequestBody.Value.Content["application/json"].Schema.Value.Properties["input"].Value
	if v := in.Properties["vlan-id"].Value; *v.Min != 1 || *v.Max != 4094 || len(in.Required) != 2 {
		t.Errorf("the input of add-vlan: %+v", in)
	}
	for body, ok := range map[string]bool{`{"vlan-id":7,"node-id":1}`: true, `{"vlan-id":4095,"node-id":1}`: false, `{"node-id":1}`: false} {
		var v any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatal(err)
		}
		if err := in.VisitJSON(v, openapi3.EnableJSONSchema2020()); (err == nil) != ok {
			t.Errorf("%s against JSON Schema 2020-12: %v", body, err)
		}
	}
	if s := in.Properties["vlan-name"].Value; *s.MaxLength != 20 {
		t.Errorf("vlan-name: %+v", s)
	}
	if doc.Paths.Find("/restconf/config/lab:inventory/device={device_name}/slot={slot_shelf},{slot_number}") == nil {
		t.Errorf("paths: %v", doc.Paths.InMatchingOrder())
	}
	for _, p := range []string{"/rests/operations/lab:add-vlan", "/rests/data/lab:inventory/device={device_name}", "/auth/v1/users/{user_id}", "/oauth2/token", "/rests/modules/{module}", "/own/x", "/below/y", "/mine"} {
		if doc.Paths.Find(p) == nil {
			t.Errorf("%s is not described", p)
		}
	}
	again, err := YAML(text)
	if err != nil {
		t.Fatal(err)
	}
	other, err := openapi3.NewLoader().LoadFromData(again)
	if err != nil || other.Validate(t.Context()) != nil || other.Paths.Len() != doc.Paths.Len() {
		t.Errorf("the document in YAML: %v", err)
	}
	if doc.Paths.Find("/restconf/config/network-topology:network-topology") != nil {
		t.Error("a module that was not asked for is there")
	}
}

// What generators of clients stumble over: long names, bodies that are written out in each place, formats that are too
// small, and resources, parameters and conditions that are served and not described.
func TestGeneratorsFindTheirWay(t *testing.T) {
	const deep = `module deep { namespace "urn:deep"; prefix d; container a-container-with-a-long-name { list a-list-with-a-long-name { key k; ordered-by user; leaf k { type string; }
		container another-container-with-a-long-name { list yet-another-list-with-a-long-name { key "k name"; leaf k { type uint32; }
		leaf name { type union { type uint8; type string; } }
		container the-last-container-with-a-long-name { leaf v { type string { pattern "[a-z]+\\.x"; } } leaf u { type string { pattern "\\p{L}"; } } } } } } } }`
	set, err := yang.Load(yang.Source{Name: "deep", Files: map[string][]byte{"deep.yang": []byte(deep)}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := Document(Input{Set: set, Title: "deep", Version: "1", Include: func(m string) bool { return m == "deep" }})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for verb, op := range item.Operations() {
			if len(op.OperationID) > 90 || strings.Contains(op.OperationID, "__") {
				t.Errorf("%s %s has the id %s", verb, path, op.OperationID)
			}
			for _, p := range item.Parameters {
				if s := p.Value.Schema; s != nil && len(s.Value.AnyOf) > 0 {
					t.Errorf("%s: generators make a model of the parameter %s", path, p.Value.Name)
				}
			}
			if op.RequestBody == nil {
				continue
			}
			for media, content := range op.RequestBody.Value.Content {
				s := content.Schema
				if strings.HasPrefix(path, "/rest") && s != nil && s.Ref == "" && len(s.Value.Properties) > 0 {
					t.Errorf("%s %s: the schema of the body in %s has no name, so generators make one of the path", verb, path, media)
				}
			}
		}
	}
	list := doc.Paths.Find("/rests/data/deep:a-container-with-a-long-name/a-list-with-a-long-name")
	entry := doc.Paths.Find("/rests/data/deep:a-container-with-a-long-name/a-list-with-a-long-name={a_list_with_a_long_name_k}")
	if list == nil || list.Get == nil || list.Delete == nil || entry == nil || entry.Post == nil {
		t.Fatalf("%v", doc.Paths.InMatchingOrder())
	}
	for _, c := range []struct {
		op   *openapi3.Operation
		in   string
		name string
	}{
		{list.Get, "query", "limit"}, {list.Get, "query", "where"}, {entry.Get, "query", "depth"}, {entry.Put, "query", "insert"}, {entry.Put, "header", "If-Match"}, {entry.Delete, "header", "If-Match"},
	} {
		if c.op.Parameters.GetByInAndName(c.in, c.name) == nil {
			t.Errorf("%s has no parameter %s", c.op.OperationID, c.name)
		}
	}
	schemas := 0
	for name, s := range doc.Components.Schemas {
		if len(name) > 90 {
			t.Errorf("the schema %s", name)
		}
		if p := s.Value.Properties["v"]; p != nil {
			schemas++
			if p.Value.Pattern != `^(?:[a-z]+\.x)$` || s.Value.Properties["u"].Value.Pattern != "" {
				t.Errorf("patterns: %+v", p.Value)
			}
		}
		if p := s.Value.Properties["k"]; p != nil && p.Value.Type.Is("integer") && p.Value.Format != "int64" {
			t.Errorf("uint32 has the format %q", p.Value.Format)
		}
	}
	if schemas != 2 { // one for each of the two forms
		t.Errorf("%d schemas of one container", schemas)
	}
	if entry.Get.Responses.Default().Value.Content["application/yang-data+json"] == nil {
		t.Error("the media type of errors")
	}
}

// Actions are described below the data that they are bound to, also below state.
func TestActions(t *testing.T) {
	set, err := yang.Load(yang.Source{Name: "m", Files: map[string][]byte{"m.yang": []byte(`module m { yang-version 1.1; namespace "urn:m"; prefix m;
	  container e { action a { input { leaf other { type string; } } } }
	  container c { action a { input { leaf x { type uint8; mandatory true; } } output { leaf y { type string; } } }
	    list l { config false; key k; leaf k { type string; } container d { action b; } } } }`)}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := Document(Input{Set: set, Title: "m", Version: "1", Include: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, b := doc.Paths.Find("/rests/data/m:c/a"), doc.Paths.Find("/rests/data/m:c/l={l_k}/d/b")
	if a == nil || b == nil || a.Post == nil || b.Post == nil {
		t.Fatalf("%v", doc.Paths.InMatchingOrder())
	}
	in := a.Post.RequestBody.Value.Content["application/yang-data+json"].Schema.Value.Properties["m:input"].Value
	if !a.Post.RequestBody.Value.Required || in.Properties["x"] == nil || a.Post.Responses.Value("200") == nil {
		t.Errorf("%+v", a.Post)
	}
	if b.Parameters.GetByInAndName("path", "l_k") == nil || b.Post.Responses.Value("204") == nil {
		t.Errorf("%+v", b)
	}
}
