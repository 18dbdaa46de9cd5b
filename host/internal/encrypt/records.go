package encrypt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ctl.internal/host/internal/crypt"
	"ctl.internal/host/internal/datastore"
)

// The namespace holds:
//
//	current        which key seals, with its parameters; no secret
//	retired/ID     an earlier key, sealed with the current one
//	handover/ID    the successor of an earlier key, sealed with that earlier key, so
//	               that a controller that was away, or died, finds the way
//	pending        texts of earlier keys may have to be sealed anew
const (
	namespace   = "encryption"
	currentKey  = "current"
	pendingKey  = "pending"
	retiredDir  = "retired/"
	handoverDir = "handover/"
)

type current struct {
	ID string `json:"id"`
	crypt.Params
	Salt string `json:"salt"`

	revision datastore.Revision
}

// material is a key as it is kept: of the settings, or of a file of earlier releases.
type material struct {
	Config *Config `json:"config,omitempty"`
	Raw    []byte  `json:"raw,omitempty"`
}

func (m material) key() (*crypt.Key, error) {
	if m.Config != nil {
		return m.Config.derive()
	}
	return crypt.RawKey(m.Raw)
}

// records are what the namespace holds.
type records struct {
	current  *current
	retired  map[string][]byte
	handover map[string][]byte
	pending  datastore.Revision // 0 = not
	revision datastore.Revision // of the view
}

func (s *Service) load(ctx context.Context) (records, error) {
	r := records{retired: map[string][]byte{}, handover: map[string][]byte{}}
	err := s.o.Store.View(ctx, func(v datastore.Snapshot) error {
		r.revision = v.Revision()
		for e, err := range v.Range(namespace, datastore.RangeOptions{}) {
			if err != nil {
				return err
			}
			if id, ok := strings.CutPrefix(e.Key, retiredDir); ok {
				r.retired[id] = e.Value
			} else if id, ok := strings.CutPrefix(e.Key, handoverDir); ok {
				r.handover[id] = e.Value
			} else if e.Key == pendingKey {
				r.pending = e.Revision
			} else if e.Key == currentKey {
				r.current = &current{revision: e.Revision}
				if err := json.Unmarshal(e.Value, r.current); err != nil {
					return fmt.Errorf("what the datastore says of the current key is damaged: %w", err)
				}
			}
		}
		return nil
	})
	return r, err
}

func purpose(key string) []byte { return []byte(namespace + "/" + key) }

// successor follows the handovers from a key to the settings of the current one.
func (r records) successor(k *crypt.Key) (Config, *crypt.Key, bool) {
	var c Config
	for range len(r.handover) {
		sealed, ok := r.handover[k.ID()]
		if !ok {
			break
		}
		plain, err := k.Open(sealed, purpose(handoverDir+k.ID()))
		if err != nil || json.Unmarshal(plain, &c) != nil {
			break
		}
		if k, err = c.derive(); err != nil {
			break
		}
		if k.ID() == r.current.ID {
			return c, k, true
		}
	}
	return c, nil, false
}

// open returns the earlier keys, which the current one opens.
func (r records) open(k *crypt.Key) (map[string]material, []*crypt.Key, error) {
	all, out := map[string]material{}, []*crypt.Key(nil)
	for id, sealed := range r.retired {
		plain, err := k.Open(sealed, purpose(retiredDir+id))
		var m material
		if err == nil {
			err = json.Unmarshal(plain, &m)
		}
		var old *crypt.Key
		if err == nil {
			old, err = m.key()
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the earlier key %s in the datastore does not open: %w", id, err)
		}
		all[id], out = m, append(out, old)
	}
	return all, out, nil
}

// errOvertaken says that another controller changed the current key meanwhile.
var errOvertaken = errors.New("another controller replaced the key at the same time")

// replace makes next the current key in the datastore, retires the others and hands
// over from those that controllers may still have in their settings.
func (s *Service) replace(ctx context.Context, was *current, next Config, retired map[string]material, from ...*crypt.Key) error {
	k, err := next.derive()
	if err != nil {
		return err
	}
	text, err := json.Marshal(current{ID: k.ID(), Params: next.Params, Salt: next.Salt})
	if err != nil {
		return err
	}
	ops := []datastore.Op{datastore.Put(namespace, currentKey, text), datastore.DeletePrefix(namespace, retiredDir),
		datastore.Delete(namespace, handoverDir+k.ID())}
	put := func(k *crypt.Key, key string, v any) {
		b, e := json.Marshal(v)
		if e == nil {
			b, e = k.Seal(b, purpose(key))
		}
		err = errors.Join(err, e)
		ops = append(ops, datastore.Put(namespace, key, b))
	}
	for id, m := range retired {
		if id != k.ID() {
			put(k, retiredDir+id, m)
		}
	}
	for _, old := range from {
		put(old, handoverDir+old.ID(), next)
	}
	if len(retired) > 0 {
		ops = append(ops, datastore.Put(namespace, pendingKey, []byte(k.ID())))
	}
	if err != nil {
		return err
	}
	var revision datastore.Revision
	if was != nil {
		revision = was.revision
	}
	_, err = s.o.Store.Commit(ctx, datastore.Txn{Ops: ops, Compares: []datastore.Compare{{Namespace: namespace, Key: currentKey, Revision: revision}}})
	if errors.Is(err, datastore.ErrConflict) {
		return errOvertaken
	}
	return err
}
