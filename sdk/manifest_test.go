package sdk

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/operations"
)

const rackModule = `module rack { namespace "urn:rack"; prefix r; rpc get-rack; rpc move-rack; }`

func rackOptions(more string) Options {
	return Options{
		Manifest: []byte("name: rack\nversion: 1.0.0\nsummary: racks\ncapabilities: [operations]\nyang: {implements: [rack]}\n" + more),
		YANG:     fstest.MapFS{"yang/rack.yang": {Data: []byte(rackModule)}},
		New:      func(context.Context, *Env) (*Plugin, error) { return &Plugin{}, nil },
	}
}

// A name in plugin.yaml that no module has is an error with its place and the nearest name.
func TestPluginYAMLNamesTheRPCsOfTheModules(t *testing.T) {
	for more, want := range map[string]string{
		"operations: {safe: [\"*:get-*\"], timeouts: {\"rack:move-rack\": 2m}}\n": "",
		"operations:\n  timeouts:\n    \"rack:move-rak\": 2m\n":                   `plugin.yaml:8: operations.timeouts: the modules of the plugin have no RPC "rack:move-rak" (did you mean "rack:move-rack"?)`,
		"operations: {safe: [\"rack:raed\"]}\n":                                   `plugin.yaml:6: operations.safe: no RPC of the plugin's modules matches "rack:raed"`,
	} {
		_, err := NewServer(rackOptions(more))
		if got := errorText(err); got != want {
			t.Errorf("%s: got %q, want %q", more, got, want)
		}
	}
}

// A plugin whose handlers are not those of its modules does not start.
func TestEachRPCHasAHandler(t *testing.T) {
	s, err := NewServer(rackOptions(""))
	if err != nil {
		t.Fatal(err)
	}
	none := operations.Func(func(context.Context, operations.None) (operations.None, error) { return operations.None{}, nil })
	for want, mux := range map[string]operations.Mux{
		"":                                      {"rack:get-rack": none, "rack:move-rack": none},
		"the RPC rack:move-rack has no handler": {"rack:get-rack": none},
		`a handler for rack:move-rak, an RPC or action that no module of the plugin has (did you mean "`: {"rack:get-rack": none, "rack:move-rack": none, "rack:move-rak": none},
	} {
		err := s.checkAgreement(&Plugin{Operations: mux})
		if (err == nil) != (want == "") || !strings.Contains(errorText(err), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if m := s.Manifest(); len(m.Rpcs) != 2 || m.Rpcs[0].GetSafe() {
		t.Errorf("%v", []*pluginv1.Rpc(m.Rpcs))
	}
}

// The actions of a plugin's modules need handlers, too, under the path of their node.
func TestEachActionHasAHandler(t *testing.T) {
	none := operations.Func(func(context.Context, operations.None) (operations.None, error) { return operations.None{}, nil })
	module := func(body string) []*pluginv1.YangModule {
		text := `module m { yang-version 1.1; namespace "urn:m"; prefix m; ` + body + ` }`
		return []*pluginv1.YangModule{{Name: "m", Text: text, Implemented: true}}
	}
	const own = `grouping g { action reset; } container c { uses g; list l { key k; leaf k { type string; } uses g; } }`
	for _, c := range []struct {
		body, want string
		names      []string
	}{
		{own, "", []string{"/m:c/reset", "/m:c/l/reset"}},
		{own, "the action /m:c/reset has no handler", []string{"/m:c/l/reset"}},
		{own, "a handler for /m:c/l/rest, an RPC or action that no module of the plugin has (did you mean", []string{"/m:c/reset", "/m:c/l/reset", "/m:c/l/rest"}},
		{`import elsewhere { prefix e; } augment /e:c { action reset; }`, "", []string{"/elsewhere:c/m:reset"}},
		{`container c;`, "a handler for /m:c/reset", []string{"/m:c/reset"}},
	} {
		s := &Server{manifest: &pluginv1.Manifest{Name: "p", YangModules: module(c.body)}}
		mux := operations.Mux{}
		for _, n := range c.names {
			mux[n] = none
		}
		if err := s.agreeRPCs(&Plugin{Operations: mux}); (err == nil) != (c.want == "") || !strings.Contains(errorText(err), c.want) {
			t.Errorf("%s %v: got %v, want %q", c.body, c.names, err, c.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
