package sdk

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"slices"

	"google.golang.org/grpc"

	"ctl.internal/internal/wire/link"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/realm"
	"ctl.internal/sdk/routes"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
	"ctl.internal/sdk/topology"
)

// Plugin is what serves, one field for each capability; nil ones are not served.
// Which of them are set must agree with the manifest's capabilities.
type Plugin struct {
	Operations   operations.Handler
	Routes       http.Handler // gets paths with the subtree's prefix; package caller says who calls
	Commands     []commands.Command
	Realm        realm.Factory
	SwitchDriver switchdriver.Driver
	BierDriver   bierdriver.Driver
	Topology     topology.Source
	// State is what the plugin's data follows, and Check refuses or completes changes that
	// others make to the trees of the manifest's `owns`: it reads the state as it would be
	// from tx. Both are set when there are such trees.
	State *state.Store
	Check func(ctx context.Context, tx *state.Tx) error
	// Stop ends the plugin in order; ctx carries the grace the host gives.
	Stop func(ctx context.Context) error
}

// capabilities are all that a manifest may list. The name is that of the service in proto/, in lower case; the second
// column its field of Plugin.
var capabilities = []capability{
	newCapability("operations", func(p *Plugin) operations.Handler {
		return p.Operations
	}, operations.Register),
	newCapability("routes", func(p *Plugin) http.Handler {
		return p.Routes
	}, routes.Register),
	newCapability("commands", func(p *Plugin) []commands.Command {
		return p.Commands
	}, commands.Register),
	newCapability("realm", func(p *Plugin) realm.Factory {
		return p.Realm
	}, realm.Register),
	newCapability("switchdriver", func(p *Plugin) switchdriver.Driver {
		return p.SwitchDriver
	}, switchdriver.Register),
	newCapability("bierdriver", func(p *Plugin) bierdriver.Driver {
		return p.BierDriver
	}, bierdriver.Register),
	newCapability("topology", func(p *Plugin) topology.Source {
		return p.Topology
	}, topology.Register),
}

// capability is one row of the table.
type capability struct {
	name string
	has  func(*Plugin) bool
	// register serves it on g, from what the plugin has when a call comes.
	register func(s *Server, g grpc.ServiceRegistrar)
}

// newCapability makes a row. register gets the plugin's name, and a function for what serves, or why nothing does yet.
func newCapability[T any](
	name string,
	field func(*Plugin) T,
	register func(grpc.ServiceRegistrar, string, func() (T, error)),
) capability {
	return capability{
		name: name,
		has: func(p *Plugin) bool {
			v := field(p)
			return !reflect.ValueOf(&v).Elem().IsZero()
		},
		register: func(s *Server, g grpc.ServiceRegistrar) {
			register(g, s.manifest.Name, func() (v T, err error) {
				p, err := s.currentPlugin()
				if err == nil {
					v = field(p)
				}
				return v, err
			})
		},
	}
}

// capabilityNames lists the table.
func capabilityNames() []string {
	names := make([]string, len(capabilities))
	for i, c := range capabilities {
		names[i] = c.name
	}
	return names
}

// Register puts the base service and the manifest's capabilities on a gRPC server.
// The handlers are those of the plugin that Configure makes later.
func (s *Server) Register(server *grpc.Server) {
	g := services{link.NewServer(server, s.interceptUnary), s}
	pluginv1.RegisterBaseServer(g, base{Server: s})
	if len(s.manifest.Owns) > 0 {
		pluginv1.RegisterTreesServer(g, treesServer{s: s})
	}
	for _, c := range capabilities {
		if slices.Contains(s.manifest.Capabilities, c.name) {
			c.register(s, g)
		}
	}
}

// services registers services, and notes those that must be closed with the plugin.
type services struct {
	grpc.ServiceRegistrar
	s *Server
}

// RegisterService implements grpc.ServiceRegistrar.
func (r services) RegisterService(d *grpc.ServiceDesc, impl any) {
	if c, ok := impl.(io.Closer); ok {
		r.s.closers = append(r.s.closers, c)
	}
	r.ServiceRegistrar.RegisterService(d, impl)
}
