package bierdriver

import (
	"context"
	"slices"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Register serves a driver on a gRPC server; sdk.Serve does this for a plugin.
// name is the plugin's; driver returns the driver, or why it is not ready yet.
func Register(s grpc.ServiceRegistrar, name string, driver func() (Driver, error)) {
	pluginv1.RegisterBierDriverServer(s, &server{
		name:   name,
		driver: driver,
	})
}

type server struct {
	pluginv1.UnimplementedBierDriverServer
	name   string
	driver func() (Driver, error)
}

func (s *server) DescribeBierDriver(
	context.Context,
	*pluginv1.DescribeBierDriverRequest,
) (*pluginv1.DescribeBierDriverResponse, error) {
	d, err := s.driver()
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	x := d.Describe()
	return &pluginv1.DescribeBierDriverResponse{
		Name:         s.name,
		Capabilities: x.Capabilities,
		Dialects:     x.Dialects,
		Priority:     x.Priority,
		Probes:       x.Probes,
		Members:      x.Members,
		Lacks:        append(slices.Clip(x.Lacks), missingAbilities(d)...),
	}, nil
}

// driverFor returns the driver for a call to a router.
func (s *server) driverFor(r *Router) (Driver, error) {
	if r.GetNodeId() == "" || r.GetHost() == "" {
		return nil, fault.New(fault.Invalid, "the router needs a node-id and a host")
	}
	return s.driver()
}

// callDriver asks the driver about a router.
func callDriver[T any](s *server, r *Router, do func(Driver) (T, error)) (answer T, err error) {
	d, err := s.driverFor(r)
	if err == nil {
		answer, err = do(d)
	}
	return answer, fault.ToStatus(err)
}

func (s *server) ProbeBier(ctx context.Context, q *pluginv1.ProbeBierRequest) (*Probe, error) {
	return callDriver(s, q.Router, func(d Driver) (*Probe, error) {
		return d.Probe(ctx, q.Router)
	})
}

func (s *server) ApplyBier(stream grpc.BidiStreamingServer[pluginv1.ApplyBierRequest, Result]) error {
	q, err := stream.Recv()
	if err != nil {
		return err
	}
	d, err := s.driverFor(q.Router)
	if err != nil {
		return fault.ToStatus(err)
	}
	c := q.Config
	if c == nil {
		c = &Config{}
	}
	var permit Permit
	if !q.DryRun {
		permit = asking{stream}
	}
	a, err := d.Apply(stream.Context(), q.Router, c, permit)
	if err != nil {
		return fault.ToStatus(err)
	}
	return stream.Send(a)
}

// asking is the permit of the caller.
type asking struct {
	stream grpc.BidiStreamingServer[pluginv1.ApplyBierRequest, Result]
}

// Begin implements Permit.
func (a asking) Begin(_ context.Context, session string) ([]string, error) {
	p, err := a.askPermit(&pluginv1.BierAsk{
		Step:    pluginv1.BierAsk_STEP_BEGIN,
		Session: session,
	})
	return p.GetFormerSessions(), err
}

// Commit implements Permit.
func (a asking) Commit(context.Context) error {
	_, err := a.askPermit(&pluginv1.BierAsk{Step: pluginv1.BierAsk_STEP_COMMIT})
	return err
}

func (a asking) askPermit(q *pluginv1.BierAsk) (*pluginv1.BierPermit, error) {
	err := a.stream.Send(&Result{Ask: q})
	var r *pluginv1.ApplyBierRequest
	if err == nil {
		r, err = a.stream.Recv()
	}
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, err, "the caller of the change has disconnected")
	case r.Permit == nil:
		return nil, fault.New(
			fault.Malformed,
			"a permit was requested, but the answer is something else",
		)
	case r.Permit.Forbidden != "":
		return nil, fault.New(fault.Unavailable, "%s", r.Permit.Forbidden)
	}
	return r.Permit, nil
}

func (s *server) ReadBier(ctx context.Context, q *pluginv1.ReadBierRequest) (*Observed, error) {
	return callDriver(s, q.Router, func(d Driver) (*Observed, error) {
		return d.Read(ctx, q.Router)
	})
}
