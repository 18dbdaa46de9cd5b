package device

import (
	"context"
	"time"

	"ctl.internal/internal/netconf"
	"ctl.internal/plugins/bier-driver-ietf/dialect"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// lacks are the abilities that the router's modules have no place for.
func (l *link) lacks() (out []string) {
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
func (d *Driver) Forwarding(ctx context.Context, r *bierdriver.Router) (out []*bierdriver.Forwarding, err error) {
	err = d.with(ctx, r, func(l *link) error {
		filter := l.dialect.StateFilter()
		if filter == nil {
			return fault.New(fault.Unsupported, "this router's model (%s) shows no forwarding table", l.dialect.Name)
		}
		op := netconf.StateOp(l.caps, filter...)
		data, err := l.one(ctx, op).Data(op)
		if err != nil {
			return device(err)
		}
		if out, err = l.dialect.Forwarding(data); err != nil {
			return fault.Device(fault.Downstream, "%s", err)
		}
		return nil
	})
	return out, err
}

// Ping implements bierdriver.Pinger.
func (d *Driver) Ping(ctx context.Context, r *bierdriver.Router, targets []*bierdriver.Member, count int) (out []*bierdriver.PingReply, err error) {
	err = d.with(ctx, r, func(l *link) error {
		if !dialect.Pings(l.caps) {
			return fault.New(fault.Unsupported, "this router's model has no ping over BIER: it does not announce ietf-connectionless-oam-methods and ietf-bier-rpcs")
		}
		c, err := l.read(ctx)
		if err != nil {
			return device(err)
		}
		for _, t := range targets {
			op, err := dialect.Ping(c, t, count)
			if err != nil {
				return fault.Device(fault.Downstream, "%s", err)
			}
			l.sent++
			wait, cancel := context.WithTimeout(ctx, l.set.RPC.Duration+time.Duration(count)*time.Second) // routers send one a second
			answer := l.session.DoAll(wait, op)[0]
			cancel()
			if answer.Err != nil {
				return device(answer.Err)
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
