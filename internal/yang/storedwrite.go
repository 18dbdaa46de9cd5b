package yang

import (
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// Writer writes stored instances as JSON or XML in one pass over their texts, without decoding
// them. Members that the schema does not have any more are left out.
type Writer struct {
	Style Style
	XML   bool
	// Hide writes Mask in place of secret texts. What is left out altogether (Node.LeavesOut) needs Data.HideSecrets.
	Hide bool
	// Flush takes what is written so far, in parts of about 64 KiB.
	Flush func([]byte) error

	xmlWriter
	err    error
	noting bool // the values that are written as they are stored, for the shape of an entry
	spans  []copied
}

const flushAt = 64 << 10 // what was written is still in the processor's cache when it is sent

// Text appends a text as it is.
func (w *Writer) Text(t string) { w.buf = append(w.buf, t...) }

// Stored appends an instance: in JSON its value, in XML its elements.
func (w *Writer) Stored(s *Stored) {
	w.spaces = s.Node.spaces
	w.writeStored(s, "")
}

// Finish flushes the rest. The error is the first one of Flush, or of a text that does not fit its
// schema, as a fault.
func (w *Writer) Finish() error {
	w.flushFrom(0)
	return w.err
}

func (w *Writer) flushFrom(from int) {
	if len(w.buf) > from && w.err == nil {
		w.err = w.Flush(w.buf)
		w.buf = w.buf[:0]
	}
}

// reportMisfit notes that a text does not match its schema and returns where it ends.
func (w *Writer) reportMisfit(t string, n *Node) int {
	if w.err == nil {
		w.err = fault.New(fault.Internal, "what is stored of %s does not fit the schema", n.QName())
	}
	return len(t)
}

// writeStored writes s below an element of a module.
func (w *Writer) writeStored(s *Stored, module string) {
	switch {
	case w.err != nil:
	case s.Array:
		w.writeArray(s, module)
	case s.Text == "":
		w.writeObject("{}", 0, s.Node, s.Below, module)
	case s.Node.Kind == List && s.Text[0] != '[': // an entry
		w.writeObject(s.Text, 0, s.Node, s.Below, module)
	case s.Node.Kind == LeafList && s.Text[0] != '[':
		w.writeLeaf(s.Text, 0, s.Node, module)
	default:
		w.writeInstance(s.Text, 0, s.Node, s.Below, module)
	}
}

func (w *Writer) writeArray(s *Stored, module string) {
	w.writeJSONByte('[')
	if s.Len() > 1000 {
		w.buf = slices.Grow(w.buf, flushAt+4<<10)
	}
	var known []shape
	for i, t := range s.Texts {
		if i > 0 {
			w.writeJSONByte(',')
		}
		below := s.entryBelow(i)
		if below != nil || s.Len() < shapesFrom {
			w.writeObject(t, 0, s.Node, below, module)
		} else {
			known = w.writeEntry(t, s.Node, module, known)
		}
		w.flushFrom(flushAt)
	}
	w.writeJSONByte(']')
}

// writeJSONByte writes what stands between values in JSON alone.
func (w *Writer) writeJSONByte(c byte) {
	if !w.XML {
		w.buf = append(w.buf, c)
	}
}

// writeInstance writes the value at t[pos], which is one of n, and returns where it ends.
func (w *Writer) writeInstance(t string, pos int, n *Node, below []*Stored, module string) int {
	switch n.Kind {
	case Leaf:
		return w.writeLeaf(t, pos, n, module)
	case AnyData:
		return w.writeAnydata(t, pos, n, module)
	case List, LeafList:
		return w.writeEntries(t, pos, n, module)
	}
	return w.writeObject(t, pos, n, below, module)
}

func (w *Writer) writeEntries(t string, pos int, n *Node, module string) int {
	if byteAt(t, pos) != '[' {
		return w.reportMisfit(t, n)
	}
	w.writeJSONByte('[')
	for pos++; byteAt(t, pos) != ']'; {
		if byteAt(t, pos) == ',' {
			w.writeJSONByte(',')
			pos++
		}
		from := pos
		if n.Kind == List {
			pos = w.writeObject(t, pos, n, nil, module)
		} else {
			pos = w.writeLeaf(t, pos, n, module)
		}
		if pos == from || pos >= len(t) {
			return w.reportMisfit(t, n)
		}
	}
	w.writeJSONByte(']')
	return pos + 1
}

// writeObject writes the members at t[pos], and those that are kept in other texts.
func (w *Writer) writeObject(t string, pos int, n *Node, below []*Stored, module string) int {
	if byteAt(t, pos) != '{' {
		return w.reportMisfit(t, n)
	}
	w.writeJSONByte('{')
	if w.XML {
		w.openElement(n, module)
		module = n.Module
	}
	members, next := 0, 0
	for pos++; byteAt(t, pos) != '}'; {
		if byteAt(t, pos) == ',' {
			pos++
		}
		m, value := readMemberName(t, pos, n, &next)
		if value < 0 {
			return w.reportMisfit(t, n)
		}
		switch {
		case m == nil || !m.hasForm(t, value):
			pos = valueEnd(t, value)
		default:
			w.writeMemberName(m, n, &members)
			pos = w.writeInstance(t, value, m, keptBelow(below, m), module)
		}
		if pos < 0 || pos >= len(t) {
			return w.reportMisfit(t, n)
		}
	}
	for _, b := range below {
		if !b.written {
			w.writeMemberName(b.Node, n, &members)
			w.writeStored(b, module)
		}
	}
	switch {
	case !w.XML:
		w.buf = append(w.buf, '}')
	case members == 0 && n.Kind != Root:
		w.buf = append(w.buf[:len(w.buf)-1], '/', '>')
	default:
		w.buf = append(w.buf, n.closing...)
	}
	return pos + 1
}

// hasForm reports whether the value at t[pos] has the JSON form of n's: a module may have changed since it was stored.
func (n *Node) hasForm(t string, pos int) bool {
	c := byteAt(t, pos)
	switch n.Kind {
	case Leaf:
		return c != '{' && (c != '[' || scalarEnd(t, pos) > pos)
	case List, LeafList:
		return c == '['
	case AnyData:
		return true
	}
	return c == '{'
}

// keptBelow is what is kept below a member in other texts.
func keptBelow(below []*Stored, m *Node) []*Stored {
	for _, b := range below {
		if b.Node == m {
			b.written = true
			return b.Below
		}
	}
	return nil
}

// writeMemberName writes the name of a JSON member.
func (w *Writer) writeMemberName(m, n *Node, members *int) {
	*members++
	if w.XML {
		return
	}
	if *members > 1 {
		w.buf = append(w.buf, ',')
	}
	if n.Kind == Root && w.Style&RFC7951 != 0 {
		w.buf = append(w.buf, m.full...)
		return
	}
	w.buf = append(w.buf, m.kept...)
}

// writeLeaf writes a value. Those whose form depends on their type are decoded first.
func (w *Writer) writeLeaf(t string, pos int, n *Node, module string) int {
	end := scalarEnd(t, pos)
	if end <= pos {
		return w.reportMisfit(t, n)
	}
	text := t[pos:end]
	if w.Hide && n.MaskedText() {
		text, pos = `"`+Mask+`"`, -2 // it is nowhere in t
	}
	base := n.Type.Final().Base
	switch {
	case base == Union && (w.XML || w.Style != Canonical) || w.XML && (base == Identityref || base == InstanceIdentifier || strings.IndexByte(text, '\\') >= 0):
		d, err := parseJSON(text, false, &arena{})
		if err != nil {
			return w.reportMisfit(t, n)
		}
		if d.kind == jArray {
			d.kind, d.first = jNull, nil
		}
		d.Node, d.name = n, n.Name
		_ = n.Type.canonicalizeValue(d, n, numberForm) // a value that no longer has the type is written as the string or number that it is
		if w.XML {
			w.writeValue(d, n.Name, module)
		} else {
			w.buf = d.Append(w.buf, w.Style)
		}
	case !w.XML && w.Style&RFC7951 != 0 && base.Quoted() && text[0] != '"':
		w.buf = append(append(append(w.buf, '"'), text...), '"')
		w.noteCopied(pos, len(text), 1)
	case !w.XML:
		w.buf = append(w.buf, text...)
		if text[0] == '"' {
			w.noteCopied(pos+1, len(text)-2, 1)
		} else if text[0] != '[' {
			w.noteCopied(pos, len(text), 0)
		}
	default:
		if text[0] == '"' {
			text, pos = text[1:len(text)-1], pos+1
		} else if text[0] == '[' {
			text = ""
		}
		w.openElement(n, module)
		if text == "" {
			w.buf = append(w.buf[:len(w.buf)-1], '/', '>')
			break
		}
		from := len(w.buf)
		if w.buf = appendXMLText(w.buf, text); len(w.buf) == from+len(text) {
			w.noteCopied(pos, len(text), 0)
		}
		w.buf = append(w.buf, n.closing...)
	}
	return end
}

// writeAnydata writes anydata.
func (w *Writer) writeAnydata(t string, pos int, n *Node, module string) int {
	end := valueEnd(t, pos)
	if end <= pos {
		return w.reportMisfit(t, n)
	}
	if !w.XML {
		w.buf = append(w.buf, t[pos:end]...)
		return end
	}
	d, err := parseJSON(t[pos:end], false, &arena{})
	if err != nil {
		return w.reportMisfit(t, n)
	}
	d.Node, d.name = n, n.Name
	w.writeValue(d, n.Name, module)
	return end
}

// openElement begins the element of a node below one of a module; the root of a set has none.
func (w *Writer) openElement(n *Node, module string) {
	if n.Module == module || n.Kind == Root {
		w.buf = append(w.buf, n.opening...)
		return
	}
	w.buf = append(append(w.buf, '<'), n.Name...)
	w.declareNamespace("", n.Module)
	w.buf = append(w.buf, '>')
}
