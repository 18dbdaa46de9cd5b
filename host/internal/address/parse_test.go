package address

import (
	"slices"
	"testing"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/restconf"
	"ctl.internal/internal/yang"
)

const labModule = `module lab { namespace "urn:lab"; prefix lab; container inventory { list device { key name; leaf name { type string; } leaf port { type uint8; } } } rpc reload; }`

func TestParse(t *testing.T) {
	set, err := yang.Load(yang.Source{Name: "t", Files: map[string][]byte{"lab.yang": []byte(labModule)}})
	if err != nil {
		t.Fatal(err)
	}
	aliases, err := yang.ParseAliases([]byte(`{"modules": {"old": "lab"}}`))
	if err != nil {
		t.Fatal(err)
	}
	now := &restconf.Installed{Schema: set}
	if now.Aliases, err = yang.NewAliasIndex(set, aliases); err != nil {
		t.Fatal(err)
	}
	inventory := Address{Kind: Tree, Module: "lab", Node: "inventory"}
	device := Address{Kind: Tree, Module: "lab", Node: "device", Keys: []string{"a/b"}}
	reload := Address{Kind: Operation, Module: "lab", Node: "reload"}
	for path, want := range map[string]Address{
		"/rests/data/lab:inventory": inventory, "/restconf/config/inventory": inventory, "/restconf/operational/old:inventory": inventory,
		"/rests/ds/ietf-datastores:running/lab:inventory": inventory,
		"/rests/data/lab:inventory/device=a%2Fb":          device, "/restconf/config/lab:inventory/device/a%2Fb": device,
		"/rests/data/lab:inventory/device=a%2Fb/port": {Kind: Tree, Module: "lab", Node: "port"},
		"/rests/data/lab:nothing":                     {Kind: Tree},
		"/rests/operations/lab:reload":                reload, "/restconf/operations/old:reload": reload, "/operations/lab:reload": reload,
		"/rests/operations/reload": {Kind: Operation, Node: "reload"},
		"/rests/operations":        {}, "/rests/data": {}, "/web/login": {}, "/": {}, "/rests/operations/lab:reload/x": {},
	} {
		p, err := reqpath.ParseString(path)
		if err != nil {
			t.Fatal(err)
		}
		got := Parse(now, p)
		if got.Kind != want.Kind || got.Module != want.Module || got.Node != want.Node || !slices.Equal(got.Keys, want.Keys) {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
}
