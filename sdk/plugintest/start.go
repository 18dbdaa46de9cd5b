// Package plugintest tests plugins as the host would see them, without a host.
//
// Start runs a plugin inside the test over a real gRPC connection, with a Host that
// keeps its data in memory: for the plugin's own tests. Run and Check put a built
// executable through the conformance suite: for everybody who ships one. Devices
// to test against are in package lab.
package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/internal/pair"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/routes"
)

// Plugin is a plugin that runs inside a test.
type Plugin struct {
	// Conn is the connection to it, for the clients of sdk/<capability>.
	Conn     grpc.ClientConnInterface
	Manifest *pluginv1.Manifest
	Host     *Host
	Warnings []string // of its settings

	stop func()
}

// Option changes how Start runs a plugin.
type Option func(*options)

type options struct {
	config any
	host   *Host
	data   string
	only   []string
}

// facets are those of an installation: all.
var facets = []string{"rest", "cli", "ui"}

func collectOptions(opts []Option) options {
	o := options{}
	for _, f := range opts {
		f(&o)
	}
	return o
}

// WithConfig gives the plugin settings: anything that encodes to a JSON object.
// They are checked against the manifest's schema and its defaults filled in.
func WithConfig(v any) Option {
	return func(o *options) { o.config = v }
}

// WithHost runs the plugin at a host that the test has prepared, or that another
// plugin of the test uses too.
func WithHost(h *Host) Option {
	return func(o *options) { o.host = h }
}

// WithDataDir sets the plugin's directory, a temporary one by default.
func WithDataDir(dir string) Option {
	return func(o *options) { o.data = dir }
}

// WithChecks makes Run and Check do only the checks of these names.
func WithChecks(names ...string) Option {
	return func(o *options) { o.only = names }
}

// Start runs a plugin until the test ends. It fails the test when the plugin cannot
// be started; StartError is for tests that expect that.
func Start(t testing.TB, o sdk.Options, opts ...Option) *Plugin {
	t.Helper()
	p, err := StartError(t, o, opts...)
	if err != nil {
		t.Fatalf("the plugin does not start: %v", err)
	}
	return p
}

// StartError is Start for a plugin that may refuse to start.
func StartError(t testing.TB, o sdk.Options, opts ...Option) (*Plugin, error) {
	t.Helper()
	cfg := collectOptions(opts)
	if cfg.host == nil {
		cfg.host = NewHost(t)
	}
	if cfg.data == "" {
		cfg.data = t.TempDir()
	}
	s, err := sdk.NewServer(o)
	if err != nil {
		return nil, err
	}
	config, err := encodeSettings(cfg.config, s.Manifest().ConfigSchema)
	if err != nil {
		return nil, err
	}
	g := s.NewGRPC(nil)
	s.Register(g)
	conn, end, err := pair.Serve(g)
	if err != nil {
		return nil, err
	}
	p := &Plugin{
		Conn:     conn,
		Manifest: s.Manifest(),
		Host:     cfg.host,
		stop:     end,
	}
	t.Cleanup(p.Stop)
	token := cfg.host.attachPlugin(s.Manifest(), p.Conn)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := pluginv1.NewBaseClient(p.Conn).Configure(ctx, &pluginv1.ConfigureRequest{
		ApiVersion: wire.Negotiate(s.Manifest().ApiVersions),
		Config:     config,
		DataDir:    cfg.data,
		Facets:     facets,
		HostSocket: cfg.host.Socket(),
		HostToken:  token,
	})
	if err != nil {
		return nil, fault.FromStatus(err)
	}
	p.Warnings = res.Warnings
	return p, nil
}

// Stop stops the plugin in order, as the host does; Start arranges for it.
func (p *Plugin) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, _ = pluginv1.NewBaseClient(p.Conn).Stop(ctx, &pluginv1.StopRequest{})
	p.stop()
}

// encodeSettings encodes, completes and checks a plugin's settings.
func encodeSettings(v any, schema []byte) ([]byte, error) {
	doc := map[string]any{}
	if v != nil {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &doc); err != nil {
			return nil, fmt.Errorf("the settings are not a JSON object: %w", err)
		}
		if doc == nil { // a nil map or pointer: no settings
			doc = map[string]any{}
		}
	}
	return completeSettings(doc, schema)
}

// Call executes an RPC, "module:rpc". in is encoded into the members of its input,
// out decoded from those of its output; either may be nil. A json.RawMessage is
// taken and given as it is. The input is not validated here: the controller does that.
func (p *Plugin) Call(ctx context.Context, rpc string, in, out any) error {
	module, name, _ := strings.Cut(rpc, ":")
	input := []byte("{}")
	if in != nil {
		var err error
		if input, err = json.Marshal(in); err != nil {
			return err
		}
	}
	request := &operations.Request{
		Module: module,
		RPC:    name,
		Input:  input,
	}
	res, err := operations.NewClient(p.Conn).Call(p.Host.withKnownCaller(ctx), request)
	if err != nil || out == nil || len(res) == 0 {
		return err
	}
	return json.Unmarshal(res, out)
}

// HTTP sends a request to the plugin's routes and returns the answer. The path is
// that of the controller, with the subtree's prefix.
func (p *Plugin) HTTP(r *http.Request) (*httptest.ResponseRecorder, error) {
	w := httptest.NewRecorder()
	_, err := routes.NewClient(p.Conn).Forward(
		w,
		r.WithContext(p.Host.withKnownCaller(r.Context())),
	)
	return w, err
}

// Shell runs a command of the plugin with positional arguments and options, and
// returns what it wrote. Its prompts are not answered.
func (p *Plugin) Shell(
	ctx context.Context,
	name string,
	args []string,
	options map[string]string,
) (string, error) {
	var out strings.Builder
	err := commands.NewClient(p.Conn).Execute(p.Host.withKnownCaller(ctx), &commands.Invocation{
		Name:       name,
		Positional: args,
		Options:    options,
		Format:     "text",
		Stdin:      commands.NoInput,
		Stdout:     &out,
		Stderr:     &out,
	})
	return out.String(), err
}
