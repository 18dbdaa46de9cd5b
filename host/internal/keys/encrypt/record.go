package encrypt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ctl.internal/host/internal/datastore"
)

// The datastore holds one record of the keys.
const (
	namespace = "encryption"
	recordKey = "keys"
)

// record says which key seals, with its parameters, which are no secret.
type record struct {
	ID string `json:"id"`
	Params
	Salt    string `json:"salt"`
	Pending bool   `json:"pending,omitempty"` // texts of earlier keys may have to be sealed again
	// Earlier are the settings of the earlier keys, sealed by the current key.
	Earlier []byte `json:"earlier,omitempty"`
	// Next holds the settings of the current key, sealed by each earlier key of that id: so a
	// controller that was away, or died before it wrote the new key into its file, gets it.
	Next map[string][]byte `json:"next,omitempty"`

	revision datastore.Revision
}

// held is a key with the settings that it is made of.
type held struct {
	Config
	key *Key
}

func (c Config) hold() (held, error) {
	k, err := Derive(c.Params, c.Key, c.Salt)
	return held{c, k}, err
}

func purpose(of string) []byte { return []byte(namespace + "/" + of) }

// load reads the record; nil if it does not exist.
func (s *Service) load(ctx context.Context) (*record, error) {
	e, err := datastore.Get(ctx, s.o.Store, namespace, recordKey)
	if errors.Is(err, datastore.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &record{revision: e.Revision}
	if err := json.Unmarshal(e.Value, r); err != nil {
		return nil, fmt.Errorf("the record of the keys in the datastore is damaged: %w", err)
	}
	return r, nil
}

// earlier opens the earlier keys.
func (r *record) earlier(current held) ([]held, error) {
	if len(r.Earlier) == 0 {
		return nil, nil
	}
	var settings []Config
	plain, err := current.key.Open(r.Earlier, purpose("earlier"))
	if err == nil {
		err = json.Unmarshal(plain, &settings)
	}
	if err != nil {
		return nil, fmt.Errorf("the earlier keys in the datastore cannot be decrypted: %w", err)
	}
	out := make([]held, len(settings))
	for i, c := range settings {
		if out[i], err = c.hold(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// next is the current key for the holder of an earlier one.
func (r *record) next(of held) (held, bool) {
	var c Config
	plain, err := of.key.Open(r.Next[of.key.ID()], purpose("next"))
	if err != nil || json.Unmarshal(plain, &c) != nil {
		return held{}, false
	}
	c.KeyCharacters = of.KeyCharacters
	current, err := c.hold()
	return current, err == nil && current.key.ID() == r.ID
}

// errOvertaken says that another controller changed the current key meanwhile.
var errOvertaken = errors.New("another controller replaced the key at the same time")

// store writes the record, if it still is as it was; was nil = it does not exist.
func (s *Service) store(ctx context.Context, was *record, current held, earlier []held, pending bool) error {
	next := record{ID: current.key.ID(), Params: current.Params, Salt: current.Salt, Pending: pending}
	seal := func(k *Key, v any, of string) ([]byte, error) {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		return k.Seal(b, purpose(of))
	}
	var settings []Config
	for _, h := range earlier {
		settings = append(settings, h.Config)
		if !pending && !s.o.Shared {
			continue // the file has the new key, and no other controller needs it
		}
		b, err := seal(h.key, current.Config, "next")
		if err != nil {
			return err
		}
		if next.Next == nil {
			next.Next = map[string][]byte{}
		}
		next.Next[h.key.ID()] = b
	}
	if settings != nil {
		var err error
		if next.Earlier, err = seal(current.key, settings, "earlier"); err != nil {
			return err
		}
	}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	compare := datastore.Compare{Namespace: namespace, Key: recordKey}
	if was != nil {
		compare.Revision = was.revision
	}
	_, err = s.o.Store.Commit(ctx, datastore.Txn{Ops: []datastore.Op{datastore.Put(namespace, recordKey, text)}, Compares: []datastore.Compare{compare}})
	if errors.Is(err, datastore.ErrConflict) {
		return errOvertaken
	}
	return err
}
