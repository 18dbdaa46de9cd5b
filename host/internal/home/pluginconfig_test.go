package home

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testSchema = `{
  "type": "object", "additionalProperties": false, "required": ["review_url"],
  "properties": {
    "review_url": {"type": "string", "format": "uri"},
    "port": {"type": "integer", "minimum": 1, "maximum": 65535, "default": 162},
    "password": {"type": "string", "minLength": 8, "writeOnly": true},
    "wait": {"type": "string", "format": "duration", "least": "1s", "most": "1h"},
    "most": {"type": "string", "format": "size"},
    "poll": {"type": "object", "additionalProperties": false,
      "properties": {"interval": {"type": "integer", "default": 30}, "deep": {"$ref": "#/$defs/deep"}}},
    "clones": {"type": "array", "items": {"$ref": "#/$defs/clone"}}
  },
  "$defs": {
    "deep": {"type": "object", "properties": {"on": {"type": "boolean", "default": true}}},
    "clone": {"type": "object", "additionalProperties": false, "required": ["name"],
      "properties": {"name": {"type": "string"}, "depth": {"type": "integer", "default": 0}}}
  }
}`

func TestPluginConfigIsCheckedAndFilled(t *testing.T) {
	cases := map[string]struct {
		yaml string
		want []string // the JSON, or the problems
	}{
		"defaults": {"review_url: https://r.example\n",
			[]string{`{"poll":{"deep":{"on":true},"interval":30},"port":162,"review_url":"https://r.example"}`}},
		"given": {"review_url: https://r.example\nport: 0x10\npoll: {interval: 5}\nclones:\n- name: a\n",
			[]string{`{"clones":[{"depth":0,"name":"a"}],"poll":{"deep":{"on":true},"interval":5},"port":16,"review_url":"https://r.example"}`}},
		"formats":        {"review_url: https://r.example\nwait: 90s\nmost: 2MiB\npoll:\n", []string{`{"most":2097152,"poll":{"deep":{"on":true},"interval":30},"port":162,"review_url":"https://r.example","wait":90000000000}`}},
		"number alone":   {"review_url: https://r.example\nwait: 7\n", []string{`{"poll":{"deep":{"on":true},"interval":30},"port":162,"review_url":"https://r.example","wait":7000000000}`}},
		"no duration":    {"review_url: https://r.example\nwait: soon\n", []string{`p.yaml:2: wait: "soon" is not a duration such as 500ms, 30s, 10m or 1h`}},
		"too short":      {"review_url: https://r.example\nwait: 1ms\n", []string{`p.yaml:2: wait: 1ms is not between 1s and 1h0m0s`}},
		"unknown":        {"review_url: https://r.example\nclonse: []\n", []string{`p.yaml:2: clonse: no such setting (did you mean "clones"?)`}},
		"unknown deeper": {"review_url: https://r.example\nclones:\n- name: a\n  dept: 1\n", []string{`p.yaml:4: clones.0.dept: no such setting (did you mean "depth"?)`}},
		"missing":        {"port: 1\n", []string{`p.yaml:1: review_url is missing`}},
		"empty":          {"", []string{`p.yaml: review_url is missing`}},
		"range":          {"review_url: https://r.example\nport: 70000\n", []string{`p.yaml:2: port: 70000 is not between 1 and 65535`}},
		"type":           {"review_url: https://r.example\nport: \"1\"\n", []string{`p.yaml:2: port: "1" is not a whole number`}},
		"secret":         {"review_url: https://r.example\npassword: hunter2\n", []string{`p.yaml:2: password: does not have the form it must have`}},
		"twice":          {"port: 1\nport: 2\n", []string{`p.yaml:2: port: set twice, first in line 1`, "p.yaml:1: review_url is missing"}},
		"not a mapping":  {"- a\n", []string{`p.yaml:1: must be a mapping of settings`}},
		"infinite":       {"port: .inf\n", []string{`p.yaml:1: port: ".inf" is not a number that JSON can hold`, "p.yaml:1: review_url is missing"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			config, ps := checked("p.yaml", []byte(c.yaml), []byte(testSchema))
			got := []string{string(config)}
			if len(ps) > 0 {
				got = nil
			}
			for _, p := range ps {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestPluginWithoutSchemaTakesNoSettings(t *testing.T) {
	if config, ps := checked("p.yaml", nil, nil); string(config) != "{}" || len(ps) > 0 {
		t.Fatalf("%s %v", config, ps)
	}
	if _, ps := checked("p.yaml", []byte("a: 1"), nil); len(ps) != 1 {
		t.Fatalf("%v", ps)
	}
}

func TestUnusableSchemaIsTheAuthorsFault(t *testing.T) {
	for _, schema := range []string{"[", "[]", `{"type": 7}`, `{"$ref": "file:///etc/passwd"}`, `{"$ref": "http://127.0.0.1/x"}`} {
		_, ps := checked("p.yaml", nil, []byte(schema))
		if len(ps) != 1 || !strings.Contains(ps[0].Text, "author") {
			t.Errorf("%s: %v", schema, ps)
		}
	}
}

func TestPluginConfigFile(t *testing.T) {
	d := write(t, "")
	if b, _, err := d.PluginConfig("repoinfo"); b != nil || err != nil {
		t.Fatalf("absent: %q, %v", b, err)
	}
	if err := os.WriteFile(d.Etc("repoinfo.yaml"), []byte("a: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, path, err := d.PluginConfig("repoinfo")
	if string(b) != "a: 1" || path != d.Etc("repoinfo.yaml") || err != nil {
		t.Fatalf("%q %s %v", b, path, err)
	}
}

// checked is what a plugin is configured with, or what is wrong with its settings.
func checked(path string, text, schema []byte) ([]byte, []Problem) {
	d := ReadDocument(path, text, schema)
	return d.JSON, d.Problems()
}

func FuzzCheckPluginConfig(f *testing.F) {
	f.Add("review_url: x\nclones: [{name: 1}]", testSchema)
	f.Add("a: 1", `{"properties":{"a":{"$ref":"#/properties/a"}}}`)
	f.Fuzz(func(t *testing.T, text, schema string) {
		config, ps := checked("p.yaml", []byte(text), []byte(schema))
		if (config == nil) == (len(ps) == 0) {
			t.Fatalf("%q and %v", config, ps)
		}
	})
}
