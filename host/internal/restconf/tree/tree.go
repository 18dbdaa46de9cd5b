// Package tree keeps YANG instance trees in the datastore, one document for each
// list entry with keys and for each top-level node, so that changing one of
// 10,000 entries rewrites one. Lists without keys stay inside the document of
// their parent.
//
// It knows schemas, documents and edits but no HTTP: that is package restconf.
package tree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// The namespaces that trees are kept in.
const (
	ConfigNamespace      = "config-tree"
	OperationalNamespace = "operational-tree"
)

// Tree is one datastore of YANG instances. It is safe for concurrent use.
type Tree struct {
	Store    datastore.Store
	NS       string
	Volatile bool // the operational tree: observed again after a restart
	Now      func() time.Time
	Limit    time.Duration // of a write with all its attempts; 0 = 4.5 s
	// Validators may refuse changes, by the qualified name of a top-level node.
	Validators map[string]Validator
	// Owners check changes of the trees that are theirs, or that theirs are made of, by the
	// qualified name of a top-level node; nil: no tree is owned.
	Owners func(qname string) []Owner

	// mu is held alone by a writer that lost against others, so that it wins then.
	mu sync.RWMutex
}

// Validator may refuse a change of a top-level node, for instance one that would lock
// every administrator out. after is the node's content as it would be, in
// canonical form, nil when it would be gone. Its error goes to the client.
type Validator func(ctx context.Context, after json.RawMessage) error

// Owner checks changes that somebody else makes, worked out at a revision. It refuses them,
// or decides what is committed with them.
type Owner func(ctx context.Context, at datastore.Revision, changes []Change) (Decision, error)

// Decision is what an owner adds to a change: conditions, writes of its own keys, and edits of
// its own trees.
type Decision struct {
	datastore.Txn
	Edits []TextEdit
}

// attempts bounds how often a write is repeated because others wrote meanwhile.
const attempts = 10

// updateTime bounds a write with all its attempts, so that it is answered in time whatever
// the datastore does.
const updateTime = 4500 * time.Millisecond

// View runs f on a draft that is thrown away.
func (t *Tree) View(ctx context.Context, set *yang.Set, f func(*Draft) error) error {
	return datastore.Read(ctx, t.Store, func(sn datastore.Snapshot) error {
		return f(NewDraft(sn, t.NS, set))
	})
}

// Update runs f on a draft, checks the result and commits it as one transaction.
// f may run several times. The error is a fault: of f, of Check, of the Validator, or
// InUse when others keep changing the same data.
func (t *Tree) Update(ctx context.Context, set *yang.Set, f func(*Draft) error) error {
	limit := cmp.Or(t.Limit, updateTime)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var lost *datastore.ConflictError
	for i := range attempts {
		err := t.attemptUpdate(ctx, set, f, i > 0)
		if err != nil && fault.KindOf(err) == fault.Timeout && ctx.Err() != nil {
			return fault.Wrap(
				fault.Unavailable,
				err,
				"the change was not made within %s: %v",
				limit,
				err,
			)
		}
		if !errors.As(err, &lost) {
			return err
		}
		if i > 1 { // writers of other nodes, too
			host.Pause(ctx, rand.N(time.Duration(i)*10*time.Millisecond))
		}
	}
	return fault.Wrap(
		fault.InUse,
		lost,
		"the data was changed in the meantime%s; read it again and repeat",
		describeFasterWriter(lost),
	)
}

// describeFasterWriter says who was faster.
func describeFasterWriter(lost *datastore.ConflictError) string {
	if lost.By == "" {
		return " by others"
	}
	if lost.At.IsZero() {
		return " by " + lost.By
	}
	return " by " + lost.By + " at " + lost.At.UTC().Format(time.RFC3339)
}

// attemptUpdate runs f once. Its error is a *datastore.ConflictError when others were faster.
func (t *Tree) attemptUpdate(
	ctx context.Context,
	set *yang.Set,
	f func(*Draft) error,
	alone bool,
) error {
	if alone {
		t.mu.Lock()
		defer t.mu.Unlock()
	} else {
		t.mu.RLock()
		defer t.mu.RUnlock()
	}
	var txn datastore.Txn
	err := t.View(ctx, set, func(d *Draft) error {
		err := f(d)
		if err != nil || !d.Changed() {
			return err
		}
		if err := d.Check(); err != nil {
			return err
		}
		if err := t.validateDraft(ctx, d); err != nil {
			return err
		}
		more, err := t.askOwners(ctx, d)
		if err != nil {
			return err
		}
		if txn, err = d.Txn(t.Now(), t.Volatile); err != nil {
			return err
		}
		txn.Compares, txn.Ops = append(txn.Compares, more.Compares...), append(txn.Ops, more.Ops...)
		return nil
	})
	if err != nil || len(txn.Ops) == 0 {
		return err
	}
	if who, ok := caller.From(ctx); ok {
		txn.By = who.User
	}
	_, err = t.Store.Commit(ctx, txn)
	switch {
	case errors.Is(err, datastore.ErrTooBig):
		return fault.Wrap(
			fault.TooBig,
			err,
			"a list entry or a leaf in the change is larger than the datastore keeps as one value: make it smaller",
		)
	case fault.KindOf(err) == fault.Timeout:
		return fault.Wrap(fault.Unavailable, err, "%v", err)
	}
	return err
}

// askOwners asks those whose trees the draft changes, and makes their edits part of it.
func (t *Tree) askOwners(ctx context.Context, d *Draft) (all datastore.Txn, err error) {
	if t.Owners == nil {
		return all, nil
	}
	var edits []TextEdit
	for n := range d.changedTops() {
		for _, owner := range t.Owners(n.QName()) {
			more, err := owner(ctx, d.sn.Revision(), d.changesBelow(n.QName()))
			if err != nil {
				return all, err
			}
			all.Compares, all.Ops = append(all.Compares, more.Compares...), append(all.Ops, more.Ops...)
			edits = append(edits, more.Edits...)
		}
	}
	if len(edits) == 0 {
		return all, nil
	}
	if err := d.ApplyText(edits); err != nil {
		return all, err
	}
	return all, d.Check()
}

func (t *Tree) validateDraft(ctx context.Context, d *Draft) error {
	if len(t.Validators) == 0 {
		return nil
	}
	for n := range d.changedTops() {
		validator := t.Validators[n.QName()]
		if validator == nil {
			continue
		}
		at, err := d.Load(Path{{Node: n}})
		if err != nil {
			return err
		}
		var after json.RawMessage
		if at != nil {
			after = at.Append(nil, yang.Canonical)
		}
		if err := validator(ctx, after); err != nil {
			return err
		}
	}
	return nil
}

// Get returns the instance at an RFC 8040 path such as /m:c/list=key in
// canonical form, nil if it does not exist.
func (t *Tree) Get(
	ctx context.Context,
	set *yang.Set,
	path string,
) (out json.RawMessage, err error) {
	p, err := ParseText(set, path)
	if err != nil {
		return nil, err
	}
	err = t.View(ctx, set, func(d *Draft) error {
		at, err := d.Load(p)
		if at != nil {
			out = at.Append(nil, yang.Canonical)
		}
		return err
	})
	return out, err
}

// Set replaces the instance at an RFC 8040 path by a value in canonical form; a
// nil value removes it.
func (t *Tree) Set(ctx context.Context, set *yang.Set, path string, value json.RawMessage) error {
	return t.Update(ctx, set, func(d *Draft) error {
		return d.ApplyText([]TextEdit{{
			Path:   path,
			Value:  value,
			Delete: value == nil,
		}})
	})
}

// DecodeAt reads the JSON value of the instance that p leads to.
func DecodeAt(p Path, text []byte, o yang.Options) (*yang.Data, error) {
	o.At = p.parentSkeleton()
	n := p.Node()
	if n.Kind == yang.List && p.Entry() {
		return n.Decode(text, o)
	}
	if n.Kind == yang.LeafList && p.Entry() {
		return n.NewLeaf(p.Last().Keys[0])
	}
	return n.DecodeValue(text, o)
}
