package crypt

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	idSize  = 8
	rawSize = 32
	minSalt = 8
)

type keyID [idSize]byte

func (id keyID) String() string { return hex.EncodeToString(id[:]) }

// Key seals and opens. It never changes.
type Key struct {
	id    keyID
	aead  cipher.AEAD // of version 2
	first cipher.AEAD // of version 1; nil but for a key of a file, which is never made current
	old   []opener    // of texts of the old system
}

// ID names the key without telling anything about it.
func (k *Key) ID() string { return k.id.String() }

// Derive makes the key of the settings: a password and a salt in base64.
func Derive(p Params, password, salt string) (*Key, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if password == "" {
		return nil, errors.New("<encrypt-key> is empty")
	}
	s, err := base64.StdEncoding.DecodeString(salt)
	if err != nil || len(s) < minSalt {
		return nil, fmt.Errorf("<encrypt-salt> is not base64 of at least %d bytes", minSalt)
	}
	raw, err := pbkdf2.Key(p.hash(), password, s, p.Iterations, p.Length/8)
	if err != nil {
		return nil, err
	}
	k := &Key{old: oldOpeners(raw, s, p.cbc())}
	// What is derived is used by the old system as it is; each use here has a key of its own.
	part := func(use string, n int) []byte {
		b, e := hkdf.Expand(sha256.New, raw, "ctl "+use, n)
		err = errors.Join(err, e)
		return b
	}
	if p.cbc() {
		k.aead, err = newCBC(part("cbc cipher", len(raw)), part("cbc mac", rawSize))
	} else {
		k.aead, err = newGCM(part("gcm", len(raw)))
	}
	// Without letters that the two alphabets of base64 write differently, so that
	// a text can be replaced by one in the same letters.
	for i := 0; ; i++ {
		copy(k.id[:], part(fmt.Sprintf("%s id %d", strings.ToLower(p.Transform[:7]), i), idSize))
		name := base64.StdEncoding.EncodeToString(append([]byte{version2}, k.id[:]...))
		if err != nil || !special([]byte(name)) {
			return k, err
		}
	}
}

// RawKey is a key of 32 random bytes, as files of earlier releases hold them. It
// opens what was sealed with it and cannot become the current key of a ring.
func RawKey(b []byte) (*Key, error) {
	if len(b) != rawSize {
		return nil, fmt.Errorf("crypt: a key has %d bytes, want %d", len(b), rawSize)
	}
	first, err := newGCM(b)
	if err != nil {
		return nil, err
	}
	// What such a key hands over to its successor is sealed as everything is now.
	part, err := hkdf.Expand(sha256.New, b, "ctl gcm", rawSize)
	if err != nil {
		return nil, err
	}
	aead, err := newGCM(part)
	if err != nil {
		return nil, err
	}
	k := &Key{first: first, aead: aead}
	sum := sha256.Sum256(append([]byte("ctl seal key id\x00"), b...))
	copy(k.id[:], sum[:])
	return k, nil
}

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
