package encrypt

import (
	"context"
	"errors"
	"fmt"

	"ctl.internal/host/internal/datastore"
)

// pageSize is how many entries are looked at and written in one transaction, batchSize how many bytes of them are
// written: under what an etcd cluster allows by default.
const (
	pageSize  = 50
	batchSize = 1 << 20
)

// Pass seals with the current key what earlier keys have sealed, in the datastore and in the
// settings of the home. It may be interrupted at any place: what is done stays done, what is
// not opens still, and the next pass goes on.
func (s *Service) Pass(ctx context.Context) (Found, error) {
	found, began, err := s.pass(ctx)
	if err != nil || len(found.Left) > 0 || began == nil || !began.Pending {
		return found, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.keep(); err != nil || began.ID != s.current.key.ID() {
		return found, err
	}
	if err := s.store(ctx, began, s.current, s.earlier, false); err != nil && !errors.Is(err, errOvertaken) {
		return found, err
	}
	return found, nil
}

// pass returns the record as it was before the pass.
func (s *Service) pass(ctx context.Context) (found Found, began *record, err error) {
	s.passing.Lock()
	defer s.passing.Unlock()
	if began, err = s.load(ctx); err != nil {
		return found, nil, err
	}
	names, err := s.namespaces(ctx)
	if err != nil {
		return found, nil, err
	}
	for _, ns := range names {
		if ns == namespace {
			continue
		}
		for after, limit := "", pageSize; ; {
			last, f, err := s.page(ctx, ns, after, limit)
			if limit > 1 && (errors.Is(err, datastore.ErrConflict) || errors.Is(err, datastore.ErrTooBig)) {
				limit = 1 // another has written one of them: one by one, each as it is now
				continue
			}
			if errors.Is(err, datastore.ErrConflict) {
				continue
			}
			if err != nil {
				return found, nil, fmt.Errorf("namespace %s: %w", ns, err)
			}
			found.add(f)
			if last == "" {
				break
			}
			after, limit = last, pageSize
		}
	}
	return found, began, s.renewFiles(&found)
}

func (s *Service) namespaces(ctx context.Context) (out []string, err error) {
	err = s.o.Store.View(ctx, func(v datastore.Snapshot) error {
		out = nil
		for ns, err := range v.Namespaces() {
			if err != nil {
				return err
			}
			out = append(out, ns)
		}
		return nil
	})
	return out, err
}

// page renews up to limit entries of a namespace from after on, in one transaction, and returns the key of the last;
// empty = there are no more.
func (s *Service) page(ctx context.Context, ns, after string, limit int) (last string, found Found, err error) {
	var entries []datastore.Entry
	err = s.o.Store.View(ctx, func(v datastore.Snapshot) error {
		entries = nil
		for e, err := range v.Range(ns, datastore.RangeOptions{After: after, Limit: limit}) {
			if err != nil {
				return err
			}
			entries = append(entries, e)
		}
		return nil
	})
	if err != nil {
		return "", found, err
	}
	var t datastore.Txn
	for size := 0; len(entries) > 0 && size < batchSize; entries = entries[1:] {
		e := entries[0]
		value, f, err := s.renew(ns, e)
		if err != nil {
			return "", found, err
		}
		if last = e.Key; f.Renewed > 0 {
			t.Compares = append(t.Compares, datastore.Compare{Namespace: ns, Key: e.Key, Revision: e.Revision})
			t.Ops = append(t.Ops, datastore.Put(ns, e.Key, value))
			size += len(value)
		}
		found.add(f)
	}
	if len(t.Ops) > 0 {
		_, err = s.o.Store.Commit(ctx, t)
	}
	return last, found, err
}

// renew is the value of an entry with its secrets sealed by the current key.
func (s *Service) renew(ns string, e datastore.Entry) ([]byte, Found, error) {
	if ns == s.o.Documents && secret(e.Value) {
		value, err := s.ring.Seal(e.Value, documentPurpose(ns, e.Key))
		return value, Found{Renewed: 1}, err
	}
	value, f := s.ring.Renew(e.Value)
	return value, f, nil
}

// keep makes sure that the file holds the current key, before the datastore's ways to it from
// earlier keys are given up.
func (s *Service) keep() error {
	c, err := ReadConfig(s.o.Dir)
	if err != nil {
		return err
	}
	if c.Key == s.current.Key && c.Salt == s.current.Salt {
		return nil
	}
	if err := s.current.write(s.o.Dir); err != nil {
		return fmt.Errorf("the current key is not in %s and cannot be written: %w", ConfigFile(s.o.Dir), err)
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
	r, err := s.load(ctx)
	if err != nil {
		return nil, found, err
	}
	if r == nil || r.ID != s.current.key.ID() {
		return nil, found, errOvertaken
	}
	if err := s.keep(); err != nil {
		return nil, found, err
	}
	var needed []held
	for _, h := range s.earlier {
		if id := h.key.ID(); found.Left[id] == 0 {
			dropped = append(dropped, id)
		} else {
			needed = append(needed, h)
		}
	}
	if len(dropped) == 0 {
		return nil, found, nil
	}
	if err := s.store(ctx, r, s.current, needed, r.Pending); err != nil {
		return nil, found, err
	}
	s.use(s.current, needed)
	return dropped, found, nil
}
