package device

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// errUnreadable is a router whose configuration makes no sense to us.
var errUnreadable = errors.New("the router's configuration cannot be read")

// tree reads what the router holds of ours.
func (l *link) tree(ctx context.Context) (*xmltree.Node, error) {
	op := l.get(nil)
	return l.one(ctx, op).Data(op)
}

// get is the request for part of it; nil: all.
func (l *link) get(part []*xmltree.Node) netconf.Operation {
	if part == nil {
		part = l.dialect.Filter()
	}
	return netconf.GetConfigOp(netconf.Running, part...)
}

// read returns the configuration. What a dialect cannot distinguish is reported as it was
// applied last, as long as the router still holds that.
func (l *link) read(ctx context.Context) (*bierdriver.Config, error) {
	have, err := l.tree(ctx)
	if err != nil {
		return nil, err
	}
	if last := l.memory.of(l.router.NodeId); last != nil {
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

// drifted says how the router differs from what was applied last; none: not at all,
// or nothing was applied yet.
func (l *link) drifted(ctx context.Context) ([]string, error) {
	last := l.memory.of(l.router.NodeId)
	if last == nil {
		return nil, nil
	}
	have, err := l.tree(ctx)
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
