package encrypt

import (
	"bytes"
	"encoding/base64"
	"regexp"
)

// Found says what was done with the texts of earlier keys.
type Found struct {
	Renewed int            `json:"renewed"`        // texts sealed by the current key
	Left    map[string]int `json:"left,omitempty"` // texts that still need an earlier key, by its id
}

// countLeft counts a text that needs a key and cannot be sealed again.
func (f *Found) countLeft(k *Key) {
	if f.Left == nil {
		f.Left = map[string]int{}
	}
	f.Left[k.ID()]++
}

// Renew returns value with the texts of earlier keys sealed by the current one, wherever they
// are: as the whole of it, or in base64 within a document. What it did is added to found.
func (r *Ring) Renew(value []byte, found *Found) []byte {
	now := r.now.Load()
	if len(now.all) == 1 {
		return value
	}
	if now.keyOf(value) != nil {
		return now.resealText(value, found)
	}
	return inBase64.ReplaceAllFunc(value, func(text []byte) []byte {
		return now.renewEncoded(text, found)
	})
}

var (
	// inBase64 finds what is long enough for a sealed text, in either alphabet.
	inBase64  = regexp.MustCompile(`[A-Za-z0-9+/_-]{24,}={0,2}`)
	encodings = []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}
)

// sameLetters is how often a text is sealed to get one that reads alike in both alphabets,
// as the one before did: which of them its owner uses is not visible.
const sameLetters = 5000

// renewEncoded renews a text in base64, in the alphabet and with the padding it has.
func (n *ring) renewEncoded(text []byte, found *Found) []byte {
	for _, e := range encodings {
		sealed, err := e.Strict().DecodeString(string(text))
		k := n.keyOf(sealed)
		if err != nil || k == nil || k == n.current {
			continue
		}
		next := e.AppendEncode(nil, n.resealText(sealed, found))
		for try := 0; !hasSpecialChar(text) && hasSpecialChar(next) && try < sameLetters; try++ {
			next = e.AppendEncode(nil, n.resealText(sealed, new(Found)))
		}
		return next
	}
	return text
}

// resealText seals a text of an earlier key with the current one, for the same purpose.
func (n *ring) resealText(text []byte, found *Found) []byte {
	k := n.keyOf(text)
	if k == n.current {
		return text
	}
	purpose, _, _ := splitSealed(text)
	plain, err := k.Open(text, purpose)
	if err == nil {
		plain, err = n.current.Seal(plain, purpose)
	}
	if err != nil {
		found.countLeft(k)
		return text
	}
	found.Renewed++
	return plain
}

func hasSpecialChar(text []byte) bool {
	return bytes.ContainsAny(text, "+/-_")
}
