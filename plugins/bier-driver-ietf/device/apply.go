package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/plugins/bier-driver-ietf/dialect"
	"ctl.internal/sdk/bierdriver"
)

// Apply is of the contract.
func (d *Driver) Apply(
	ctx context.Context,
	r *bierdriver.Router,
	c *bierdriver.Config,
	permit bierdriver.Permit,
) (*bierdriver.Result, error) {
	l, err := d.acquireLink(r)
	if err != nil {
		return nil, err
	}
	defer d.releaseLink(l)
	if err := l.acquireTurn(ctx); err != nil {
		return &bierdriver.Result{
			State:   bierdriver.Pending,
			Reason:  "the router is busy with another call",
			Session: l.sessionState(),
		}, nil
	}
	defer l.releaseTurn()
	l.sent = 0
	a := &bierdriver.Result{}
	a.Edits, err = l.applyConfig(ctx, c, permit)
	a.State, a.Reason = outcomeOfError(err)
	l.noticeSessionEnd()
	a.Messages, a.Session = l.sent, l.sessionState()
	return a, nil
}

// errRefusedHere is a fault that repeating does not cure.
var errRefusedHere = errors.New("")

// outcomeOfError sorts an error: what may be better at the next try is pending.
func outcomeOfError(err error) (bierdriver.Outcome, string) {
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

func (l *link) applyConfig(
	ctx context.Context,
	c *bierdriver.Config,
	permit bierdriver.Permit,
) ([]string, error) {
	if err := l.connect(ctx); err != nil {
		if l.session != nil && l.session.Err() == nil {
			err = fmt.Errorf("%w%w", errRefusedHere, err) // reached, but there is no dialect for it
		}
		return nil, err
	}
	// The caller may add to its lists when it has its answer.
	t := &try{
		link:   l,
		permit: permit,
		config: &bierdriver.Config{
			Global:   c.GetGlobal(),
			Channels: slices.Clone(c.GetChannels()),
		},
	}
	have, mark := l.recallConfig()
	if permit != nil &&
		have != nil &&
		l.caps.Has(netconf.Candidate) &&
		l.caps.Has(netconf.ConfirmedCommit) {
		if err := t.assumeConfig(have); err != nil { // the router takes back what proves wrong
			return nil, fmt.Errorf("%w%w", errRefusedHere, err)
		}
	}
	if !t.assumed {
		if _, err := t.wantedTree(); err != nil {
			return nil, fmt.Errorf("%w%w", errRefusedHere, err)
		}
	}
	if permit == nil {
		have, err := l.readTree(ctx)
		if err != nil {
			return nil, err
		}
		return l.dialect.Diff(have, t.want).Lines, nil
	}
	if err := t.applyUnderLock(ctx); err != nil {
		l.forgetConfig()
		return t.change.Lines, err
	}
	l.learnConfig(t.config, mark)
	l.memory.last.Store(l.router.NodeId, t.config)
	return t.change.Lines, nil
}

// try brings a router to a configuration, once.
type try struct {
	*link
	permit        bierdriver.Permit
	config        *bierdriver.Config
	want          *xmltree.Node // config as a tree; goal makes it
	have          *xmltree.Node // what the router holds; nil: it must be read
	assumed       bool          // change is made of what is known
	runningLocked bool          // running is locked, too
	change        dialect.Change
}

// wantedTree is what the router shall hold. Making it costs as much as it is large.
func (t *try) wantedTree() (*xmltree.Node, error) {
	if t.want != nil {
		return t.want, nil
	}
	want, err := t.dialect.Want(t.config)
	if err == nil {
		t.want = want
	}
	return want, err
}

// assumeConfig takes what is known for what is there. When there would be nothing to
// change, the call is to compare, and the router is read.
func (t *try) assumeConfig(have *bierdriver.Config) error {
	h, w := dialect.Reduce(have, t.config)
	from, err := t.dialect.Want(h)
	if err != nil {
		return err
	}
	to, err := t.dialect.Want(w)
	if err != nil {
		return err
	}
	if c := t.dialect.Diff(from, to); len(c.Edits) > 0 {
		t.change, t.assumed = c, true
	}
	return nil
}

// applyUnderLock holds the lock, brings the router there, and lets the lock go. A session that
// ended has none any more.
func (t *try) applyUnderLock(ctx context.Context) error {
	ds := netconf.Running
	if t.caps.Has(netconf.Candidate) {
		ds = netconf.CandidateDS
	}
	lock, get := netconf.LockOp(ds), t.getConfigOp(nil)
	ops := []netconf.Operation{lock, get}
	if t.assumed {
		ops = ops[:1]
	}
	former, err := t.permit.Begin(ctx, strconv.Itoa(t.session.ID()))
	if err != nil {
		return err
	}
	a := t.sendPipelined(ctx, ops...)
	err = a[0].OK(lock)
	by := lockHolder(err)
	if by != "" && slices.Contains(former, by) {
		t.log.Warn("ending the session of a process before, which holds the lock", "session", by)
		kill := netconf.KillOp(by)
		if err = t.sendOperation(ctx, kill).OK(kill); err == nil {
			a = t.sendPipelined(ctx, ops...)
			err = a[0].OK(lock)
		}
	}
	if err != nil {
		return fmt.Errorf("locking %s: %w", ds, err)
	}
	if !t.assumed {
		if t.have, err = a[1].Data(get); err == nil {
			t.change = t.dialect.Diff(t.have, t.want)
		}
	}
	if err == nil && len(t.change.Edits) > 0 {
		var last *netconf.Operation
		if last, err = t.changeRouter(ctx, ds); err == nil && last != nil {
			if err = t.permit.Commit(ctx); err != nil {
				err = errors.Join(err, t.sendUncancelled(ctx, netconf.CancelCommitOp()))
				t.unlockDatastores(ctx, ds)
				return err
			}
			ops := append([]netconf.Operation{*last}, t.unlockOps(ds)...)
			a := t.sendPipelined(ctx, ops...)
			if err := a[0].OK(*last); err != nil {
				t.unlockDatastores(ctx, ds)
				return err // the router takes the change back by itself
			}
			for i, op := range ops[1:] {
				t.logUnlockError(op, a[i+1].OK(op))
			}
			return nil
		}
	}
	t.unlockDatastores(ctx, ds)
	return err
}

// unlockOps are the requests that let the locks go.
func (t *try) unlockOps(ds netconf.Datastore) []netconf.Operation {
	if t.runningLocked {
		return []netconf.Operation{netconf.UnlockOp(netconf.Running), netconf.UnlockOp(ds)}
	}
	return []netconf.Operation{netconf.UnlockOp(ds)}
}

// unlockDatastores lets the locks go, if the session has not ended with them.
func (t *try) unlockDatastores(ctx context.Context, ds netconf.Datastore) {
	for _, op := range t.unlockOps(ds) {
		if t.session.Err() == nil {
			t.logUnlockError(op, t.sendUncancelled(ctx, op))
		}
	}
}

// lockHolder is the session that holds a lock that was denied, "" when that is not known.
func lockHolder(err error) string {
	for _, e := range netconf.Refused(err) {
		if e.Tag == "lock-denied" {
			return e.Session
		}
	}
	return ""
}

func (t *try) logUnlockError(op netconf.Operation, err error) {
	if err != nil {
		t.log.Warn("unlocking", "request", op.Name(), "error", err)
	}
}

// changeRouter changes the router. last is what is still to be said, under the lock, to make
// the change stay. When the router is not as it was assumed to be, it is read.
func (t *try) changeRouter(
	ctx context.Context,
	ds netconf.Datastore,
) (last *netconf.Operation, err error) {
	write := t.writeRunning
	if ds == netconf.CandidateDS {
		write = t.commitCandidate
	}
	for range maxRedone {
		last, err = write(ctx)
		again := errors.Is(err, errMeanwhile) || err != nil && t.assumed
		if !again || t.session.Err() != nil || ctx.Err() != nil {
			return last, err
		}
		if done, e := t.lookAgain(ctx); e != nil {
			return nil, errors.Join(err, e)
		} else if done {
			return nil, nil
		}
	}
	return nil, err
}

// maxRedone bounds how often a change is made again because of changes by others.
const maxRedone = 4

// lookAgain makes the change from what the router holds now; true: there is nothing to change.
func (t *try) lookAgain(ctx context.Context) (bool, error) {
	t.assumed = false
	have, err := t.readTree(ctx)
	if err != nil {
		return false, err
	}
	want, err := t.wantedTree()
	if err != nil {
		return false, err
	}
	t.have = have
	t.change = t.dialect.Diff(have, want)
	return len(t.change.Edits) == 0, nil
}

// sendUncancelled does what must be done although the caller's time may be over.
func (l *link) sendUncancelled(ctx context.Context, op netconf.Operation) error {
	if l.session.Err() != nil {
		return nil
	}
	return l.sendOperation(context.WithoutCancel(ctx), op).OK(op)
}
