package encrypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
)

// opener opens a text of the old system; an error means that it is none.
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
		out = append(out, func(text []byte) ([]byte, error) { return openCBC(block, salt, text) })
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
