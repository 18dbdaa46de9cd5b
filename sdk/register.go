package sdk

import (
	"context"
	"net/http"

	"google.golang.org/grpc"

	"ctl.internal/internal/wire/link"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/realm"
	"ctl.internal/sdk/routes"
	"ctl.internal/sdk/switchdriver"
	"ctl.internal/sdk/topology"
)

// Register puts the base service and the manifest's capabilities on a gRPC server.
// The handlers are those of the plugin that Configure makes later.
func (s *Server) Register(server *grpc.Server) {
	g := link.NewServer(server, s.unary)
	pluginv1.RegisterBaseServer(g, base{Server: s})
	if len(s.manifest.Owns) > 0 {
		pluginv1.RegisterTreesServer(g, treesServer{s: s})
	}
	for _, c := range s.manifest.Capabilities {
		switch c {
		case "operations":
			operations.Register(g, operations.HandlerFunc(s.invoke))
		case "routes":
			routes.Register(g, http.HandlerFunc(s.serveHTTP))
		case "commands":
			commands.Register(g, s.lateCommands())
		case "realm":
			s.closers = append(s.closers, realm.Register(g, lateRealm{s}))
		case "switchdriver":
			switchdriver.Register(g, s.manifest.Name, s.lateDriver)
		case "bierdriver":
			bierdriver.Register(g, s.manifest.Name, s.lateBierDriver)
		case "topology":
			topology.Register(g, lateTopology{s})
		}
	}
}

func (s *Server) invoke(ctx context.Context, r *operations.Request) (any, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	return p.Operations.Invoke(ctx, r)
}

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	p, err := s.current()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	p.Routes.ServeHTTP(w, r)
}

// lateCommands is the described table with the functions of the plugin that
// serves when a command runs.
func (s *Server) lateCommands() []commands.Command {
	table := append([]commands.Command(nil), s.options.Commands...)
	for i := range table {
		name := table[i].Name
		table[i].Run = func(ctx context.Context, in *commands.Invocation) error {
			c, err := s.command(name)
			if err != nil {
				return err
			}
			return c.Run(ctx, in)
		}
		for j := range table[i].Arguments {
			if table[i].Arguments[j].Complete != nil {
				table[i].Arguments = append([]commands.Argument(nil), table[i].Arguments...)
				table[i].Arguments[j].Complete = func(ctx context.Context, prefix string) []string {
					if c, err := s.command(name); err == nil && j < len(c.Arguments) && c.Arguments[j].Complete != nil {
						return c.Arguments[j].Complete(ctx, prefix)
					}
					return nil
				}
			}
		}
		for j := range table[i].Options {
			if table[i].Options[j].Complete != nil {
				table[i].Options = append([]commands.Option(nil), table[i].Options...)
				table[i].Options[j].Complete = func(ctx context.Context, prefix string) []string {
					if c, err := s.command(name); err == nil && j < len(c.Options) && c.Options[j].Complete != nil {
						return c.Options[j].Complete(ctx, prefix)
					}
					return nil
				}
			}
		}
	}
	return table
}

func (s *Server) command(name string) (commands.Command, error) {
	p, err := s.current()
	if err != nil {
		return commands.Command{}, err
	}
	c, ok := commands.Find(p.Commands, name)
	if !ok || c.Run == nil {
		return c, fault.New(fault.Unsupported, "the plugin %s describes the command %s but does not serve it", s.manifest.Name, name)
	}
	return c, nil
}

func (s *Server) lateDriver() (switchdriver.Driver, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	return p.SwitchDriver, nil
}

func (s *Server) lateBierDriver() (bierdriver.Driver, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	return p.BierDriver, nil
}

type lateRealm struct{ s *Server }

func (l lateRealm) Kinds() []string {
	if p, err := l.s.current(); err == nil {
		return p.Realm.Kinds()
	}
	return nil
}

func (l lateRealm) New(ctx context.Context, c realm.Config) (realm.Realm, []string, error) {
	p, err := l.s.current()
	if err != nil {
		return nil, nil, err
	}
	return p.Realm.New(ctx, c)
}

type lateTopology struct{ s *Server }

func (l lateTopology) Watch(ctx context.Context, ids []string, f func(topology.Change) error, synced func()) error {
	p, err := l.s.current()
	if err != nil {
		return err
	}
	return p.Topology.Watch(ctx, ids, f, synced)
}
