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
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

// Plugin is a plugin that runs inside a test.
type Plugin struct {
	// Conn is the connection to it, for the clients of sdk/<capability>.
	Conn     grpc.ClientConnInterface
	Manifest *pluginv1.Manifest
	Host     *Host
	Warnings []string // of its settings

	server *sdk.Server
	stop   func()
}

// Option changes how Start runs a plugin.
type Option func(*options)

type options struct {
	config any
	host   *Host
	facets []string
	data   string
	only   []string
}

// WithConfig gives the plugin settings: anything that encodes to a JSON object.
// They are checked against the manifest's schema and its defaults filled in.
func WithConfig(v any) Option { return func(o *options) { o.config = v } }

// WithHost runs the plugin at a host that the test has prepared, or that another
// plugin of the test uses too.
func WithHost(h *Host) Option { return func(o *options) { o.host = h } }

// WithFacets sets the install facets; "rest", "cli" and "ui" are on by default.
func WithFacets(f ...string) Option { return func(o *options) { o.facets = f } }

// WithDataDir sets the plugin's directory, a temporary one by default.
func WithDataDir(dir string) Option { return func(o *options) { o.data = dir } }

// WithChecks makes Run and Check do only the checks of these names.
func WithChecks(names ...string) Option { return func(o *options) { o.only = names } }

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
	cfg := options{facets: []string{"rest", "cli", "ui"}}
	for _, f := range opts {
		f(&cfg)
	}
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
	config, err := settings(cfg.config, s.Manifest().ConfigSchema)
	if err != nil {
		return nil, err
	}
	p, err := connect(s)
	if err != nil {
		return nil, err
	}
	p.Host = cfg.host
	t.Cleanup(p.Stop)
	token := cfg.host.attach(s.Manifest(), p.Conn)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := pluginv1.NewBaseClient(p.Conn).Configure(ctx, &pluginv1.ConfigureRequest{ApiVersion: wire.Negotiate(s.Manifest().ApiVersions),
		Config: config, DataDir: cfg.data, Facets: cfg.facets, HostSocket: cfg.host.Socket(), HostToken: token})
	if err != nil {
		return nil, fault.FromStatus(err)
	}
	p.Warnings = res.Warnings
	return p, nil
}

// connect serves s on a connection in memory.
func connect(s *sdk.Server) (*Plugin, error) {
	lis := bufconn.Listen(1 << 20)
	g := s.NewGRPC(nil)
	s.Register(g)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.Serve(lis) // ends with Stop
	}()
	conn, err := grpc.NewClient("passthrough:///plugin", wire.DialOptions(
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))...)
	if err != nil {
		return nil, err
	}
	end := func() {
		_ = conn.Close()
		g.Stop()
		<-done
	}
	return &Plugin{Conn: conn, Manifest: s.Manifest(), server: s, stop: end}, nil
}

// Stop stops the plugin in order, as the host does; Start arranges for it.
func (p *Plugin) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, _ = pluginv1.NewBaseClient(p.Conn).Stop(ctx, &pluginv1.StopRequest{})
	p.stop()
}

// settings encodes, completes and checks a plugin's settings.
func settings(v any, schema []byte) ([]byte, error) {
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
	return complete(doc, schema)
}
