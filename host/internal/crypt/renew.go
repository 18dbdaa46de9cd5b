package crypt

import (
	"bytes"
	"encoding/base64"
)

// Renewer seals anew what earlier keys of a ring sealed, wherever it stands in a
// value: as the whole of it, or in base64 within a document.
type Renewer struct {
	ring  *Ring
	marks []mark
}

// mark is how a text of an earlier key begins in base64. Version and id are nine
// bytes, so the first twelve characters are always the same.
type mark struct {
	text      []byte
	encodings []*base64.Encoding // with padding, without
	id        keyID
}

var alphabets = [][]*base64.Encoding{{base64.StdEncoding, base64.RawStdEncoding}, {base64.URLEncoding, base64.RawURLEncoding}}

// Renewer returns what renews the texts of the keys that are not current now.
func (r *Ring) Renewer() *Renewer {
	out := &Renewer{ring: r}
	now := r.now.Load()
	for id := range now.all {
		if id == now.current.id {
			continue
		}
		for _, v := range []byte{version1, version2} {
			name := append([]byte{v}, id[:]...)
			for i, e := range alphabets {
				text := []byte(e[0].EncodeToString(name))
				if i > 0 && bytes.Equal(text, out.marks[len(out.marks)-1].text) {
					continue // alike in both alphabets: what follows is read in the one that fits
				}
				out.marks = append(out.marks, mark{text, append(append([]*base64.Encoding{}, e...), alphabets[1-i]...), id})
			}
		}
	}
	return out
}

// Idle reports that there are no earlier keys.
func (n *Renewer) Idle() bool { return len(n.marks) == 0 }

// Found is what a value held.
type Found struct {
	Renewed int
	Left    map[string]int // texts that could not be renewed, by the id of their key
}

func (f *Found) leave(id keyID) {
	if f.Left == nil {
		f.Left = map[string]int{}
	}
	f.Left[id.String()]++
}

// Renew returns value with its texts sealed by the current key. purposes are those
// that a text of version 1 may have been sealed for, beside the ones seen.
func (n *Renewer) Renew(value []byte, purposes ...string) ([]byte, Found) {
	var f Found
	now := n.ring.now.Load()
	if k := now.of(value); k != nil {
		if k == now.current {
			return value, f
		}
		if out, ok := n.again(k, value, purposes); ok {
			f.Renewed++
			return out, f
		}
		f.leave(k.id)
		return value, f
	}
	for _, m := range n.marks {
		value = n.within(m, value, purposes, &f)
	}
	return value, f
}

// within renews the texts in base64 that begin with a mark.
func (n *Renewer) within(m mark, value []byte, purposes []string, f *Found) []byte {
	from := 0
	for {
		i := bytes.Index(value[from:], m.text)
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
		done := false
		for _, e := range m.encodings {
			text, err := e.Strict().DecodeString(string(value[start:end]))
			if err != nil {
				continue
			}
			k := n.ring.now.Load().of(text)
			if k == nil {
				continue
			}
			out, ok := n.again(k, text, purposes)
			if !ok {
				break
			}
			encoded := e.EncodeToString(out)
			for i := 0; i < sameLetters && !special(value[start:end]) && special([]byte(encoded)); i++ {
				if out, ok = n.again(k, text, purposes); ok {
					encoded = e.EncodeToString(out)
				}
			}
			value = append(append(append([]byte{}, value[:start]...), encoded...), value[end:]...)
			from = start + len(encoded)
			f.Renewed++
			done = true
			break
		}
		if !done {
			f.leave(m.id)
		}
	}
}

// sameLetters is how often a text is sealed to get one that reads alike in both
// alphabets, as the one before did: which of them its owner uses is not to be seen.
const sameLetters = 5000

func special(text []byte) bool { return bytes.ContainsAny(text, "+/-_") }

func inBase64(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_' || c == '='
}

// again opens a text and seals it with the current key, for the same purpose.
func (n *Renewer) again(k *Key, text []byte, purposes []string) ([]byte, bool) {
	if text[0] == version2 {
		head, _, ok := split(text)
		if !ok {
			return nil, false
		}
		return n.try(k, text, string(head[nameSize+2:]))
	}
	for _, p := range purposes {
		if out, ok := n.try(k, text, p); ok {
			return out, true
		}
	}
	var out []byte
	done := false
	n.ring.known.Range(func(p, _ any) bool {
		out, done = n.try(k, text, p.(string))
		return !done
	})
	return out, done
}

func (n *Renewer) try(k *Key, text []byte, purpose string) ([]byte, bool) {
	plain, err := k.open(text, []byte(purpose))
	if err != nil {
		return nil, false
	}
	out, err := n.ring.Seal(plain, []byte(purpose))
	return out, err == nil
}
