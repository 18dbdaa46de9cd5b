package encrypt

import (
	"bytes"
	"encoding/base64"
)

// Found says what was done with the texts of earlier keys.
type Found struct {
	Renewed int            `json:"renewed"`        // texts sealed by the current key
	Left    map[string]int `json:"left,omitempty"` // texts that still need an earlier key, by its id
}

func (f *Found) add(g Found) {
	f.Renewed += g.Renewed
	for id, n := range g.Left {
		f.leave(id, n)
	}
}

func (f *Found) leave(id string, n int) {
	if f.Left == nil {
		f.Left = map[string]int{}
	}
	f.Left[id] += n
}

// Renew returns value with the texts of earlier keys sealed by the current one, wherever they
// are: as the whole of it, or in base64 within a document.
func (r *Ring) Renew(value []byte) ([]byte, Found) {
	var f Found
	now := r.now.Load()
	if k := now.of(value); k == now.current {
		return value, f
	} else if k != nil {
		if out, ok := now.again(k, value); ok {
			f.Renewed++
			return out, f
		}
		f.leave(k.ID(), 1)
		return value, f
	}
	for _, k := range now.all {
		if k != now.current {
			value = now.within(k, value, &f)
		}
	}
	return value, f
}

// within renews the texts of a key in base64.
func (n *keys) within(k *Key, value []byte, f *Found) []byte {
	mark := k.mark()
	for from := 0; ; {
		i := bytes.Index(value[from:], mark)
		if i < 0 {
			return value
		}
		start := from + i
		end := start
		for end < len(value) && inBase64(value[end]) {
			end++
		}
		from = end
		if start > 0 && inBase64(value[start-1]) && value[start-1] != '=' {
			continue // the middle of something else
		}
		next, ok := n.encoded(k, value[start:end])
		if !ok {
			f.leave(k.ID(), 1)
			continue
		}
		value = append(append(append([]byte{}, value[:start]...), next...), value[end:]...)
		from = start + len(next)
		f.Renewed++
	}
}

// sameLetters is how often a text is sealed to get one that reads alike in both alphabets,
// as the one before did: which of them its owner uses is not visible.
const sameLetters = 5000

// encoded renews a text in base64, in the alphabet and with the padding it has.
func (n *keys) encoded(k *Key, text []byte) ([]byte, bool) {
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		sealed, err := e.Strict().DecodeString(string(text))
		if err != nil {
			continue
		}
		for try := 0; ; try++ {
			out, ok := n.again(k, sealed)
			if !ok {
				return nil, false
			}
			next := e.AppendEncode(nil, out)
			if special(text) || !special(next) || try == sameLetters {
				return next, true
			}
		}
	}
	return nil, false
}

func special(text []byte) bool { return bytes.ContainsAny(text, "+/-_") }

func inBase64(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_' || c == '='
}

// again opens a text and seals it with the current key, for the same purpose.
func (n *keys) again(k *Key, text []byte) ([]byte, bool) {
	purpose, _, _ := split(text)
	plain, err := k.Open(text, purpose)
	if err != nil {
		return nil, false
	}
	out, err := n.current.Seal(plain, purpose)
	return out, err == nil
}
