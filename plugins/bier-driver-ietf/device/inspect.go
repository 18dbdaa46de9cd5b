package device

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/plugins/bier-driver-ietf/dialect"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// missingAbilities are the abilities that the router's modules have no place for.
func (l *link) missingAbilities() (out []string) {
	if l.dialect == nil {
		return nil
	}
	if l.dialect.StateFilter() == nil {
		out = append(out, "forwarding")
	}
	if !dialect.Pings(l.caps) {
		out = append(out, "ping")
	}
	return out
}

// Forwarding implements bierdriver.Forwarder.
func (d *Driver) Forwarding(
	ctx context.Context,
	r *bierdriver.Router,
) (out []*bierdriver.Forwarding, err error) {
	err = d.withLink(ctx, r, func(l *link) error {
		filter := l.dialect.StateFilter()
		if filter == nil {
			return fault.New(
				fault.Unsupported,
				"this router's model (%s) has no forwarding table to read",
				l.dialect.Name,
			)
		}
		op := netconf.StateOp(l.caps, filter...)
		data, err := l.sendOperation(ctx, op).Data(op)
		if err != nil {
			return toDeviceError(err)
		}
		if out, err = l.dialect.Forwarding(data); err != nil {
			return fault.Device(fault.Downstream, "%s", err)
		}
		return nil
	})
	return out, err
}

// Ping implements bierdriver.Pinger.
func (d *Driver) Ping(
	ctx context.Context,
	r *bierdriver.Router,
	targets []*bierdriver.Member,
	count int,
) (out []*bierdriver.PingReply, err error) {
	err = d.withLink(ctx, r, func(l *link) error {
		if !dialect.Pings(l.caps) {
			return fault.New(
				fault.Unsupported,
				"this router's model has no ping over BIER: it does not announce ietf-connectionless-oam-methods and ietf-bier-rpcs",
			)
		}
		c, err := l.readConfig(ctx)
		if err != nil {
			return toDeviceError(err)
		}
		for _, t := range targets {
			op, err := dialect.Ping(c, t, count)
			if err != nil {
				return fault.Device(fault.Downstream, "%s", err)
			}
			l.sent++
			// routers send one a second
			wait, cancel := context.WithTimeout(
				ctx,
				l.set.RPC.Duration+time.Duration(count)*time.Second,
			)
			answer := l.session.DoAll(wait, op)[0]
			cancel()
			if answer.Err != nil {
				return toDeviceError(answer.Err)
			}
			p, err := dialect.Pong(answer.Reply.Data)
			if err != nil {
				return fault.Device(fault.Downstream, "%s", err)
			}
			out = append(out, p)
		}
		return nil
	})
	return out, err
}

// errUnreadable is a router whose configuration makes no sense to us.
var errUnreadable = errors.New("the router's configuration cannot be read")

// readTree reads what the router holds of ours.
func (l *link) readTree(ctx context.Context) (*xmltree.Node, error) {
	op := l.getConfigOp(nil)
	return l.sendOperation(ctx, op).Data(op)
}

// getConfigOp is the request for part of it; nil: all.
func (l *link) getConfigOp(part []*xmltree.Node) netconf.Operation {
	if part == nil {
		part = l.dialect.Filter()
	}
	return netconf.GetConfigOp(netconf.Running, part...)
}

// readConfig returns the configuration. What a dialect cannot distinguish is reported as it was
// applied last, as long as the router still holds that.
func (l *link) readConfig(ctx context.Context) (*bierdriver.Config, error) {
	have, err := l.readTree(ctx)
	if err != nil {
		return nil, err
	}
	if last := l.memory.lastConfig(l.router.NodeId); last != nil {
		if want, err := l.dialect.Want(last); err == nil {
			if len(l.dialect.Diff(have, want).Edits) == 0 {
				return proto.CloneOf(last), nil
			}
		}
	}
	c, err := l.dialect.Read(have)
	if err != nil {
		return nil, errors.Join(errUnreadable, err)
	}
	return c, nil
}

// findDrift says how the router differs from what was applied last; none: not at all,
// or nothing was applied yet.
func (l *link) findDrift(ctx context.Context) ([]string, error) {
	last := l.memory.lastConfig(l.router.NodeId)
	if last == nil {
		return nil, nil
	}
	have, err := l.readTree(ctx)
	if err != nil {
		return nil, err
	}
	want, err := l.dialect.Want(last)
	if err != nil {
		return nil, err
	}
	return l.dialect.Diff(have, want).Lines, nil
}

func kindOf(err error) fault.Kind {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Timeout
	case netconf.Refused(err) != nil, errors.Is(err, netconf.ErrUnclear), errors.Is(err, errUnreadable):
		return fault.Downstream
	}
	return fault.Unavailable
}
