package intent

import (
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// The schema that editors use accepts and refuses what Read does.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../../docs/lab.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../../../docs/lab-example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for text, right := range map[string]bool{
		string(example):                                 true,
		"links: [a:1 -- b:1]":                           true,
		"links: [a:1 b:1]":                              false,
		"links: [{a: 'a:1', b: 'b:1', spede: 1G}]":      false,
		"links: [{a: 'a:1', b: 'b:1', speed: big}]":     false,
		"vlans: [{id: 5000, ports: ['a:1']}]":           false,
		"vlans: [{id: 5, ports: [a]}]":                  false,
		"devices: {a: {adress: 127.0.0.1}}":             false,
		"devices: {a: null}\nlinks: [{a: 'a', b: 'a'}]": true, // what contradicts itself is for Read alone
	} {
		var document any
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(document); (err == nil) != right {
			t.Errorf("the schema says %v of\n%s", err, text)
		}
		if _, _, err := Read([]byte(text), Own); right && err != nil && text != "devices: {a: null}\nlinks: [{a: 'a', b: 'a'}]" || !right && err == nil {
			t.Errorf("Read says %v of\n%s", err, text)
		}
	}
}
