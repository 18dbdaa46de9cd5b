package feature

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/grant"
)

const (
	namespace  = "feature"
	stateKey   = "state"
	repoPrefix = "repo/"
	// keyPrefix is before the ID of a public key; the value is a keyRecord.
	keyPrefix = "key/"
	// grantPrefix is before the name of a plugin; the value is a grantRecord.
	grantPrefix = "grant/"
)

// state is all that is kept: what is wanted, not what follows from it.
type state struct {
	Required []Requirement `json:"required"`
	Stopped  []string      `json:"stopped,omitempty"`  // by name, with feature:stop
	BootDone bool          `json:"bootDone,omitempty"` // the boot features were installed once
}

func (s state) clone() state {
	s.Required, s.Stopped = slices.Clone(s.Required), slices.Clone(s.Stopped)
	return s
}

func (s state) hasRequirement(name string) bool {
	return slices.ContainsFunc(s.Required, func(r Requirement) bool {
		return r.Name == name
	})
}

// addRequirement adds a requirement, or replaces the one of the same name.
func (s *state) addRequirement(q Requirement) {
	for i := range s.Required {
		if s.Required[i].Name == q.Name {
			s.Required[i] = q
			return
		}
	}
	s.Required = append(s.Required, q)
}

func (s *state) releaseRequirement(name string) {
	s.Required = slices.DeleteFunc(s.Required, func(r Requirement) bool {
		return r.Name == name
	})
}

func (s *state) addStopped(name string) {
	if !slices.Contains(s.Stopped, name) {
		s.Stopped = append(s.Stopped, name)
	}
}

func (s *state) removeStopped(name string) {
	s.Stopped = slices.DeleteFunc(s.Stopped, func(n string) bool { return n == name })
}

// repoRecord is a repository added with feature:repo-add. Its text is kept, so
// that the file may go.
type repoRecord struct {
	URL       string `json:"url"`
	Text      []byte `json:"text"`
	Signature []byte `json:"signature,omitempty"` // minisign's, of the text
	Key       string `json:"key,omitempty"`       // that was trusted for it; empty: unsigned, as the operator allowed
}

// added is what operators added beside the catalogue of the home.
type added struct {
	repos map[string]repoRecord
	keys  map[string]keyRecord // by ID
}

func (a added) clone() added {
	return added{maps.Clone(a.repos), maps.Clone(a.keys)}
}

// stored is the state with the revision a change of it must compare with.
type stored struct {
	state
	revision datastore.Revision
}

func loadState(
	ctx context.Context,
	s datastore.Store,
) (out stored, more added, grants map[string]grantRecord, err error) {
	more, grants = added{map[string]repoRecord{}, map[string]keyRecord{}}, map[string]grantRecord{}
	err = s.View(ctx, func(sn datastore.Snapshot) error {
		e, err := sn.Get(namespace, stateKey)
		switch {
		case err == nil:
			if err := json.Unmarshal(e.Value, &out.state); err != nil {
				return fmt.Errorf("the stored set of features cannot be read: %w", err)
			}
			out.revision = e.Revision
		case !errors.Is(err, datastore.ErrNotFound):
			return err
		}
		return errors.Join(
			loadRecords(sn, repoPrefix, func(name string, r repoRecord, _ datastore.Revision) {
				more.repos[name] = r
			}),
			loadRecords(sn, keyPrefix, func(id string, k keyRecord, _ datastore.Revision) {
				more.keys[id] = k
			}),
			loadRecords(sn, grantPrefix, func(plugin string, h grant.Held, at datastore.Revision) {
				grants[plugin] = grantRecord{h, at}
			}))
	})
	return out, more, grants, err
}

// loadRecords reads the records below a prefix.
func loadRecords[T any](
	sn datastore.Snapshot,
	prefix string,
	take func(name string, record T, at datastore.Revision),
) error {
	for e, err := range sn.Range(namespace, datastore.RangeOptions{Prefix: prefix}) {
		if err != nil {
			return err
		}
		var record T
		if err := json.Unmarshal(e.Value, &record); err != nil {
			return fmt.Errorf(
				"the stored record %s of the features is not readable: %w",
				e.Key,
				err,
			)
		}
		take(strings.TrimPrefix(e.Key, prefix), record, e.Revision)
	}
	return nil
}

// commitState stores a new state, with further writes in the same transaction; a state
// changed meanwhile by another process of a cluster is a conflict.
func commitState(
	ctx context.Context,
	s datastore.Store,
	old stored,
	next state,
	more ...datastore.Op,
) (stored, error) {
	rev, err := s.Commit(ctx, datastore.Txn{
		Compares: []datastore.Compare{{
			Namespace: namespace,
			Key:       stateKey,
			Revision:  old.revision,
		}},
		Ops: append([]datastore.Op{putJSON(stateKey, next)}, more...),
	})
	return stored{next, rev}, err
}
