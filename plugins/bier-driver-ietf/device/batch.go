package device

import (
	"context"
	"errors"

	"ctl.internal/internal/netconf"
)

// errNotSent is what became of a request after one that failed.
var errNotSent = errors.New("it was not sent, because what it depends on failed")

// together sends requests in one piece and waits for all answers: the way to the
// router costs once. A router that leaves one of several unanswered may not bear
// that; from then on its requests are sent one by one, up to the first that fails.
func (l *link) together(ctx context.Context, ops ...netconf.Operation) []netconf.Answer {
	if len(ops) > 1 && l.memory.oneByOne(l.router.NodeId) {
		return l.singly(ctx, ops)
	}
	ctx, cancel := l.call(ctx, len(ops))
	defer cancel()
	out := l.session.DoAll(ctx, ops...)
	if len(ops) > 1 && errors.Is(ctx.Err(), context.DeadlineExceeded) && l.session.Err() != nil {
		l.log.Warn("the router left one of several requests unanswered; they are sent one by one from now on", "error", l.session.Err())
		l.memory.beSlow(l.router.NodeId)
	}
	return out
}

func (l *link) singly(ctx context.Context, ops []netconf.Operation) []netconf.Answer {
	out := make([]netconf.Answer, len(ops))
	failed := false
	for i, op := range ops {
		if failed {
			out[i].Err = errNotSent
			continue
		}
		out[i] = l.one(ctx, op)
		failed = out[i].Err != nil
	}
	return out
}

// one sends one request with its own deadline.
func (l *link) one(ctx context.Context, op netconf.Operation) netconf.Answer {
	ctx, cancel := l.call(ctx, 1)
	defer cancel()
	return l.session.DoAll(ctx, op)[0]
}
