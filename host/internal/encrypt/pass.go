package encrypt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"ctl.internal/host/internal/crypt"
	"ctl.internal/host/internal/datastore"
)

// Report tells what a pass did.
type Report struct {
	Renewed int            `json:"renewed"`        // texts sealed anew
	Left    map[string]int `json:"left,omitempty"` // texts that still need an earlier key, by its id
}

func (r *Report) add(f crypt.Found) {
	r.Renewed += f.Renewed
	for id, n := range f.Left {
		if r.Left == nil {
			r.Left = map[string]int{}
		}
		r.Left[id] += n
	}
}

// pageSize is how many entries are read at once; batch bounds what is written in one
// transaction, under what an etcd cluster allows by default.
const (
	pageSize  = 500
	batch     = 50
	batchSize = 1 << 20
)

// Pass seals with the current key what earlier keys have sealed, in the datastore
// and in the settings of the home. It may be interrupted at any place: what is done
// stays done, what is not opens still, and the next pass goes on.
func (s *Service) Pass(ctx context.Context) (Report, error) {
	s.passing.Lock()
	defer s.passing.Unlock()
	var report Report
	began, err := s.load(ctx)
	if err != nil {
		return report, err
	}
	n := s.ring.Renewer()
	names, err := s.namespaces(ctx)
	if err != nil {
		return report, err
	}
	for _, ns := range names {
		if ns == namespace {
			continue
		}
		for after := ""; ; {
			next, more, err := s.page(ctx, n, ns, after, &report)
			if err != nil {
				return report, fmt.Errorf("namespace %s: %w", ns, err)
			}
			if !more {
				break
			}
			after = next
		}
	}
	if err := s.renewFiles(n, &report); err != nil {
		return report, err
	}
	if len(report.Left) > 0 {
		return report, nil // the next pass may know more
	}
	return report, s.finish(ctx, began)
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

// page renews the entries of a namespace from after on, as many as are read at once.
func (s *Service) page(ctx context.Context, n *crypt.Renewer, ns, after string, report *Report) (last string, more bool, err error) {
	var entries []datastore.Entry
	err = s.o.Store.View(ctx, func(v datastore.Snapshot) error {
		entries = nil
		for e, err := range v.Range(ns, datastore.RangeOptions{After: after, Limit: pageSize}) {
			if err != nil {
				return err
			}
			entries = append(entries, e)
		}
		return nil
	})
	if err != nil || len(entries) == 0 {
		return "", false, err
	}
	var t datastore.Txn
	size := 0
	var found Report
	flush := func() error {
		if len(t.Ops) == 0 {
			return nil
		}
		_, err := s.o.Store.Commit(ctx, t)
		if errors.Is(err, datastore.ErrConflict) || errors.Is(err, datastore.ErrTooBig) {
			err = s.single(ctx, n, ns, t, report)
		} else if err == nil {
			report.Renewed += found.Renewed
		}
		t, size, found = datastore.Txn{}, 0, Report{}
		return err
	}
	for _, e := range entries {
		value, f, changed, err := s.renew(n, ns, e)
		if err != nil {
			return "", false, err
		}
		if !changed {
			report.add(f)
			continue
		}
		found.Renewed += f.Renewed
		report.add(crypt.Found{Left: f.Left})
		t.Compares = append(t.Compares, datastore.Compare{Namespace: ns, Key: e.Key, Revision: e.Revision})
		t.Ops = append(t.Ops, datastore.Put(ns, e.Key, value))
		if size += len(value); len(t.Ops) >= batch || size >= batchSize {
			if err := flush(); err != nil {
				return "", false, err
			}
		}
	}
	return entries[len(entries)-1].Key, len(entries) == pageSize, flush()
}

// single renews entries one by one, each as it is now: somebody wrote one of them.
func (s *Service) single(ctx context.Context, n *crypt.Renewer, ns string, t datastore.Txn, report *Report) error {
	for _, o := range t.Ops {
		for {
			e, err := datastore.Get(ctx, s.o.Store, ns, o.Key)
			if errors.Is(err, datastore.ErrNotFound) {
				break
			}
			if err != nil {
				return err
			}
			value, f, changed, err := s.renew(n, ns, e)
			if err != nil {
				return err
			}
			if !changed {
				break
			}
			_, err = s.o.Store.Commit(ctx, datastore.Txn{Ops: []datastore.Op{datastore.Put(ns, o.Key, value)},
				Compares: []datastore.Compare{{Namespace: ns, Key: o.Key, Revision: e.Revision}}})
			if err == nil {
				report.Renewed += f.Renewed
				break
			}
			if !errors.Is(err, datastore.ErrConflict) {
				return err
			}
		}
	}
	return nil
}

// renew is the value of an entry with its secrets sealed by the current key.
func (s *Service) renew(n *crypt.Renewer, ns string, e datastore.Entry) (value []byte, f crypt.Found, changed bool, err error) {
	if ns == s.o.Documents && secret(e.Value) {
		value, err := s.ring.Seal(e.Value, documentPurpose(ns, e.Key))
		return value, crypt.Found{Renewed: 1}, true, err
	}
	value, f = n.Renew(e.Value, guesses(ns, e.Key)...)
	return value, f, f.Renewed > 0, nil
}

// guesses are the purposes for which earlier releases sealed what is under a key.
func guesses(ns, key string) []string {
	out := []string{ns + "/" + key}
	if p := strings.Split(key, "/"); len(p) == 3 && p[0] == "user" {
		out = append(out, "aaa/password/"+p[2]+"@"+p[1])
	}
	if plugin, ok := strings.CutPrefix(ns, "plugin/"); ok {
		out = append(out, "plugin\x00"+plugin+"\x00bier router") // the one that a plugin of that release had
	}
	return out
}

// finish notes that a pass has ended, unless the key was replaced again meanwhile.
func (s *Service) finish(ctx context.Context, began records) error {
	if began.pending == 0 {
		return nil
	}
	if err := s.keep(); err != nil {
		return err
	}
	t := datastore.Txn{Ops: []datastore.Op{datastore.Delete(namespace, pendingKey)},
		Compares: []datastore.Compare{{Namespace: namespace, Key: pendingKey, Revision: began.pending}}}
	if !s.o.Shared {
		t.Ops = append(t.Ops, datastore.DeletePrefix(namespace, handoverDir)) // nobody else needs the way
	}
	if _, err := s.o.Store.Commit(ctx, t); err != nil && !errors.Is(err, datastore.ErrConflict) {
		return err
	}
	return s.forgetFile()
}

// keep sees to it that the file holds the current key, before the ways to it from
// earlier keys are given up.
func (s *Service) keep() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keepLocked()
}

func (s *Service) keepLocked() error {
	c, _, err := read(ConfigFile(s.o.Dir))
	if err != nil {
		return err
	}
	if c.Key == s.config.Key && c.Salt == s.config.Salt {
		return nil
	}
	if err := s.config.write(s.o.Dir); err != nil {
		return fmt.Errorf("the current key is not in %s and cannot be written: %w", ConfigFile(s.o.Dir), err)
	}
	return nil
}

// Forget ends the earlier keys that nothing in the datastore and in the settings
// needs any more, after a pass. What was sealed with them elsewhere is lost.
func (s *Service) Forget(ctx context.Context) (dropped []string, report Report, err error) {
	if report, err = s.Pass(ctx); err != nil {
		return nil, report, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.load(ctx)
	if err != nil {
		return nil, report, err
	}
	if r.current == nil || r.current.ID != s.ring.CurrentID() {
		return nil, report, errOvertaken
	}
	if err := s.keepLocked(); err != nil {
		return nil, report, err
	}
	t := datastore.Txn{Compares: []datastore.Compare{{Namespace: namespace, Key: currentKey, Revision: r.current.revision}}}
	for id := range r.handover {
		t.Ops = append(t.Ops, datastore.Delete(namespace, handoverDir+id))
	}
	for id := range r.retired {
		if report.Left[id] == 0 {
			t.Ops = append(t.Ops, datastore.Delete(namespace, retiredDir+id))
			dropped = append(dropped, id)
		}
	}
	if len(t.Ops) > 0 {
		if _, err := s.o.Store.Commit(ctx, t); err != nil {
			return nil, report, err
		}
	}
	s.retired = maps.Clone(s.retired)
	for _, id := range dropped {
		s.ring.Drop(id)
		delete(s.retired, id)
	}
	return dropped, report, nil
}
