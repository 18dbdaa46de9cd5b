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
	x.Lacks = slices.Clip(x.Lacks)
	if _, ok := d.(Forwarder); !ok {
		x.Lacks = append(x.Lacks, "forwarding")
	}
	if _, ok := d.(Pinger); !ok {
		x.Lacks = append(x.Lacks, "ping")
	}
	return &pluginv1.DescribeBierDriverResponse{Name: s.name, Capabilities: x.Capabilities, Dialects: x.Dialects,
		Priority: x.Priority, Probes: x.Probes, Members: x.Members, Lacks: x.Lacks}, nil
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

func (s *server) ApplyBier(stream grpc.BidiStreamingServer[pluginv1.ApplyBierRequest, Result]) error {
	q, err := stream.Recv()
	if err != nil {
		return err
	}
	d, err := s.reach(q.Router)
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
	p, err := a.ask(&pluginv1.BierAsk{Step: pluginv1.BierAsk_STEP_BEGIN, Session: session})
	return p.GetFormerSessions(), err
}

// Commit implements Permit.
func (a asking) Commit(context.Context) error {
	_, err := a.ask(&pluginv1.BierAsk{Step: pluginv1.BierAsk_STEP_COMMIT})
	return err
}

func (a asking) ask(q *pluginv1.BierAsk) (*pluginv1.BierPermit, error) {
	err := a.stream.Send(&Result{Ask: q})
	var r *pluginv1.ApplyBierRequest
	if err == nil {
		r, err = a.stream.Recv()
	}
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, err, "the caller of the change has disconnected")
	case r.Permit == nil:
		return nil, fault.New(fault.Malformed, "a permit was requested, but the answer is something else")
	case r.Permit.Forbidden != "":
		return nil, fault.New(fault.Unavailable, "%s", r.Permit.Forbidden)
	}
	return r.Permit, nil
}

func (s *server) ReadBier(ctx context.Context, q *pluginv1.ReadBierRequest) (*Observed, error) {
	d, err := s.reach(q.Router)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	a, err := d.Read(ctx, q.Router)
	return a, fault.ToStatus(err)
}

func (s *server) ReadBierForwarding(ctx context.Context, q *pluginv1.ReadBierForwardingRequest) (*pluginv1.ReadBierForwardingResponse, error) {
	d, err := s.reach(q.Router)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	f, ok := d.(Forwarder)
	if !ok {
		return nil, fault.ToStatus(fault.New(fault.Unsupported, "the driver %s cannot read forwarding tables", s.name))
	}
	tables, err := f.Forwarding(ctx, q.Router)
	return &pluginv1.ReadBierForwardingResponse{Tables: tables}, fault.ToStatus(err)
}

func (s *server) PingBier(ctx context.Context, q *pluginv1.PingBierRequest) (*pluginv1.PingBierResponse, error) {
	d, err := s.reach(q.Router)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	p, ok := d.(Pinger)
	switch {
	case !ok:
		return nil, fault.ToStatus(fault.New(fault.Unsupported, "the routers of driver %s have no ping over BIER", s.name))
	case q.Count < 1 || q.Count > MaxPings || len(q.Targets) == 0:
		return nil, fault.ToStatus(fault.New(fault.Invalid, "a ping needs targets and a count within 1..%d", MaxPings))
	}
	replies, err := p.Ping(ctx, q.Router, q.Targets, int(q.Count))
	return &pluginv1.PingBierResponse{Replies: replies}, fault.ToStatus(err)
}

// MaxPings bounds the packets of one ping to one target.
const MaxPings = 100
