package plugintest_test

import (
	"context"
	_ "embed"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"ctl.internal/sdk"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/switchdriver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const manifest = `
name: sample
version: 1.2.3
summary: A plugin for the tests of plugintest
capabilities: [operations, routes]
uses: [switchdriver]
publishes: ["sample:state"]
streams: [sample-events]
yang: {implements: [sample]}
config:
  type: object
  additionalProperties: false
  properties:
    greeting: {type: string, default: hello}
`

var modules = fstest.MapFS{"yang/sample.yang": {Data: []byte(
	`module sample { namespace "urn:sample"; prefix s; rpc greet; rpc keep; rpc ask; rpc ports; }`)}}

// sample answers with what the host's services give it.
func sample() sdk.Options {
	return sdk.Options{Manifest: []byte(manifest), YANG: modules, New: func(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
		var cfg struct{ Greeting string }
		if err := env.DecodeConfig(&cfg); err != nil {
			return nil, err
		}
		type text struct{ Text string }
		return &sdk.Plugin{
			Routes: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Path)) }),
			Operations: operations.Mux{
				"sample:greet": operations.Func(func(ctx context.Context, _ operations.None) (text, error) {
					who, _ := caller.From(ctx)
					return text{cfg.Greeting + " " + who.User}, env.Host.Events.Publish(ctx, "sample-events", "sample:greeted", who.User)
				}),
				"sample:keep": operations.Func(func(ctx context.Context, in text) (operations.None, error) {
					sealed, err := env.Host.Secrets.Seal(ctx, "p", []byte(in.Text))
					if err != nil {
						return operations.None{}, err
					}
					return operations.None{}, env.Host.Datastore.Put(ctx, "k", sealed)
				}),
				"sample:ask": operations.Func(func(ctx context.Context, _ operations.None) (text, error) {
					var out text
					err := env.Host.Operations.Call(ctx, "other", "thing", nil, &out)
					return out, err
				}),
				"sample:ports": operations.Func(func(ctx context.Context, _ operations.None) (int, error) {
					ports, err := switchdriver.NewClient(env.Host.Switchboard.Dial("driver")).ReadPorts(ctx, &switchdriver.Switch{})
					return len(ports), err
				}),
			},
		}, nil
	}}
}

func TestAPluginRunsInATest(t *testing.T) {
	p := plugintest.Start(t, sample(), plugintest.WithConfig(map[string]string{"greeting": "good day"}))
	ctx := caller.With(t.Context(), caller.Caller{User: "ann"})
	var out struct{ Text string }
	if err := p.Call(ctx, "sample:greet", nil, &out); err != nil || out.Text != "good day ann" {
		t.Errorf("greet: %q, %v", out.Text, err)
	}
	if ev, err := p.Host.Events(ctx, 0); err != nil || len(ev) != 1 || string(ev[0].Data) != `{"sample:greeted":"ann"}` || ev[0].Publisher != "sample" {
		t.Errorf("events: %v, %v", ev, err)
	}
	w, err := p.HTTP(httptest.NewRequest("GET", "/sample/x", nil))
	if err != nil || w.Body.String() != "/sample/x" {
		t.Errorf("HTTP: %q, %v", w.Body, err)
	}
}

func TestTheHostKeepsData(t *testing.T) {
	p := plugintest.Start(t, sample())
	if err := p.Call(t.Context(), "sample:keep", map[string]string{"text": "secret"}, nil); err != nil {
		t.Fatal(err)
	}
	c := p.Host.Client(t, p.Manifest)
	e, err := c.Datastore.Get(t.Context(), host.Private, "k")
	if err != nil || strings.Contains(string(e.Value), "secret") {
		t.Errorf("kept %q, %v", e.Value, err)
	}
	plain, err := c.Secrets.Open(t.Context(), "p", e.Value)
	if err != nil || string(plain) != "secret" {
		t.Errorf("opened %q, %v", plain, err)
	}
	publish := func(path string) error {
		_, err := c.Datastore.Commit(t.Context(), host.Txn{Ops: []host.Op{{Space: host.Operational, Key: path, Value: []byte("{}")}}})
		return err
	}
	if err := publish("sample:state/x"); err != nil {
		t.Error(err)
	}
	if err := publish("stranger:state"); fault.KindOf(err) != fault.Denied {
		t.Errorf("the tree of another plugin: %v", err)
	}
}

func TestOtherModulesAreStoodInFor(t *testing.T) {
	p := plugintest.Start(t, sample())
	ctx := caller.With(t.Context(), caller.Caller{User: "ann"})
	if err := p.Call(ctx, "sample:ask", nil, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("without a stand-in: %v", err)
	}
	p.Host.Handle("other:thing", func(ctx context.Context, _ []byte) ([]byte, error) {
		who, _ := caller.From(ctx)
		return []byte(`{"text":"for ` + who.User + `"}`), nil
	})
	var out struct{ Text string }
	if err := p.Call(ctx, "sample:ask", nil, &out); err != nil || out.Text != "for ann" {
		t.Errorf("ask: %q, %v", out.Text, err)
	}
}

func TestNoSettings(t *testing.T) {
	for name, none := range map[string]any{"nil": nil, "a nil map": map[string]any(nil), "a nil pointer": (*struct{})(nil), "an empty map": map[string]any{}} {
		p := plugintest.Start(t, sample(), plugintest.WithConfig(none))
		if p.Manifest.Name != "sample" {
			t.Errorf("%s: %v", name, p.Manifest)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	_, err := plugintest.StartError(t, sample(), plugintest.WithConfig(map[string]int{"greting": 1}))
	if err == nil || !strings.Contains(err.Error(), "greting") {
		t.Errorf("an unknown setting: %v", err)
	}
}

type driver struct{}

func (driver) Match() switchdriver.Match { return switchdriver.Match{} }

func (driver) ReadPorts(context.Context, *switchdriver.Switch) ([]*switchdriver.Port, error) {
	return make([]*switchdriver.Port, 3), nil
}

func TestPluginsReachEachOther(t *testing.T) {
	h := plugintest.NewHost(t)
	p := plugintest.Start(t, sample(), plugintest.WithHost(h))
	plugintest.Start(t, sdk.Options{Manifest: []byte("name: driver\nversion: 1.0.0\nsummary: A driver\ncapabilities: [switchdriver]\n"),
		New: func(context.Context, *sdk.Env) (*sdk.Plugin, error) { return &sdk.Plugin{SwitchDriver: driver{}}, nil }}, plugintest.WithHost(h))
	var n int
	if err := p.Call(t.Context(), "sample:ports", nil, &n); err != nil || n != 3 {
		t.Errorf("%d ports, %v", n, err)
	}
}
