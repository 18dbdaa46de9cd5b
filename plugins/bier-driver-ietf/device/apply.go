package device

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/netconf"
	"ctl.internal/sdk/netconf/xmltree"
)

// Apply is of the contract.
func (d *Driver) Apply(ctx context.Context, r *bierdriver.Router, c *bierdriver.Config, dryRun bool) (*bierdriver.Result, error) {
	l, err := d.enter(r)
	if err != nil {
		return nil, err
	}
	defer d.leave(l)
	if err := l.take(ctx); err != nil {
		return &bierdriver.Result{State: bierdriver.Pending, Reason: "the router is busy with another call", Session: l.state()}, nil
	}
	defer l.give()
	l.sent = 0
	a := &bierdriver.Result{}
	a.Edits, err = l.apply(ctx, c, dryRun)
	a.State, a.Reason = outcome(err)
	l.notice()
	a.Messages, a.Session = l.sent, l.state()
	return a, nil
}

// errRefusedHere is a fault that repeating does not cure.
var errRefusedHere = errors.New("")

// outcome sorts an error: what may be better at the next try is pending.
func outcome(err error) (bierdriver.Outcome, string) {
	if err == nil {
		return bierdriver.Applied, ""
	}
	reason := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	var key *netconf.HostKeyError
	no := netconf.Refused(err)
	switch {
	case no.Has("in-use"), no.Has("lock-denied"), no.Has("resource-denied"):
		return bierdriver.Pending, reason
	case no != nil, errors.Is(err, netconf.ErrUnclear), errors.Is(err, netconf.ErrLogin), errors.As(err, &key),
		errors.Is(err, errRefusedHere), errors.Is(err, errUnreadable):
		return bierdriver.Failed, reason
	}
	return bierdriver.Pending, reason
}

func (l *link) apply(ctx context.Context, c *bierdriver.Config, dryRun bool) ([]string, error) {
	if err := l.connect(ctx); err != nil {
		if l.session != nil && l.session.Err() == nil {
			err = fmt.Errorf("%w%w", errRefusedHere, err) // reached, but there is no dialect for it
		}
		return nil, err
	}
	want, err := l.dialect.Want(c)
	if err != nil {
		return nil, fmt.Errorf("%w%w", errRefusedHere, err)
	}
	var lines []string
	if dryRun {
		have, err := l.tree(ctx)
		if err == nil {
			_, lines = l.dialect.Diff(have, want)
		}
		return lines, err
	}
	ds := netconf.Running
	if l.caps.Has(netconf.Candidate) {
		ds = netconf.CandidateDS
	}
	err = l.locked(ctx, ds, func() error {
		have, err := l.tree(ctx)
		if err != nil {
			return err
		}
		var edits []*xmltree.Node
		if edits, lines = l.dialect.Diff(have, want); len(edits) == 0 {
			return nil
		}
		if ds == netconf.CandidateDS {
			return l.commit(ctx, edits, want)
		}
		return l.write(ctx, edits, have, want)
	})
	if err == nil {
		l.memory.keep(l.router.NodeId, c)
	}
	return lines, err
}

// locked holds the lock of a datastore. A session that ended has none any more.
func (l *link) locked(ctx context.Context, ds netconf.Datastore, do func() error) error {
	if err := l.ok(ctx, netconf.LockOp(ds)); err != nil {
		return fmt.Errorf("locking %s: %w", ds, err)
	}
	err := do()
	if l.session.Err() == nil {
		if err := l.after(ctx, netconf.UnlockOp(ds)); err != nil {
			l.log.Warn("unlocking", "datastore", ds, "error", err)
		}
	}
	return err
}

// after does what must be done although the caller's time may be over.
func (l *link) after(ctx context.Context, op netconf.Operation) error {
	if l.session.Err() != nil {
		return nil
	}
	return l.ok(context.WithoutCancel(ctx), op)
}
