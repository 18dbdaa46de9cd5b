package device

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

// commitCandidate uses the candidate datastore. If the router supports confirmed commit, the change is confirmed (last) only
// after it was read back; else the router undoes it.
func (t *try) commitCandidate(ctx context.Context) (last *netconf.Operation, err error) {
	before, err := t.lockRunning(ctx)
	if err != nil {
		return nil, err
	}
	edit := netconf.Edit{
		Target:           netconf.CandidateDS,
		DefaultOperation: "merge",
		Config:           t.change.Edits,
	}
	whole := t.caps.Has(netconf.RollbackOnError)
	confirmed := t.caps.Has(netconf.ConfirmedCommit)
	if whole {
		edit.ErrorOption = "rollback-on-error"
	}
	commit := netconf.CommitOp()
	if confirmed {
		commit = netconf.ConfirmedCommitOp(t.set.Confirm.Duration)
	}
	ops := []netconf.Operation{edit.Operation(), commit, t.getConfigOp(t.change.Filter)}
	var a []netconf.Answer
	if whole &&
		confirmed &&
		t.runningLocked { // a commit after a refused edit changes nothing and is undone
		a = t.sendPipelined(ctx, ops...)
	} else if first := t.sendOperation(ctx, ops[0]); first.OK(ops[0]) == nil {
		if err := t.checkUnchanged(ctx, before); err != nil {
			return nil, errors.Join(err, t.sendUncancelled(ctx, netconf.DiscardOp()))
		}
		if !confirmed { // the change cannot be undone after the commit
			if err := t.permit.Commit(ctx); err != nil {
				return nil, errors.Join(err, t.sendUncancelled(ctx, netconf.DiscardOp()))
			}
		}
		a = append(a, first)
		a = append(a, t.sendPipelined(ctx, ops[1:]...)...)
	} else {
		a = []netconf.Answer{first, {Err: errNotSent}, {Err: errNotSent}}
	}
	edited, committed := a[0].OK(ops[0]), a[1].OK(ops[1])
	switch {
	case edited != nil && committed == nil:
		e := t.sendUncancelled(ctx, netconf.CancelCommitOp())
		if e != nil { // there was nothing to undo
			t.log.Debug("taking back a commit of nothing", "error", e)
		}
		return nil, edited
	case edited != nil:
		return nil, errors.Join(edited, t.sendUncancelled(ctx, netconf.DiscardOp()))
	case committed != nil:
		return nil, errors.Join(committed, t.sendUncancelled(ctx, netconf.DiscardOp()))
	}
	err = t.checkReadBack(ctx, a[2])
	switch {
	case !confirmed:
		return nil, err
	case err != nil:
		return nil, errors.Join(err, t.sendUncancelled(ctx, netconf.CancelCommitOp()))
	}
	op := netconf.CommitOp()
	return &op, nil
}

// errMeanwhile: another client changed running between our edit and our commit, which would have taken
// that change back. The next try makes it again.
var errMeanwhile = errors.New("another client changed the router at the same time")

// lockRunning keeps others from changing running until the commit, and makes the candidate what running is. Where
// running cannot be locked it returns what running holds, all of it.
func (t *try) lockRunning(ctx context.Context) (before *xmltree.Node, err error) {
	lock, discard := netconf.LockOp(netconf.Running), netconf.DiscardOp()
	ops := []netconf.Operation{lock, discard}
	if t.runningLocked {
		ops = ops[1:]
	}
	a := t.sendPipelined(ctx, ops...)
	if err := a[len(a)-1].OK(discard); err != nil && a[0].Err != nil {
		return nil, a[0].Err
	} else if err != nil {
		return nil, fmt.Errorf("discarding changes of the candidate: %w", err)
	}
	if t.runningLocked {
		return nil, nil
	}
	err = a[0].OK(lock)
	no := netconf.Refused(err)
	switch {
	case err == nil:
		t.runningLocked = true
		return nil, nil
	case no == nil, no.Has("in-use"), no.Has("lock-denied"), no.Has("resource-denied"):
		return nil, fmt.Errorf("locking running: %w", err)
	}
	return t.readRunning(ctx)
}

// readRunning is all that running holds.
func (t *try) readRunning(ctx context.Context) (*xmltree.Node, error) {
	op := netconf.GetConfigOp(netconf.Running)
	all, err := t.sendOperation(ctx, op).Data(op)
	if err != nil {
		return nil, fmt.Errorf("reading running, which cannot be locked: %w", err)
	}
	return all, nil
}

// checkUnchanged reports whether running is as it was, where it is not locked.
func (t *try) checkUnchanged(ctx context.Context, before *xmltree.Node) error {
	if t.runningLocked {
		return nil
	}
	now, err := t.readRunning(ctx)
	if err == nil && now.String() != before.String() {
		err = errMeanwhile
	}
	return err
}

// writeRunning changes running. Routers without rollback-on-error may stop half way; then
// the driver restores the former configuration.
func (t *try) writeRunning(ctx context.Context) (last *netconf.Operation, err error) {
	if err := t.permit.Commit(ctx); err != nil {
		return nil, err
	}
	edit := t.editRunning(t.change.Edits)
	a := t.sendPipelined(ctx, edit, t.getConfigOp(t.change.Filter))
	if err = a[0].OK(edit); err == nil {
		if err = t.checkReadBack(ctx, a[1]); err == nil {
			return nil, nil
		}
	} else if t.caps.Has(netconf.RollbackOnError) {
		return nil, err
	}
	return nil, errors.Join(err, t.restoreRunning(context.WithoutCancel(ctx)))
}

func (l *link) editRunning(edits []*xmltree.Node) netconf.Operation {
	e := netconf.Edit{
		Target:           netconf.Running,
		DefaultOperation: "merge",
		Config:           edits,
	}
	if l.caps.Has(netconf.RollbackOnError) {
		e.ErrorOption = "rollback-on-error"
	}
	return e.Operation()
}

// restoreRunning restores the former content of running.
func (t *try) restoreRunning(ctx context.Context) error {
	if t.session.Err() != nil {
		return nil // the next call reads what is there
	}
	now, err := t.readTree(ctx)
	if err != nil {
		return fmt.Errorf("and the state of the router is now unknown: %w", err)
	}
	if edits := t.dialect.Diff(now, t.have).Edits; len(edits) > 0 {
		op := t.editRunning(edits)
		if err := t.sendOperation(ctx, op).OK(op); err != nil {
			return fmt.Errorf("and the change could not be undone: %w", err)
		}
	}
	return nil
}

// checkReadBack compares what was read back of the change. Routers differ in how they
// answer filters, so before an error everything is read.
func (t *try) checkReadBack(ctx context.Context, back netconf.Answer) error {
	part, err := back.Data(t.getConfigOp(nil))
	if err != nil {
		return fmt.Errorf("reading back: %w", err)
	}
	if len(t.dialect.Diff(part, t.change.Part).Edits) == 0 {
		return nil
	}
	have, err := t.readTree(ctx)
	if err != nil {
		return fmt.Errorf("reading back: %w", err)
	}
	want, err := t.wantedTree()
	if err != nil {
		return err
	}
	if left := t.dialect.Diff(have, want); len(left.Edits) > 0 {
		return fmt.Errorf(
			"%wthe router answered ok but does not have what was sent: %s",
			errRefusedHere,
			shortenDifferences(left.Lines),
		)
	}
	return nil
}

// shortenDifferences shortens a list of differences.
func shortenDifferences(lines []string) string {
	if len(lines) > 3 {
		return strings.Join(lines[:3], ", ") + fmt.Sprintf(" and %d more", len(lines)-3)
	}
	return strings.Join(lines, ", ")
}

// errNotSent is the result of a request after one that failed.
var errNotSent = errors.New("it was not sent, because what it depends on failed")

// sendPipelined sends requests in one piece and waits for all answers: the way to the
// router is needed once. A router that leaves one of several unanswered may not support that; from then on its requests are sent one by one, up to the first that fails.
func (l *link) sendPipelined(ctx context.Context, ops ...netconf.Operation) []netconf.Answer {
	_, slow := l.memory.slow.Load(l.router.NodeId)
	if slow && len(ops) > 1 {
		return l.sendOneByOne(ctx, ops)
	}
	ctx, cancel := l.callContext(ctx, len(ops))
	defer cancel()
	out := l.session.DoAll(ctx, ops...)
	if len(ops) > 1 && errors.Is(ctx.Err(), context.DeadlineExceeded) && l.session.Err() != nil {
		l.log.Warn(
			"the router left one of several requests unanswered; they are sent one by one from now on",
			"error",
			l.session.Err(),
		)
		l.memory.slow.Store(l.router.NodeId, true)
	}
	return out
}

func (l *link) sendOneByOne(ctx context.Context, ops []netconf.Operation) []netconf.Answer {
	out := make([]netconf.Answer, len(ops))
	failed := false
	for i, op := range ops {
		if failed {
			out[i].Err = errNotSent
			continue
		}
		out[i] = l.sendOperation(ctx, op)
		failed = out[i].Err != nil
	}
	return out
}

// sendOperation sends one request with its own deadline.
func (l *link) sendOperation(ctx context.Context, op netconf.Operation) netconf.Answer {
	ctx, cancel := l.callContext(ctx, 1)
	defer cancel()
	return l.session.DoAll(ctx, op)[0]
}
