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
	// Keys are the settings of all keys, the current one first, sealed by each key whose holder may have
	// them, by its id: a controller that was away, or died before it wrote the new key into its file, has
	// an earlier one.
	Keys map[string][]byte `json:"keys,omitempty"`

	revision datastore.Revision
}

// held is a key with the settings that it is made of.
type held struct {
	Config
	key *Key
}

func (c Config) deriveKey() (held, error) {
	k, err := Derive(c.Params, c.Key, c.Salt)
	return held{c, k}, err
}

var keysPurpose = []byte(namespace + "/" + recordKey)

// loadRecord reads the record; nil if it does not exist.
func (s *Service) loadRecord(ctx context.Context) (*record, error) {
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

// openKeys returns all keys, the current one first, for the holder of one of them; none for the holder of another.
func (r *record) openKeys(own held) ([]held, error) {
	sealed, ok := r.Keys[own.key.ID()]
	if !ok {
		return nil, nil
	}
	var settings []Config
	plain, err := own.key.Open(sealed, keysPurpose)
	if err == nil {
		err = json.Unmarshal(plain, &settings)
	}
	out := make([]held, len(settings))
	for i, c := range settings {
		c.KeyCharacters = own.KeyCharacters
		if err == nil {
			out[i], err = c.deriveKey()
		}
	}
	if err == nil && (len(out) == 0 || out[0].key.ID() != r.ID) {
		err = errors.New("the first is not the current one")
	}
	if err != nil {
		return nil, fmt.Errorf("the keys in the datastore do not open: %w", err)
	}
	return out, nil
}

// errOvertaken says that another controller changed the current key meanwhile.
var errOvertaken = errors.New("another controller replaced the key at the same time")

// storeKeys writes the record of the keys, the current one first, if it still is as it was; was nil = there is none.
func (s *Service) storeKeys(ctx context.Context, was *record, keys []held, pending bool) error {
	current := keys[0]
	next := record{
		ID:      current.key.ID(),
		Params:  current.Params,
		Salt:    current.Salt,
		Pending: pending,
		Keys:    map[string][]byte{},
	}
	var settings []Config
	for _, h := range keys {
		settings = append(settings, h.Config)
	}
	plain, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	holders := keys
	if !pending && !s.o.Shared {
		holders = keys[:1] // the file has the current key, and there is no other controller
	}
	for _, h := range holders {
		if next.Keys[h.key.ID()], err = h.key.Seal(plain, keysPurpose); err != nil {
			return err
		}
	}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	compare := datastore.Compare{
		Namespace: namespace,
		Key:       recordKey,
	}
	if was != nil {
		compare.Revision = was.revision
	}
	_, err = s.o.Store.Commit(
		ctx,
		datastore.Txn{
			Ops:      []datastore.Op{datastore.Put(namespace, recordKey, text)},
			Compares: []datastore.Compare{compare},
		},
	)
	if errors.Is(err, datastore.ErrConflict) {
		return errOvertaken
	}
	return err
}
