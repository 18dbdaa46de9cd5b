package web

import (
	"encoding/json"
	"strings"
	"testing"

	"ctl.internal/host/internal/web/openapi"
	"ctl.internal/internal/yang"
)

const labModule = `module lab {
  yang-version 1.1; namespace "urn:lab"; prefix lab;
  import ctl-schema { prefix ctl; }
  container lab {
    list room { key name; leaf name { type string; }
      list host { key name; ctl:title Hosts; description "The hosts.";
        leaf name { type string; ctl:title Host; }
        leaf peer { type leafref { path "/lab:lab/lab:room/lab:name"; } }
        leaf rate { type uint64; ctl:format rate; } } } }
  rpc restart { ctl:confirm "Restart it?"; ctl:title "Restart";
    input {
      leaf room { type leafref { path "/lab:lab/lab:room/lab:name"; } mandatory true; }
      leaf mode { type enumeration { enum warm; enum cold; } default warm; }
      leaf after { type uint8 { range "1..60"; } units s; }
      leaf password { ctl:secret; type string { length "8..64"; pattern "[a-z]*"; } }
      leaf size { type uint64; }
      leaf-list tag { type string; }
      container place { leaf x { type string; } } }
    output { leaf state { type string; } list done { leaf name { type string; } } } }
  rpc show { ctl:read-only; }
}`

func TestThePageOfAPluginIsInItsModule(t *testing.T) {
	set, err := yang.Load(yang.Source{Name: "lab", Files: map[string][]byte{"lab.yang": []byte(labModule)}})
	if err != nil {
		t.Fatal(err)
	}
	streams := []openapi.Stream{{Name: "lab-events", Description: "Events of lab."}, {Name: "other", Description: "Events of other."}}
	got, err := json.Marshal(listPages(set, func(m string) bool { return m == "lab" }, streams))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"plugin":"lab"`, `"streams":["lab-events"]`,
		`{"title":"Hosts","help":"The hosts.","tree":"lab:lab","path":["lab","room","host"],"columns":[{"key":"name","title":"room","above":1},{"key":"name","title":"Host"}`,
		`{"key":"peer","title":"peer","ref":{"plugin":"lab","tree":"lab:lab","path":"lab/room","key":"name"}}`,
		`{"key":"rate","title":"rate","format":"rate","right":true}`,
		`"title":"Restart","confirm":"Restart it?"`,
		`{"name":"room","title":"room","type":"text","required":true,"ref":{"plugin":"lab","tree":"lab:lab","path":"lab/room","key":"name"}}`,
		`{"name":"mode","title":"mode","type":"choice","values":["warm","cold"],"default":"warm"}`,
		`{"name":"after","title":"after","type":"number","min":"1","max":"60","unit":"s"}`,
		`{"name":"password","title":"password","type":"text","pattern":"[a-z]*","shortest":8,"longest":64,"secret":true}`,
		`{"name":"size","title":"size","type":"big"}`,
		`{"name":"tag","title":"tag","type":"text","several":true}`,
		`{"name":"place","title":"place","type":"json"}`,
		`"values":[{"key":"state","title":"state"}],"tables":[{"title":"done","path":["done"],"columns":[{"key":"name","title":"name"}]}]`,
		`"name":"show","title":"show","readOnly":true`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", got)
	}
	if none := listPages(set, func(string) bool { return false }, nil); len(none) > 0 {
		t.Errorf("%d pages of modules that are not shown", len(none))
	}
}
