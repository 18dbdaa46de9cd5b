package encrypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// A sealed text is the version, the id of the key, the purpose with its length, a nonce and
// what the cipher made of the plaintext. The id lets keys be replaced while old texts still
// open; the purpose, which is no secret, lets them be sealed again wherever they are found.
const (
	version  = 2
	idSize   = 8
	nameSize = 1 + idSize // version and id
	macKey   = 32
	minSalt  = 8
)

// MaxPlaintext bounds what is sealed at once, in bytes.
const MaxPlaintext = 1 << 20

// The errors that callers act on.
var (
	ErrKeyLost = errors.New("the key of the sealed secrets is lost")
	ErrForeign = errors.New("sealed with a key that this home does not have")
	ErrForged  = errors.New("the sealed text was changed, or it was sealed for another purpose")
	ErrTooBig  = fmt.Errorf("at most %d bytes can be sealed at once", MaxPlaintext)
	ErrPurpose = errors.New("a purpose has at most 65535 bytes")
)

type keyID [idSize]byte

func (id keyID) String() string {
	return hex.EncodeToString(id[:])
}

// Key seals and opens. It never changes.
type Key struct {
	id   keyID
	aead cipher.AEAD
	old  []opener // of texts of the old system
}

// ID names the key. It reveals nothing about it.
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
	raw, err := pbkdf2.Key(p.hashFunc(), password, s, p.Iterations, p.Length/8)
	if err != nil {
		return nil, err
	}
	k := &Key{old: oldOpeners(raw, s, p.isCBC())}
	// The old system uses what is derived as it is; each use here has a key of its own.
	part := func(use string, n int) []byte {
		b, e := hkdf.Expand(sha256.New, raw, "ctl "+use, n)
		err = errors.Join(err, e)
		return b
	}
	if p.isCBC() {
		k.aead, err = newCBC(part("cbc cipher", len(raw)), part("cbc mac", macKey))
	} else {
		k.aead, err = newGCM(part("gcm", len(raw)))
	}
	// Without letters that the two alphabets of base64 write differently: texts begin alike in both.
	for i := 0; ; i++ {
		copy(k.id[:], part(fmt.Sprintf("%s id %d", strings.ToLower(p.Transform[:7]), i), idSize))
		if err != nil ||
			!hasSpecialChar(base64.StdEncoding.AppendEncode(nil, append([]byte{version}, k.id[:]...))) {
			return k, err
		}
	}
}

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// Seal protects plaintext. purpose says what it is for (such as "switch/db/NAME"); Open
// needs the same, so that a sealed text cannot be moved elsewhere.
func (k *Key) Seal(plaintext, purpose []byte) ([]byte, error) {
	switch {
	case len(plaintext) > MaxPlaintext:
		return nil, ErrTooBig
	case len(purpose) > 0xffff:
		return nil, ErrPurpose
	}
	n := k.aead.NonceSize()
	out := make([]byte, 0, nameSize+2+len(purpose)+n+len(plaintext)+k.aead.Overhead())
	out = append(append(out, version), k.id[:]...)
	out = append(binary.BigEndian.AppendUint16(out, uint16(len(purpose))), purpose...)
	head := out
	nonce := out[len(out) : len(out)+n]
	_, _ = rand.Read(nonce) // never fails since Go 1.24
	return k.aead.Seal(out[:len(out)+n], nonce, plaintext, head), nil
}

// Open returns the plaintext: ErrForeign when another key sealed it, ErrForged when a byte
// or the purpose differs.
func (k *Key) Open(sealed, purpose []byte) ([]byte, error) {
	if !Sealed(sealed) || keyID(sealed[1:nameSize]) != k.id {
		return nil, ErrForeign
	}
	was, head, rest := splitSealed(sealed)
	n := k.aead.NonceSize()
	if head == nil || string(was) != string(purpose) || len(rest) <= n {
		return nil, ErrForged
	}
	plain, err := k.aead.Open(nil, rest[:n], rest[n:], head)
	if err != nil {
		return nil, ErrForged
	}
	return plain, nil
}

// splitSealed cuts a text after its purpose; head is nil when it is too short.
func splitSealed(sealed []byte) (purpose, head, rest []byte) {
	if len(sealed) < nameSize+2 {
		return nil, nil, nil
	}
	n := nameSize + 2 + int(binary.BigEndian.Uint16(sealed[nameSize:]))
	if n > len(sealed) {
		return nil, nil, nil
	}
	return sealed[nameSize+2 : n], sealed[:n], sealed[n:]
}

// Sealed reports whether b could be a text that a key made, judging by its first byte.
func Sealed(b []byte) bool {
	return len(b) > nameSize && b[0] == version
}

// opener opens a text of the old system; an error means that it is not such a text.
type opener func(text []byte) ([]byte, error)

// oldOpeners open what the old system made with this key and salt. Its vector was
// the salt, for every text. AES/CBC texts carry nothing that shows an alteration,
// so they open only with a key whose settings name that transform.
func oldOpeners(raw, salt []byte, cbc bool) []opener {
	block, err := aes.NewCipher(raw)
	if err != nil || len(salt) != aes.BlockSize {
		return nil
	}
	var out []opener
	if gcm, err := cipher.NewGCMWithNonceSize(block, len(salt)); err == nil {
		out = append(out, func(text []byte) ([]byte, error) {
			rest, ok := bytes.CutPrefix(text, salt)
			if !ok {
				return nil, ErrForged
			}
			return gcm.Open(nil, salt, rest, nil)
		})
	}
	if cbc {
		out = append(out, func(text []byte) ([]byte, error) {
			return openCBC(block, salt, text)
		})
	}
	return out
}

// openOld tries a text of the old system, as it is or in base64.
func (k *Key) openOld(text []byte) ([]byte, bool) {
	forms := [][]byte{text}
	if b, err := base64.StdEncoding.DecodeString(string(text)); err == nil {
		forms = [][]byte{b, text}
	}
	for _, form := range forms {
		for _, open := range k.old {
			if plain, err := open(form); err == nil {
				return plain, true
			}
		}
	}
	return nil, false
}
