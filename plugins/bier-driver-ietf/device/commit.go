package device

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ctl.internal/sdk/netconf"
	"ctl.internal/sdk/netconf/xmltree"
)

// commit goes through candidate. Where the router can, it takes the change back by
// itself unless what it then holds is what was meant.
func (l *link) commit(ctx context.Context, edits []*xmltree.Node, want *xmltree.Node) error {
	err := l.ok(ctx, netconf.Edit{Target: netconf.CandidateDS, DefaultOperation: "merge", Config: edits}.Operation())
	if err == nil {
		op := netconf.CommitOp()
		if l.caps.Has(netconf.ConfirmedCommit) {
			op = netconf.ConfirmedCommitOp(l.set.Confirm)
		}
		err = l.ok(ctx, op)
	}
	if err != nil {
		return errors.Join(err, l.after(ctx, netconf.DiscardOp()))
	}
	err = l.check(ctx, want)
	switch {
	case !l.caps.Has(netconf.ConfirmedCommit):
		return err
	case err != nil:
		return errors.Join(err, l.after(ctx, netconf.CancelCommitOp()))
	}
	return l.ok(ctx, netconf.CommitOp())
}

// write changes running. Routers without rollback-on-error may stop half way; then
// the driver puts back what was there.
func (l *link) write(ctx context.Context, edits []*xmltree.Node, have, want *xmltree.Node) error {
	err := l.editRunning(ctx, edits)
	if err == nil {
		if err = l.check(ctx, want); err == nil {
			return nil
		}
	} else if l.caps.Has(netconf.RollbackOnError) {
		return err
	}
	return errors.Join(err, l.restore(context.WithoutCancel(ctx), have))
}

func (l *link) editRunning(ctx context.Context, edits []*xmltree.Node) error {
	e := netconf.Edit{Target: netconf.Running, DefaultOperation: "merge", Config: edits}
	if l.caps.Has(netconf.RollbackOnError) {
		e.ErrorOption = "rollback-on-error"
	}
	return l.ok(ctx, e.Operation())
}

// restore brings running back to what it held before.
func (l *link) restore(ctx context.Context, before *xmltree.Node) error {
	if l.session.Err() != nil {
		return nil // the next call reads what is there
	}
	now, err := l.tree(ctx)
	if err != nil {
		return fmt.Errorf("and what the router holds now is not known: %w", err)
	}
	if edits, _ := l.dialect.Diff(now, before); len(edits) > 0 {
		if err := l.editRunning(ctx, edits); err != nil {
			return fmt.Errorf("and the change could not be taken back: %w", err)
		}
	}
	return nil
}

// check reads back and compares.
func (l *link) check(ctx context.Context, want *xmltree.Node) error {
	have, err := l.tree(ctx)
	if err != nil {
		return fmt.Errorf("reading back: %w", err)
	}
	if edits, lines := l.dialect.Diff(have, want); len(edits) > 0 {
		return fmt.Errorf("%wthe router said ok but does not hold what was sent: %s", errRefusedHere, few(lines))
	}
	return nil
}

// few shortens a list of differences.
func few(lines []string) string {
	if len(lines) > 3 {
		return strings.Join(lines[:3], ", ") + fmt.Sprintf(" and %d more", len(lines)-3)
	}
	return strings.Join(lines, ", ")
}
