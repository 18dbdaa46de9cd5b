package bier

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/yang"
	bierchannel "ctl.internal/plugins/bier-channel"
	bierservice "ctl.internal/plugins/bier-service"
	biertopomanager "ctl.internal/plugins/bier-topomanager"
	"ctl.internal/sdk"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/topology"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

// lab is the BIER plugins at one host, a source of the topology flow:1, and routers
// in memory.
type lab struct {
	t       *testing.T
	host    *plugintest.Host
	source  *topology.Publisher
	routers *memoryRouters
	plugins map[string]*plugintest.Plugin // by the module whose RPCs they execute
	schema  *yang.Set
	aliases *yang.AliasIndex
	trees   *bier.Trees // as another plugin sees them
	state   *state.Store
}

var folders = []string{"bier-topomanager", "bier-channel", "bier-service"}

func newLab(t *testing.T) *lab {
	t.Helper()
	return newLabOf(t, func(r *memoryRouters) bierdriver.Driver { return r })
}

// newLabOf is newLab with the driver of the routers in memory.
func newLabOf(t *testing.T, driver func(*memoryRouters) bierdriver.Driver) *lab {
	t.Helper()
	l := &lab{t: t, host: plugintest.NewHost(t), source: &topology.Publisher{}, routers: newMemoryRouters(), plugins: map[string]*plugintest.Plugin{}}
	l.start("source", sdk.Options{Manifest: []byte("name: source\nversion: 1.0.0\nsummary: A source\ncapabilities: [topology]\n"),
		New: func(context.Context, *sdk.Env) (*sdk.Plugin, error) { return &sdk.Plugin{Topology: l.source}, nil }}, nil)
	l.start("driver", sdk.Options{Manifest: []byte("name: driver\nversion: 1.0.0\nsummary: A driver\ncapabilities: [bierdriver]\n"),
		New: func(context.Context, *sdk.Env) (*sdk.Plugin, error) {
			return &sdk.Plugin{BierDriver: driver(l.routers)}, nil
		}}, nil)
	var sources []yang.Source
	var aliases []yang.AliasSet
	for i, o := range []sdk.Options{biertopomanager.Options(), bierchannel.Options(), bierservice.Options()} {
		p := l.start(folders[i], o, configs[folders[i]])
		src := yang.Source{Name: folders[i], Files: map[string][]byte{}}
		for _, m := range p.Manifest.YangModules {
			src.Files[m.Name+".yang"] = []byte(m.Text)
		}
		sources = append(sources, src)
		a, err := yang.ParseAliases(p.Manifest.Aliases)
		if err != nil {
			t.Fatal(err)
		}
		aliases = append(aliases, a)
	}
	var err error
	if l.schema, err = yang.Load(sources...); err != nil {
		t.Fatal(err)
	}
	if l.aliases, err = yang.NewAliasIndex(l.schema, aliases...); err != nil {
		t.Fatal(err)
	}
	l.trees = bier.NewTrees(nil)
	if l.state, err = state.Open(t.Context(), l.host.Client(t, nil), l.trees.Views()...); err != nil {
		t.Fatal(err)
	}
	return l
}

var configs = map[string]any{
	"bier-service": map[string]any{"retry_min": "5ms", "retry_max": "20ms", "proof": "0s"},
	"bier-channel": map[string]any{"deploy_wait": "2s"},
}

// start runs a plugin and lets the others call its RPCs.
func (l *lab) start(name string, o sdk.Options, config any) *plugintest.Plugin {
	l.t.Helper()
	p := plugintest.Start(l.t, o, plugintest.WithHost(l.host), plugintest.WithConfig(config))
	for _, r := range p.Manifest.Rpcs {
		l.plugins[r.Module] = p
		full := r.Module + ":" + r.Name
		l.host.Handle(full, func(ctx context.Context, in []byte) ([]byte, error) {
			var out json.RawMessage
			err := p.Call(ctx, full, json.RawMessage(in), &out)
			return out, err
		})
	}
	l.plugins[name] = p
	return p
}

func (l *lab) ctx() context.Context {
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	l.t.Cleanup(cancel)
	return ctx
}

// post sends a body as a client does, through aliases and schema, and returns the
// answer as a client gets it.
func (l *lab) post(rpc, body string) (string, error) {
	l.t.Helper()
	module, name, _ := strings.Cut(rpc, ":")
	module, name, aliases := l.aliases.Resolve(module, name)
	r := l.schema.RPC(module, name)
	if r == nil {
		l.t.Fatalf("there is no RPC %s", rpc)
	}
	in, err := r.DecodeInput([]byte(body), yang.Options{Lenient: true, Defaults: true, Aliases: aliases})
	if err != nil {
		return "", err
	}
	var out json.RawMessage
	if err := l.plugins[module].Call(l.ctx(), module+":"+name, json.RawMessage(in), &out); err != nil {
		return "", err
	}
	text, err := r.AppendOutput(nil, out, yang.Canonical)
	if err != nil {
		l.t.Errorf("%s: the answer does not fit the schema: %v\n%s", rpc, err, out)
	}
	if text == nil {
		text = []byte("{}")
	}
	return string(text), nil
}

// must is post of a body that is accepted.
func (l *lab) must(rpc, body string) string {
	l.t.Helper()
	out, err := l.post(rpc, body)
	if err != nil {
		l.t.Fatalf("%s %s: %v", rpc, body, err)
	}
	return out
}

// refused is post of a body that is answered with an error of a kind.
func (l *lab) refused(rpc, body string, kind fault.Kind) {
	l.t.Helper()
	out, err := l.post(rpc, body)
	if err == nil || fault.KindOf(err) != kind {
		l.t.Errorf("%s %s: %s, %v; want an error of kind %s", rpc, body, out, err, kind)
	}
}

// until waits for a condition that changes of routers may bring about.
// Of what is wrong at the end tell the last functions.
func (l *lab) until(what string, ok func() bool, tell ...func() string) {
	l.t.Helper()
	ctx := l.ctx()
	for {
		changed := l.routers.Changed()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			for _, f := range tell {
				l.t.Log(f())
			}
			l.t.Fatalf("never: %s", what)
		}
	}
}

// network publishes flow:1 as OpenFlow would: a tree of seven switches, and more links.
func (l *lab) network(more ...[4]string) {
	l.t.Helper()
	t := topology.Topology{ID: "flow:1", Nodes: map[string]topology.Node{}, Links: map[string]topology.Link{}}
	tp := func(node, port string) string {
		id := "openflow:" + node + ":" + port
		t.Nodes["openflow:"+node].TPs[id] = topology.TerminationPoint{ID: id}
		return id
	}
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		t.Nodes["openflow:"+n] = topology.Node{ID: "openflow:" + n, TPs: map[string]topology.TerminationPoint{}}
	}
	tree := [][4]string{{"1", "1", "2", "3"}, {"1", "2", "5", "3"}, {"2", "1", "3", "3"}, {"2", "2", "4", "3"}, {"5", "1", "6", "3"}, {"5", "2", "7", "3"}}
	for _, e := range append(tree, more...) {
		a, b := tp(e[0], e[1]), tp(e[2], e[3])
		t.Links[a] = topology.Link{ID: a, SourceNode: "openflow:" + e[0], SourceTP: a, DestNode: "openflow:" + e[2], DestTP: b}
		t.Links[b] = topology.Link{ID: b, SourceNode: "openflow:" + e[2], SourceTP: b, DestNode: "openflow:" + e[0], DestTP: a}
	}
	l.source.Set(t)
	l.until("the topology is known", func() bool {
		out, err := l.post("bier-topology-api:query-topology", `{"input":{"topology-id":"flow:1"}}`)
		return err == nil && strings.Contains(out, `"7"`)
	})
}
