package bierdriver

import (
	"context"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Register serves a driver on a gRPC server; sdk.Serve does this for a plugin.
// name is the plugin's; driver returns the driver, or why there is none yet.
func Register(s grpc.ServiceRegistrar, name string, driver func() (Driver, error)) {
	pluginv1.RegisterBierDriverServer(s, &server{name: name, driver: driver})
}

type server struct {
	pluginv1.UnimplementedBierDriverServer
	name   string
	driver func() (Driver, error)
}

func (s *server) DescribeBierDriver(context.Context, *pluginv1.DescribeBierDriverRequest) (*pluginv1.DescribeBierDriverResponse, error) {
	d, err := s.driver()
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	x := d.Describe()
	return &pluginv1.DescribeBierDriverResponse{Name: s.name, Capabilities: x.Capabilities, Dialects: x.Dialects,
		Priority: x.Priority, Probes: x.Probes, Members: x.Members}, nil
}

// reach returns the driver for a call to a router.
func (s *server) reach(r *Router) (Driver, error) {
	if r.GetNodeId() == "" || r.GetHost() == "" {
		return nil, fault.New(fault.Invalid, "the router needs a node-id and a host")
	}
	return s.driver()
}

func (s *server) ProbeBier(ctx context.Context, q *pluginv1.ProbeBierRequest) (*Probe, error) {
	d, err := s.reach(q.Router)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	a, err := d.Probe(ctx, q.Router)
	return a, fault.ToStatus(err)
}

func (s *server) ApplyBier(ctx context.Context, q *pluginv1.ApplyBierRequest) (*Result, error) {
	d, err := s.reach(q.Router)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	c := q.Config
	if c == nil {
		c = &Config{}
	}
	a, err := d.Apply(ctx, q.Router, c, q.DryRun)
	return a, fault.ToStatus(err)
}

func (s *server) ReadBier(ctx context.Context, q *pluginv1.ReadBierRequest) (*Observed, error) {
	d, err := s.reach(q.Router)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	a, err := d.Read(ctx, q.Router)
	return a, fault.ToStatus(err)
}
