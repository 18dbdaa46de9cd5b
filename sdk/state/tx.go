package state

import (
	"context"
	"errors"
	"strings"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// attempts bounds how often a decision is made again because others were faster.
const attempts = 16

// Tx is a decision in the making: reads of a snapshot, which become conditions of the
// commit, and writes.
type Tx struct {
	at       *Snapshot
	compares map[condition]uint64
	ops      []host.Op
	volatile bool
	changed  []string // by somebody else, in Check
}

// condition is what a compare is about.
type condition struct {
	at     host.Prefix // of the view, without its prefix
	key    string
	prefix bool
}

func (tx *Tx) partAt(index int) any {
	return tx.at.parts[index]
}

func (tx *Tx) recordRead(p host.Prefix, key string, revision uint64) {
	p.Prefix = ""
	tx.compares[condition{p, key, false}] = revision
}

func (tx *Tx) readAll(p host.Prefix, key string) {
	p.Prefix = ""
	tx.compares[condition{p, key, true}] = tx.at.revision
}

// Revision of the snapshot that the decision is made on.
func (tx *Tx) Revision() uint64 { return tx.at.revision }

// Snapshot returns what the decision is made on. Reading from it instead of the Tx sets
// no condition.
func (tx *Tx) Snapshot() *Snapshot { return tx.at }

// Changed returns, in a check of somebody else's change, the paths of the documents that the
// change writes or deletes.
func (tx *Tx) Changed() []string { return tx.changed }

// Volatile says that the commit may be answered before the disk has it: after a crash of
// the machine it may be lost.
func (tx *Tx) Volatile() { tx.volatile = true }

// addOp adds a write.
func (tx *Tx) addOp(o host.Op) { tx.ops = append(tx.ops, o) }

func (tx *Tx) hostTxn() host.Txn {
	t := host.Txn{Ops: tx.ops, Volatile: tx.volatile}
	for c, revision := range tx.compares {
		t.Compares = append(
			t.Compares,
			host.Compare{
				Space:    c.at.Space,
				Plugin:   c.at.Plugin,
				Key:      c.key,
				Revision: revision,
				Prefix:   c.prefix,
			},
		)
	}
	return t
}

// Update lets decide read and write, and commits what it wrote if what it read is still
// so; else it decides again on the newer state. It returns when the projection has the
// commit, with its revision. decide may run several times and must have no other effect.
// A decision that writes nothing commits nothing. After too many conflicts the error is
// a *host.ConflictError, which says who was faster.
func (s *Store) Update(ctx context.Context, decide func(*Tx) error) (revision uint64, err error) {
	return s.update(ctx, "", decide)
}

func (s *Store) update(ctx context.Context, role string, decide func(*Tx) error) (uint64, error) {
	var lost *host.ConflictError
	for i := range attempts {
		decided := s.Now().revision // or later
		revision, err := s.attemptUpdate(ctx, role, decide, i > 0)
		if !errors.As(err, &lost) {
			return revision, err
		}
		s.catchUp(ctx, decided, lost.Revision)
	}
	return 0, lost
}

// catchUpTime bounds the wait for the change that a decision lost against.
const catchUpTime = 2 * time.Second

// catchUp waits until the projection has what a decision lost against: the revision of the
// key, or, when the key was deleted, whatever came after the decision.
func (s *Store) catchUp(ctx context.Context, decided, revision uint64) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	_ = s.WaitUntil(ctx, func(n *Snapshot) bool {
		return revision > 0 && n.revision >= revision || revision == 0 && n.revision > decided
	})
}

// attemptUpdate decides once; alone keeps others of this process from being faster again.
func (s *Store) attemptUpdate(
	ctx context.Context,
	role string,
	decide func(*Tx) error,
	alone bool,
) (uint64, error) {
	if alone {
		s.deciding.Lock()
		defer s.deciding.Unlock()
	} else {
		s.deciding.RLock()
		defer s.deciding.RUnlock()
	}
	tx := &Tx{at: s.Now(), compares: map[condition]uint64{}}
	if err := decide(tx); err != nil {
		return 0, err
	}
	if len(tx.ops) == 0 {
		return tx.at.revision, nil
	}
	t := tx.hostTxn()
	t.Role = role
	revision, err := s.host.Datastore.Commit(ctx, t)
	if err != nil {
		return 0, err
	}
	return revision, s.WaitFor(context.WithoutCancel(ctx), revision)
}

// Check runs check on the state as it would be after changes that somebody else wants to
// make to a tree of this plugin, or to one that its trees are made of (`derives` of the
// manifest). What it reads becomes a condition of the change, what it writes is committed with
// it; an error refuses it. It serves sdk.Plugin.Check.
func (s *Store) Check(
	ctx context.Context,
	revision uint64,
	changes []host.Event,
	check func(context.Context, *Tx) error,
) (host.Txn, error) {
	if err := s.WaitFor(ctx, revision); err != nil {
		return host.Txn{}, err
	}
	now := s.Now()
	after := &Snapshot{
		revision: now.revision,
		parts:    append([]any(nil), now.parts...),
	}
	for i, v := range s.views {
		p := v.prefix()
		if p.Space != host.Tree {
			continue
		}
		var mine []host.Event
		for _, e := range changes {
			if strings.HasPrefix(e.Key, p.Prefix) {
				mine = append(mine, e)
			}
		}
		if len(mine) > 0 {
			after.parts[i], _ = v.applyEvents(after.parts[i], mine)
		}
	}
	tx := &Tx{at: after, compares: map[condition]uint64{}}
	for _, e := range changes {
		tx.changed = append(tx.changed, e.Key)
	}
	if err := check(ctx, tx); err != nil {
		return host.Txn{}, err
	}
	for _, e := range changes { // the change writes these itself: its own conditions hold for them
		delete(tx.compares, condition{host.Prefix{Space: host.Tree}, e.Key, false})
	}
	for _, o := range tx.ops {
		if o.Space != host.Private && o.Space != host.Tree {
			return host.Txn{}, fault.New(
				fault.Internal,
				"a check may write only private keys and trees of the plugin, not %s",
				o.Key,
			)
		}
	}
	return tx.hostTxn(), nil
}
