package sdk

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/internal/nearest"
	"ctl.internal/internal/wire"
	"ctl.internal/internal/yang"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/operations"
)

// Server serves a plugin's contract on a gRPC server. Authors call Serve; tests
// (package plugintest) use a Server without a process of its own.
type Server struct {
	options  Options
	manifest *pluginv1.Manifest
	metrics  *metrics
	health   *health
	spans    atomic.Pointer[spans] // nil: none are made

	hostClient atomic.Pointer[host.Client] // nil before Configure
	// The plugin once New has made it; nil before Configure and after Stop.
	plugin atomic.Pointer[Plugin]

	mu      sync.Mutex
	state   lifecycle
	cancel  context.CancelFunc
	closers []io.Closer // services that end with the plugin
	done    chan struct{}
}

type lifecycle int

const (
	idle lifecycle = iota
	running
	stopped
)

// NewServer checks the manifest and returns a server for it.
func NewServer(o Options) (*Server, error) {
	m, err := buildManifest(o)
	if err != nil {
		return nil, err
	}
	if o.New == nil {
		return nil, errors.New("sdk.Options.New is required")
	}
	return &Server{
		options:  o,
		manifest: m,
		metrics:  newMetrics(),
		health:   newHealth(),
		done:     make(chan struct{}),
	}, nil
}

// Manifest returns what Describe answers.
func (s *Server) Manifest() *pluginv1.Manifest {
	return s.manifest
}

// Done is closed when the plugin has stopped.
func (s *Server) Done() <-chan struct{} { return s.done }

// base is the service that every plugin serves.
type base struct {
	pluginv1.UnimplementedBaseServer
	*Server
}

// Describe implements the base service.
func (s base) Describe(
	context.Context,
	*pluginv1.DescribeRequest,
) (*pluginv1.DescribeResponse, error) {
	return &pluginv1.DescribeResponse{Manifest: s.manifest}, nil
}

// Configure implements the base service: it makes the plugin.
func (s base) Configure(
	ctx context.Context,
	r *pluginv1.ConfigureRequest,
) (*pluginv1.ConfigureResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != idle {
		return nil, fault.ToStatus(fault.New(
			fault.InUse,
			"the plugin is configured already; start a new process to configure it again",
		))
	}
	if !slices.Contains(wire.APIVersions, r.ApiVersion) {
		return nil, fault.ToStatus(fault.New(
			fault.Unsupported,
			"the host selected contract version %q; this plugin supports %v",
			r.ApiVersion,
			wire.APIVersions,
		))
	}
	if os.Getenv(wire.Handshake.MagicCookieKey) != "" { // a process that the host started: from here on it has secrets
		closeMemory()
	}
	client, err := dialHost(ctx, r)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	if os.Getenv(wire.EnvTraces) == "1" {
		s.spans.Store(newSpans(s.manifest, client))
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	env := &Env{
		Config:  r.Config,
		DataDir: r.DataDir,
		Host:    client,
		Facets:  r.Facets,
		Health:  s.health.setHealth,
		Metrics: s.metrics.registry,
	}
	p, err := s.options.New(run, env)
	if err == nil {
		err = s.checkAgreement(p)
	}
	if err != nil {
		cancel()
		s.endSpans(ctx)
		_ = client.Close()
		return nil, fault.ToStatus(err)
	}
	s.plugin.Store(p)
	s.hostClient.Store(client)
	s.state, s.cancel = running, cancel
	releasePages()
	return &pluginv1.ConfigureResponse{Warnings: env.warnings}, nil
}

// checkAgreement refuses a plugin that does not serve what its manifest says.
func (s *Server) checkAgreement(p *Plugin) error {
	if p == nil {
		return fault.New(fault.Internal, "New returned no plugin and no error")
	}
	owns := len(s.manifest.Owns) > 0
	if owns != (p.Check != nil) || owns != (p.State != nil) && owns {
		return fault.New(
			fault.Internal,
			"plugin.yaml and the plugin disagree: `owns` goes with Plugin.State and Plugin.Check",
		)
	}
	if len(s.manifest.Derives) > 0 && len(s.manifest.Owns) == 0 {
		return fault.New(
			fault.Internal,
			"plugin.yaml: `derives` is for a plugin whose trees, in `owns`, are made of others",
		)
	}
	for _, c := range capabilities {
		if stated := slices.Contains(s.manifest.Capabilities, c.name); stated != c.has(p) {
			return fault.New(fault.Internal, "plugin.yaml and the plugin disagree about the capability %q: stated %v, served %v",
				c.name, stated, !stated)
		}
	}
	return s.agreeRPCs(p)
}

// agreeRPCs refuses a Mux without a handler for each RPC and action of the modules, or with one for another.
func (s *Server) agreeRPCs(p *Plugin) error {
	mux, ok := p.Operations.(operations.Mux)
	if !ok {
		return nil
	}
	var all []string
	for _, r := range s.manifest.Rpcs {
		all = append(all, r.Module+":"+r.Name)
		if mux[all[len(all)-1]] == nil {
			return fault.New(
				fault.Internal,
				"the RPC %s has no handler in Plugin.Operations",
				all[len(all)-1],
			)
		}
	}
	actions, known := s.actions()
	for _, name := range actions {
		if mux[name] == nil {
			return fault.New(
				fault.Internal,
				"the action %s has no handler in Plugin.Operations",
				name,
			)
		}
	}
	all = append(all, actions...)
	for _, name := range slices.Sorted(maps.Keys(mux)) {
		if !slices.Contains(all, name) && (known || !strings.HasPrefix(name, "/")) {
			const text = "Plugin.Operations has a handler for %s, an RPC or action that no module of the plugin has%s"
			return fault.New(fault.Internal, text, name, nearest.Hint(name, all))
		}
	}
	return nil
}

// actions lists the actions of the modules that the plugin implements. They are not known where a module imports one that
// another plugin ships.
func (s *Server) actions() (names []string, known bool) {
	src := yang.Source{
		Name:  s.manifest.Name,
		Files: map[string][]byte{},
	}
	some := false
	for _, m := range s.manifest.YangModules {
		src.Files[m.Name+".yang"] = []byte(m.Text)
		some = some || m.Implemented && strings.Contains(m.Text, "action")
	}
	if !some {
		return nil, true
	}
	set, err := yang.Load(src)
	if err != nil {
		return nil, false
	}
	for _, m := range s.manifest.YangModules {
		if name, _, _ := strings.Cut(m.Name, "@"); m.Implemented {
			names = append(names, set.Actions(name)...)
		}
	}
	return names, true
}

// Stop implements the base service. It may be called again; the first call stops.
func (s base) Stop(ctx context.Context, r *pluginv1.StopRequest) (*pluginv1.StopResponse, error) {
	grace := 10 * time.Second
	if r.Grace != nil && r.Grace.AsDuration() > 0 {
		grace = r.Grace.AsDuration()
	}
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	return &pluginv1.StopResponse{}, fault.ToStatus(s.stop(ctx))
}

func (s *Server) stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == stopped {
		return nil
	}
	was := s.state
	s.state = stopped
	defer close(s.done)
	if was == idle {
		return nil
	}
	var err error
	if p := s.plugin.Load(); p.Stop != nil {
		err = p.Stop(ctx)
	}
	s.cancel()
	for _, c := range s.closers {
		err = cmp.Or(err, c.Close())
	}
	s.endSpans(ctx)
	return cmp.Or(err, s.hostClient.Load().Close())
}

// endSpans sends the last spans; there will be no more.
func (s *Server) endSpans(ctx context.Context) {
	if spans := s.spans.Swap(nil); spans != nil {
		spans.close(ctx)
	}
}

// Health implements the base service.
func (s base) Health(
	_ *pluginv1.HealthRequest,
	stream grpc.ServerStreamingServer[pluginv1.HealthResponse],
) error {
	return s.Server.health.watchHealth(stream.Context(), s.done, stream.Send)
}

// Metrics implements the base service.
func (s base) Metrics(
	context.Context,
	*pluginv1.MetricsRequest,
) (*pluginv1.MetricsResponse, error) {
	text, err := s.Server.metrics.formatText()
	return &pluginv1.MetricsResponse{Text: text}, fault.ToStatus(err)
}

// treesServer answers the host when others change the plugin's trees.
type treesServer struct {
	pluginv1.UnimplementedTreesServer
	s *Server
}

// Check implements the service Trees.
func (t treesServer) Check(
	ctx context.Context,
	r *pluginv1.CheckRequest,
) (*pluginv1.CheckResponse, error) {
	p, err := t.s.currentPlugin()
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	changes := make([]host.Event, len(r.Changes))
	for i, c := range r.Changes {
		changes[i] = host.Event{
			Entry:   host.Entry{Key: c.Key, Value: c.Value},
			Deleted: c.Deleted,
		}
	}
	ctx = caller.FromProto(ctx, r.Caller)
	txn, err := p.State.Check(ctx, r.Revision, changes, p.Check)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	out := &pluginv1.CheckResponse{}
	out.Compares, out.Ops = txn.Proto()
	return out, nil
}

// currentPlugin returns the plugin, or why it is not ready.
func (s *Server) currentPlugin() (*Plugin, error) {
	if p := s.plugin.Load(); p != nil {
		return p, nil
	}
	return nil, fault.New(fault.Unavailable, "the plugin %s is not configured yet", s.manifest.Name)
}
