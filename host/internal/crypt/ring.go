package crypt

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// A sealed text of version 2 is the version, the id of the key, the purpose with
// its length, a nonce and what the cipher made of the plaintext. The id lets keys
// be replaced while old texts still open; the purpose, which is no secret, lets
// them be sealed anew wherever they are found. Version 1 has no purpose in it.
const (
	version1 = 1
	version2 = 2
	nameSize = 1 + idSize // version and id
	nonce1   = 12
)

// MaxPlaintext bounds what is sealed at once, in bytes.
const MaxPlaintext = 1 << 20

// The errors that callers act on.
var (
	ErrForeign = errors.New("crypt: sealed with a key this home does not have")
	ErrForged  = errors.New("crypt: not what was sealed, or sealed for another purpose")
	ErrTooBig  = fmt.Errorf("crypt: more than %d bytes are not sealed at once", MaxPlaintext)
	ErrPurpose = errors.New("crypt: a purpose has at most 65535 bytes")
	errOnly    = errors.New("crypt: the key only opens")
)

// Ring seals with its current key and opens with any. It is safe for concurrent use.
type Ring struct {
	now    atomic.Pointer[keys]
	change sync.Mutex
	// foreign is asked once for a text whose key is not in the ring: another
	// controller may have replaced the key a moment ago.
	foreign atomic.Pointer[func()]

	known sync.Map // purposes of version 1 seen, to seal such texts anew
	count atomic.Int32
}

type keys struct {
	current *Key
	all     map[keyID]*Key
}

// NewRing makes a ring that seals with current and opens with the others, too.
func NewRing(current *Key, others ...*Key) (*Ring, error) {
	r := &Ring{}
	if err := r.Use(current); err != nil {
		return nil, err
	}
	r.Add(others...)
	return r, nil
}

// Use seals with k from now on; the earlier keys open still.
func (r *Ring) Use(k *Key) error {
	if k.first != nil {
		return errOnly
	}
	r.set(func(n *keys) { n.current, n.all[k.id] = k, k })
	return nil
}

// Add opens with these keys, too.
func (r *Ring) Add(others ...*Key) {
	r.set(func(n *keys) {
		for _, k := range others {
			n.all[k.id] = k
		}
	})
}

// Drop forgets a key; what it sealed does not open any more. The current one stays.
func (r *Ring) Drop(id string) {
	r.set(func(n *keys) {
		for have := range n.all {
			if have.String() == id && have != n.current.id {
				delete(n.all, have)
			}
		}
	})
}

func (r *Ring) set(f func(*keys)) {
	r.change.Lock()
	defer r.change.Unlock()
	next := &keys{all: map[keyID]*Key{}}
	if old := r.now.Load(); old != nil {
		next.current, next.all = old.current, maps.Clone(old.all)
	}
	f(next)
	r.now.Store(next)
}

// CurrentID names the key that seals.
func (r *Ring) CurrentID() string { return r.now.Load().current.ID() }

// IDs names all keys, sorted.
func (r *Ring) IDs() []string {
	var out []string
	for id := range r.now.Load().all {
		out = append(out, id.String())
	}
	slices.Sort(out)
	return out
}

// OnForeign has f called before a text of an unknown key is given up.
func (r *Ring) OnForeign(f func()) { r.foreign.Store(&f) }

// Seal protects plaintext. purpose says what it is for (such as "switch/db/NAME");
// Open needs the same, so that a sealed text cannot be moved elsewhere.
func (r *Ring) Seal(plaintext, purpose []byte) ([]byte, error) {
	return r.now.Load().current.Seal(plaintext, purpose)
}

// Seal is Ring.Seal with this key.
func (k *Key) Seal(plaintext, purpose []byte) ([]byte, error) {
	switch {
	case len(plaintext) > MaxPlaintext:
		return nil, ErrTooBig
	case len(purpose) > 0xffff:
		return nil, ErrPurpose
	}
	n := k.aead.NonceSize()
	out := make([]byte, 0, nameSize+2+len(purpose)+n+len(plaintext)+k.aead.Overhead())
	out = append(append(out, version2), k.id[:]...)
	out = append(binary.BigEndian.AppendUint16(out, uint16(len(purpose))), purpose...)
	head := out
	nonce := out[len(out) : len(out)+n]
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("crypt: no randomness: %w", err)
	}
	return k.aead.Seal(out[:len(out)+n], nonce, plaintext, head), nil
}

// Open returns the plaintext: ErrForeign when the key is another home's, ErrForged
// when a byte or the purpose differs. Texts of the old system open with the keys
// whose settings name its cipher.
func (r *Ring) Open(sealed, purpose []byte) ([]byte, error) {
	plain, err := r.open(sealed, purpose)
	if f := r.foreign.Load(); f != nil && errors.Is(err, ErrForeign) {
		(*f)()
		plain, err = r.open(sealed, purpose)
	}
	return plain, err
}

func (r *Ring) open(sealed, purpose []byte) ([]byte, error) {
	now := r.now.Load()
	if k := now.of(sealed); k != nil {
		plain, err := k.open(sealed, purpose)
		if err == nil && sealed[0] == version1 {
			r.learn(purpose)
		}
		return plain, err
	}
	for _, k := range now.all {
		if plain, ok := k.openOld(sealed); ok {
			return plain, nil
		}
	}
	if len(sealed) > nameSize && (sealed[0] == version1 || sealed[0] == version2) {
		return nil, ErrForeign
	}
	return nil, ErrForged
}

// of is the key that a text names, nil when it names none of the ring.
func (n *keys) of(sealed []byte) *Key {
	if len(sealed) < nameSize || (sealed[0] != version1 && sealed[0] != version2) {
		return nil
	}
	return n.all[keyID(sealed[1:nameSize])]
}

// Open is Ring.Open with this key alone.
func (k *Key) Open(sealed, purpose []byte) ([]byte, error) {
	if n := (&keys{all: map[keyID]*Key{k.id: k}}); n.of(sealed) == nil {
		return nil, ErrForeign
	}
	return k.open(sealed, purpose)
}

func (k *Key) open(sealed, purpose []byte) ([]byte, error) {
	var plain []byte
	var err error = ErrForged
	switch {
	case sealed[0] == version1 && k.first != nil && len(sealed) >= nameSize+nonce1:
		head, rest := sealed[:nameSize:nameSize], sealed[nameSize:]
		plain, err = k.first.Open(nil, rest[:nonce1], rest[nonce1:], append(head, purpose...))
	case sealed[0] == version2:
		head, rest, ok := split(sealed)
		n := k.aead.NonceSize()
		if ok && string(head[nameSize+2:]) == string(purpose) && len(rest) > n {
			plain, err = k.aead.Open(nil, rest[:n], rest[n:], head)
		}
	}
	if err != nil {
		return nil, ErrForged
	}
	return plain, nil
}

// split cuts a text of version 2 behind its purpose.
func split(sealed []byte) (head, rest []byte, ok bool) {
	if len(sealed) < nameSize+2 {
		return nil, nil, false
	}
	n := nameSize + 2 + int(binary.BigEndian.Uint16(sealed[nameSize:]))
	if n > len(sealed) {
		return nil, nil, false
	}
	return sealed[:n], sealed[n:], true
}

// maxKnown bounds the purposes that are remembered.
const maxKnown = 10_000

func (r *Ring) learn(purpose []byte) {
	if r.count.Load() >= maxKnown {
		return
	}
	if _, had := r.known.LoadOrStore(string(purpose), true); !had {
		r.count.Add(1)
	}
}

// Sealed reports whether b could be a text that a ring made, judging by its first byte.
func Sealed(b []byte) bool { return len(b) > nameSize && (b[0] == version1 || b[0] == version2) }
