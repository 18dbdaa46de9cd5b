package bierdriver

import (
	"context"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// What a driver may do besides: for each ability its interface, the client's call, and the server's.

// Checker is what a Driver implements, too, that knows without asking the router what it cannot write to it.
type Checker interface {
	// Check says which parts of a configuration cannot be written to a router of this kind. It does
	// no I/O. fault.Unavailable: it cannot say yet, since the router was never reached.
	Check(ctx context.Context, r *Router, c *Config) (*Checked, error)
}

// Check is Checker.Check; a fault.Unsupported where the driver does not have it.
func (c *Client) Check(ctx context.Context, r *Router, cfg *Config) (*Checked, error) {
	a, err := c.rpc.CheckBier(ctx, &pluginv1.CheckBierRequest{
		Router: r,
		Config: cfg,
	})
	return a, fault.FromStatus(err)
}

func (s *server) CheckBier(ctx context.Context, q *pluginv1.CheckBierRequest) (*Checked, error) {
	return callDriver(s, q.Router, func(d Driver) (*Checked, error) {
		x, ok := d.(Checker)
		if !ok {
			return nil, fault.New(
				fault.Unsupported,
				"the driver %s cannot say what it can write without trying",
				s.name,
			)
		}
		if q.Config == nil {
			q.Config = &Config{}
		}
		return x.Check(ctx, q.Router, q.Config)
	})
}

// Forwarder is what a Driver implements, too, that can read what a router has made of its
// configuration.
type Forwarder interface {
	// Forwarding returns the forwarding tables that the router uses, with counters where it
	// counts. Errors are those of Driver.Read.
	Forwarding(ctx context.Context, r *Router) ([]*Forwarding, error)
}

// Forwarding is Forwarder.Forwarding; a fault.Unsupported where the driver does not have it.
func (c *Client) Forwarding(ctx context.Context, r *Router) ([]*Forwarding, error) {
	a, err := c.rpc.ReadBierForwarding(ctx, &pluginv1.ReadBierForwardingRequest{Router: r})
	return a.GetTables(), fault.FromStatus(err)
}

func (s *server) ReadBierForwarding(
	ctx context.Context,
	q *pluginv1.ReadBierForwardingRequest,
) (*pluginv1.ReadBierForwardingResponse, error) {
	return callDriver(s, q.Router, func(d Driver) (*pluginv1.ReadBierForwardingResponse, error) {
		f, ok := d.(Forwarder)
		if !ok {
			return nil, fault.New(
				fault.Unsupported,
				"the driver %s cannot read forwarding tables",
				s.name,
			)
		}
		tables, err := f.Forwarding(ctx, q.Router)
		return &pluginv1.ReadBierForwardingResponse{Tables: tables}, err
	})
}

// Deliverer is what a Driver implements, too, that can read what a router does with the packets of a channel.
type Deliverer interface {
	// Delivery returns counters and receivers of channels, in their order. Errors are those of
	// Driver.Read.
	Delivery(ctx context.Context, r *Router, channels []*Channel) ([]*Delivery, error)
}

// Delivery is Deliverer.Delivery; a fault.Unsupported where the driver does not have it.
func (c *Client) Delivery(
	ctx context.Context,
	r *Router,
	channels []*Channel,
) ([]*Delivery, error) {
	a, err := c.rpc.ReadBierDelivery(
		ctx,
		&pluginv1.ReadBierDeliveryRequest{
			Router:   r,
			Channels: channels,
		},
	)
	return a.GetChannels(), fault.FromStatus(err)
}

func (s *server) ReadBierDelivery(
	ctx context.Context,
	q *pluginv1.ReadBierDeliveryRequest,
) (*pluginv1.ReadBierDeliveryResponse, error) {
	return callDriver(s, q.Router, func(d Driver) (*pluginv1.ReadBierDeliveryResponse, error) {
		x, ok := d.(Deliverer)
		if !ok {
			return nil, fault.New(
				fault.Unsupported,
				"the driver %s cannot read what routers do with channels",
				s.name,
			)
		}
		list, err := x.Delivery(ctx, q.Router, q.Channels)
		return &pluginv1.ReadBierDeliveryResponse{Channels: list}, err
	})
}

// MaxPings bounds the packets of one ping to one target.
const MaxPings = 100

// Pinger is what a Driver implements, too, whose routers can test the data plane.
type Pinger interface {
	// Ping has the router send count packets (1..100) to each target and returns the
	// answers, in the order of the targets. Errors are those of Driver.Read.
	Ping(ctx context.Context, r *Router, targets []*Member, count int) ([]*PingReply, error)
}

// Ping is Pinger.Ping; a fault.Unsupported where the driver does not have it.
func (c *Client) Ping(
	ctx context.Context,
	r *Router,
	targets []*Member,
	count int,
) ([]*PingReply, error) {
	a, err := c.rpc.PingBier(
		ctx,
		&pluginv1.PingBierRequest{
			Router:  r,
			Targets: targets,
			Count:   uint32(count),
		},
	)
	return a.GetReplies(), fault.FromStatus(err)
}

func (s *server) PingBier(
	ctx context.Context,
	q *pluginv1.PingBierRequest,
) (*pluginv1.PingBierResponse, error) {
	return callDriver(s, q.Router, func(d Driver) (*pluginv1.PingBierResponse, error) {
		p, ok := d.(Pinger)
		switch {
		case !ok:
			return nil, fault.New(
				fault.Unsupported,
				"the routers of driver %s have no ping over BIER",
				s.name,
			)
		case q.Count < 1 || q.Count > MaxPings || len(q.Targets) == 0:
			return nil, fault.New(
				fault.Invalid,
				"a ping needs targets and a count within 1..%d",
				MaxPings,
			)
		}
		replies, err := p.Ping(ctx, q.Router, q.Targets, int(q.Count))
		return &pluginv1.PingBierResponse{Replies: replies}, err
	})
}

// missingAbilities are the abilities that a driver does not have.
func missingAbilities(d Driver) (lacks []string) {
	if _, ok := d.(Forwarder); !ok {
		lacks = append(lacks, ForwardingAbility)
	}
	if _, ok := d.(Pinger); !ok {
		lacks = append(lacks, PingAbility)
	}
	if _, ok := d.(Deliverer); !ok {
		lacks = append(lacks, DeliveryAbility)
	}
	return lacks
}
