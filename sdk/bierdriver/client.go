package bierdriver

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Client is a driver in another process.
type Client struct{ rpc pluginv1.BierDriverClient }

// NewClient returns a client on conn, usually host.Switchboard.Dial.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pluginv1.NewBierDriverClient(conn)}
}

// Describe returns what the driver is for.
func (c *Client) Describe(ctx context.Context) (Description, error) {
	r, err := c.rpc.DescribeBierDriver(ctx, &pluginv1.DescribeBierDriverRequest{})
	if err != nil {
		return Description{}, fault.FromStatus(err)
	}
	return Description{
		Name:         r.Name,
		Capabilities: r.Capabilities,
		Dialects:     r.Dialects,
		Priority:     r.Priority,
		Probes:       r.Probes,
		Members:      r.Members,
		Lacks:        r.Lacks,
	}, nil
}

// Probe is Driver.Probe.
func (c *Client) Probe(ctx context.Context, r *Router) (*Probe, error) {
	a, err := c.rpc.ProbeBier(ctx, &pluginv1.ProbeBierRequest{Router: r})
	return a, fault.FromStatus(err)
}

// Apply is Driver.Apply.
func (c *Client) Apply(
	ctx context.Context,
	r *Router,
	cfg *Config,
	permit Permit,
) (*Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := c.rpc.ApplyBier(ctx)
	if err == nil {
		err = s.Send(&pluginv1.ApplyBierRequest{
			Router: r,
			Config: cfg,
			DryRun: permit == nil,
		})
	}
	for err == nil || errors.Is(err, io.EOF) { // of Send: Recv has the reason
		var a *Result
		if a, err = s.Recv(); err != nil {
			break
		}
		if a.Ask == nil {
			return a, nil
		}
		err = s.Send(&pluginv1.ApplyBierRequest{Permit: answerBIERAsk(ctx, a.Ask, permit)})
	}
	return nil, fault.FromStatus(err)
}

func answerBIERAsk(ctx context.Context, ask *pluginv1.BierAsk, permit Permit) *pluginv1.BierPermit {
	out := &pluginv1.BierPermit{}
	var err error
	switch {
	case permit == nil:
		err = errors.New("this call is to compare only")
	case ask.Step == pluginv1.BierAsk_STEP_BEGIN:
		out.FormerSessions, err = permit.Begin(ctx, ask.Session)
	case ask.Step == pluginv1.BierAsk_STEP_COMMIT:
		err = permit.Commit(ctx)
	default:
		err = errors.New("the driver asks for a step that is not known here")
	}
	if err != nil {
		out.Forbidden = err.Error()
	}
	return out
}

// Read is Driver.Read.
func (c *Client) Read(ctx context.Context, r *Router) (*Observed, error) {
	a, err := c.rpc.ReadBier(ctx, &pluginv1.ReadBierRequest{Router: r})
	return a, fault.FromStatus(err)
}

// Watch opens a stream of what happens to routers. It ends with ctx.
func (c *Client) Watch(ctx context.Context) (*Watch, error) {
	s, err := c.rpc.WatchBier(ctx)
	if err != nil {
		return nil, fault.FromStatus(err)
	}
	return &Watch{s}, nil
}

// Watch is an open stream. Set is for one goroutine, Next for one other.
type Watch struct {
	stream grpc.BidiStreamingClient[pluginv1.WatchBierRequest, pluginv1.WatchBierResponse]
}

// Set adds routers to those watched, or takes them again where they changed, and
// leaves others out by their node-id.
func (w *Watch) Set(put []*Router, remove []string) error {
	return fault.FromStatus(w.stream.Send(&pluginv1.WatchBierRequest{
		Put:    put,
		Remove: remove,
	}))
}

// Next waits for the next event. An error is the end of the stream.
func (w *Watch) Next() (*Event, error) {
	e, err := w.stream.Recv()
	return e, fault.FromStatus(err)
}
