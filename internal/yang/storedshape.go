package yang

import (
	"slices"
	"strings"
)

// shape is what entries of a list have in common that differ in values alone: the text between the values, as it is
// stored and as it is written. Most lists have one or two shapes; their entries are copied without a look at the
// schema.
type shape struct {
	stored, written []string // what stands before, between and after the values
	size            int      // bytes of written
}

const (
	maxShapes  = 3  // of one list; its other entries are written member by member
	shapesFrom = 16 // entries of a list that is worth it
)

// copied is a value that was written as it is stored: where it begins in both, and its length.
type copied struct{ stored, written, size int }

// What a value ends at that is copied: a string of JSON, one that is written as XML, and one without quotes.
var (
	inJSON   = [256]bool{'"': true, '\\': true}
	unquoted = [256]bool{
		',': true,
		'}': true,
		']': true,
		'"': true,
		'[': true,
		'{': true,
	}
)

// writeEntry writes an entry by a shape that is known, else member by member, and returns the shapes known then.
func (w *Writer) writeEntry(t string, n *Node, module string, known []shape) []shape {
	for i := range known {
		if w.copyByShape(t, &known[i]) {
			return known
		}
	}
	if len(known) == maxShapes {
		w.writeObject(t, 0, n, nil, module)
		return known
	}
	from := len(w.buf)
	w.spans, w.noting = w.spans[:0], true
	w.writeObject(t, 0, n, nil, module)
	w.noting = false
	if w.err != nil {
		return known
	}
	written := string(w.buf[from:])
	s := shape{}
	pos := 0
	out := 0
	for _, v := range append(w.spans, copied{len(t), len(w.buf), 0}) {
		s.stored = append(s.stored, t[pos:v.stored])
		s.written = append(s.written, written[out:v.written-from])
		pos, out = v.stored+v.size, v.written-from+v.size
	}
	s.size = len(written)
	return append(known, s)
}

// noteCopied keeps, for the shape of an entry, that a value was written as it is stored, with so many bytes after it.
func (w *Writer) noteCopied(stored, size, after int) {
	if w.noting && stored >= 0 {
		w.spans = append(w.spans, copied{stored, len(w.buf) - after - size, size})
	}
}

// copyByShape writes an entry if it has a shape.
func (w *Writer) copyByShape(t string, s *shape) bool {
	w.buf = slices.Grow(w.buf, s.size+len(t))
	out := w.buf[len(w.buf):cap(w.buf)]
	pos, n := 0, 0
	for i, text := range s.stored {
		if i > 0 {
			end, from := &unquoted, pos
			quoted := t[pos-1] == '"'
			switch {
			case quoted && w.XML:
				end = &jsonOrXML
			case quoted:
				end = &inJSON
			}
			for pos < len(t) && !end[t[pos]] {
				out[n] = t[pos]
				n, pos = n+1, pos+1
			}
			if pos == from && (w.XML || !quoted) {
				return false
			}
		}
		if !strings.HasPrefix(t[pos:], text) {
			return false
		}
		pos += len(text)
		n += copy(out[n:], s.written[i])
	}
	if pos != len(t) {
		return false
	}
	w.buf = w.buf[:len(w.buf)+n]
	return true
}
