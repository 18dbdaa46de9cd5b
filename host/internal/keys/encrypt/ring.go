package encrypt

import (
	"errors"
	"sync/atomic"
)

// Ring seals with its current key and opens with any. It is safe for concurrent use.
type Ring struct {
	now atomic.Pointer[ring]
	// foreign is called for a text whose key is not in the ring: another controller
	// may have replaced the key a moment ago. It is set before the ring is used.
	foreign func()
}

type ring struct {
	current *Key
	all     map[keyID]*Key
}

// Set replaces all keys.
func (r *Ring) Set(current *Key, earlier ...*Key) {
	next := &ring{current, map[keyID]*Key{current.id: current}}
	for _, k := range earlier {
		next.all[k.id] = k
	}
	r.now.Store(next)
}

// OnForeign has f called before a text of an unknown key is refused.
func (r *Ring) OnForeign(f func()) { r.foreign = f }

// Seal is Key.Seal with the current key.
func (r *Ring) Seal(plaintext, purpose []byte) ([]byte, error) {
	return r.now.Load().current.Seal(plaintext, purpose)
}

// Open returns the plaintext: ErrForeign when the key is another home's, ErrForged when a
// byte or the purpose differs. Texts of the old system open with the keys whose settings
// name its cipher.
func (r *Ring) Open(sealed, purpose []byte) ([]byte, error) {
	plain, err := r.now.Load().openSealed(sealed, purpose)
	if r.foreign != nil && errors.Is(err, ErrForeign) {
		r.foreign()
		plain, err = r.now.Load().openSealed(sealed, purpose)
	}
	return plain, err
}

func (n *ring) openSealed(sealed, purpose []byte) ([]byte, error) {
	if k := n.keyOf(sealed); k != nil {
		return k.Open(sealed, purpose)
	}
	for _, k := range n.all {
		if plain, ok := k.openOld(sealed); ok {
			return plain, nil
		}
	}
	if Sealed(sealed) {
		return nil, ErrForeign
	}
	return nil, ErrForged
}

// keyOf is the key that a text names, nil when the ring has none of that id.
func (n *ring) keyOf(sealed []byte) *Key {
	if !Sealed(sealed) {
		return nil
	}
	return n.all[keyID(sealed[1:nameSize])]
}
