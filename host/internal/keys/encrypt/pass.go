package encrypt

import (
	"context"
	"errors"
	"fmt"

	"ctl.internal/host/internal/datastore"
)

// batchEntries is how many entries are written in one transaction, batchSize how many bytes of them: under what an
// etcd cluster allows by default.
const (
	batchEntries = 50
	batchSize    = 1 << 20
)

// Pass seals with the current key what earlier keys have sealed, in the datastore and in the
// settings of the home. It may be interrupted at any place: what is done stays done, what is
// not opens still, and the next pass goes on.
func (s *Service) Pass(ctx context.Context) (found Found, err error) {
	s.passing.Lock()
	defer s.passing.Unlock()
	began, err := s.loadRecord(ctx)
	if err != nil {
		return found, err
	}
	for overtaken := true; overtaken; {
		found.Left = nil
		if overtaken, err = s.passStore(ctx, &found); err != nil {
			return found, err
		}
	}
	if err := s.renewFiles(&found); err != nil ||
		len(found.Left) > 0 ||
		began == nil ||
		!began.Pending {
		return found, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ensureKeyInFile(); err != nil || began.ID != s.keys[0].key.ID() {
		return found, err
	}
	if err = s.storeKeys(ctx, began, s.keys, false); errors.Is(err, errOvertaken) {
		err = nil
	}
	return found, err
}

// passStore goes over the datastore once. overtaken says that others have written some of the entries meanwhile,
// which are to be looked at again.
func (s *Service) passStore(ctx context.Context, found *Found) (overtaken bool, err error) {
	var t datastore.Txn
	size, renewed := 0, 0
	commit := func() error {
		if len(t.Ops) == 0 {
			return nil
		}
		_, err := s.o.Store.Commit(ctx, t)
		if errors.Is(err, datastore.ErrConflict) {
			overtaken, err = true, nil
			found.Renewed -= renewed
		}
		t, size, renewed = datastore.Txn{}, 0, 0
		return err
	}
	err = s.o.Store.View(ctx, func(v datastore.Snapshot) error {
		for ns, err := range v.Namespaces() {
			if err != nil {
				return err
			}
			if ns == namespace {
				continue
			}
			for e, err := range v.Range(ns, datastore.RangeOptions{}) {
				if err != nil {
					return fmt.Errorf("namespace %s: %w", ns, err)
				}
				before := found.Renewed
				value, err := s.renewEntry(ns, e, found)
				if err != nil {
					return fmt.Errorf("%s in namespace %s: %w", e.Key, ns, err)
				}
				n := found.Renewed - before
				if n == 0 {
					continue
				}
				if len(t.Ops) == batchEntries || size+len(value) > batchSize {
					if err := commit(); err != nil {
						return err
					}
				}
				t.Compares = append(
					t.Compares,
					datastore.Compare{
						Namespace: ns,
						Key:       e.Key,
						Revision:  e.Revision,
					},
				)
				t.Ops = append(t.Ops, datastore.Put(ns, e.Key, value))
				size, renewed = size+len(value), renewed+n
			}
		}
		return commit()
	})
	return overtaken, err
}

// renewEntry is the value of an entry with its secrets sealed by the current key.
func (s *Service) renewEntry(ns string, e datastore.Entry, found *Found) ([]byte, error) {
	if ns == s.o.Documents && s.secret(e.Key, e.Value) {
		found.Renewed++
		return s.Seal(e.Value, documentPurpose(ns, e.Key))
	}
	return s.Renew(e.Value, found), nil
}

// ensureKeyInFile makes sure that the file holds the current key, before the datastore's ways to it from
// earlier keys are given up.
func (s *Service) ensureKeyInFile() error {
	c, err := ReadConfig(s.o.Dir)
	current := s.keys[0]
	if err != nil || c.Key == current.Key && c.Salt == current.Salt {
		return err
	}
	if err := current.writeFile(s.o.Dir); err != nil {
		return fmt.Errorf(
			"the current key is not in %s and cannot be written: %w",
			ConfigFile(s.o.Dir),
			err,
		)
	}
	return nil
}

// Forget ends the earlier keys that nothing in the datastore and in the settings needs any
// more, after a pass. What was sealed with them elsewhere is lost.
func (s *Service) Forget(ctx context.Context) (dropped []string, found Found, err error) {
	if found, err = s.Pass(ctx); err != nil {
		return nil, found, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.loadRecord(ctx)
	if err != nil {
		return nil, found, err
	}
	if r == nil || r.ID != s.keys[0].key.ID() {
		return nil, found, errOvertaken
	}
	if err := s.ensureKeyInFile(); err != nil {
		return nil, found, err
	}
	needed := s.keys[:1:1]
	for _, h := range s.keys[1:] {
		if id := h.key.ID(); found.Left[id] == 0 {
			dropped = append(dropped, id)
		} else {
			needed = append(needed, h)
		}
	}
	if len(dropped) == 0 {
		return nil, found, nil
	}
	if err := s.storeKeys(ctx, r, needed, r.Pending); err != nil {
		return nil, found, err
	}
	s.useKeys(needed)
	return dropped, found, nil
}
