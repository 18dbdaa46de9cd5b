package crypt

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// A sealed text is a version byte, the id of the key, a nonce and what AES-256-GCM
// made of the plaintext. The id lets keys be replaced while old texts still open.
const (
	version   = 1
	keySize   = 32
	idSize    = 8
	nonceSize = 12
	header    = 1 + idSize + nonceSize
)

// MaxPlaintext bounds what is sealed at once, in bytes.
const MaxPlaintext = 1 << 20

// The errors that callers act on.
var (
	ErrForeign = errors.New("crypt: sealed with a key this home does not have")
	ErrForged  = errors.New("crypt: not what was sealed, or sealed for another purpose")
	ErrTooBig  = fmt.Errorf("crypt: more than %d bytes are not sealed at once", MaxPlaintext)
)

type keyID [idSize]byte

// Sealer seals with its first key and opens with any. It is safe for
// concurrent use and never changes.
type Sealer struct {
	first keyID
	keys  map[keyID]cipher.AEAD
}

// NewSealer makes a Sealer from keys of 32 random bytes, the current one first.
func NewSealer(keys ...[]byte) (*Sealer, error) {
	if len(keys) == 0 {
		return nil, errors.New("crypt: no key")
	}
	s := &Sealer{keys: map[keyID]cipher.AEAD{}}
	for i, k := range keys {
		if len(k) != keySize {
			return nil, fmt.Errorf("crypt: a key has %d bytes, want %d", len(k), keySize)
		}
		block, err := aes.NewCipher(k)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		id := idOf(k)
		if i == 0 {
			s.first = id
		}
		s.keys[id] = aead
	}
	return s, nil
}

// idOf names a key without telling anything about it.
func idOf(key []byte) (id keyID) {
	sum := sha256.Sum256(append([]byte("ctl seal key id\x00"), key...))
	copy(id[:], sum[:])
	return id
}

// Seal protects plaintext. aad says what it is for (such as "switch/db/<name>");
// Open needs the same, so that a sealed text cannot be moved elsewhere.
func (s *Sealer) Seal(plaintext, aad []byte) ([]byte, error) {
	if len(plaintext) > MaxPlaintext {
		return nil, ErrTooBig
	}
	out := make([]byte, header, header+len(plaintext)+16)
	out[0] = version
	copy(out[1:], s.first[:])
	if _, err := rand.Read(out[1+idSize : header]); err != nil {
		return nil, fmt.Errorf("crypt: no randomness: %w", err)
	}
	return s.keys[s.first].Seal(out, out[1+idSize:header], plaintext, bind(out, aad)), nil
}

// Open returns the plaintext: ErrForeign when the key is another home's, ErrForged
// when a byte or the aad differs.
func (s *Sealer) Open(sealed, aad []byte) ([]byte, error) {
	if len(sealed) < header+16 || sealed[0] != version {
		return nil, ErrForged
	}
	aead, ok := s.keys[keyID(sealed[1:1+idSize])]
	if !ok {
		return nil, ErrForeign
	}
	plain, err := aead.Open(nil, sealed[1+idSize:header], sealed[header:], bind(sealed, aad))
	if err != nil {
		return nil, ErrForged
	}
	return plain, nil
}

// Current reports whether sealed uses the key that Seal uses now; if not, the
// caller may seal anew.
func (s *Sealer) Current(sealed []byte) bool {
	return len(sealed) >= header && sealed[0] == version && keyID(sealed[1:1+idSize]) == s.first
}

// bind protects the version and key id together with the caller's data.
func bind(sealed, aad []byte) []byte {
	return append(append([]byte{}, sealed[:1+idSize]...), aad...)
}
