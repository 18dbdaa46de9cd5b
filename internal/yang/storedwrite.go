package yang

import (
	"strings"

	"ctl.internal/sdk/fault"
)

// Writer writes stored instances as JSON or XML in one pass over their texts, without decoding
// them. Members that the schema does not have any more are left out.
type Writer struct {
	Style Style
	XML   bool
	// Masked says whose values are not shown; nil shows all.
	Masked func(*Node) bool
	// Mask is written instead of them.
	Mask string
	// Flush takes what is written so far, whenever that is more than a few KiB.
	Flush func([]byte) error

	xmlWriter
	err error
}

// flushAt is how much a Writer collects, in bytes.
const flushAt = 64 << 10

// Text appends a text as it is.
func (w *Writer) Text(t string) { w.buf = append(w.buf, t...) }

// Stored appends an instance: in JSON its value, in XML its elements.
func (w *Writer) Stored(s *Stored) {
	w.xmlWriter.spaces = s.Node.spaces
	w.stored(s, "")
}

// Finish flushes the rest. The error is the first one of Flush, or of a text that does not fit its
// schema, as a fault.
func (w *Writer) Finish() error {
	w.flush(0)
	return w.err
}

func (w *Writer) flush(from int) {
	if len(w.buf) > from && w.err == nil {
		w.err = w.Flush(w.buf)
		w.buf = w.buf[:0]
	}
}

// misfit notes that a text does not fit its schema and returns where it ends.
func (w *Writer) misfit(t string, n *Node) int {
	if w.err == nil {
		w.err = fault.New(fault.Internal, "what is stored of %s does not fit the schema", n.QName())
	}
	return len(t)
}

// stored writes s below an element of a module.
func (w *Writer) stored(s *Stored, module string) {
	switch {
	case w.err != nil:
	case s.Array:
		w.array(s, module)
	case s.Text == "":
		w.object("{}", 0, s.Node, s.Below, module)
	case s.Node.Kind == List && s.Text[0] != '[': // an entry
		w.object(s.Text, 0, s.Node, s.Below, module)
	case s.Node.Kind == LeafList && s.Text[0] != '[':
		w.leaf(s.Text, 0, s.Node, module)
	default:
		w.instance(s.Text, 0, s.Node, s.Below, module)
	}
}

func (w *Writer) array(s *Stored, module string) {
	for i, e := range s.Below {
		if !w.XML {
			w.buf = append(w.buf, ",["[btoi(i == 0)])
		}
		w.stored(e, module)
		w.flush(flushAt)
	}
	if !w.XML {
		if len(s.Below) == 0 {
			w.buf = append(w.buf, '[')
		}
		w.buf = append(w.buf, ']')
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// instance writes the value at t[pos], which is one of n, and returns where it ends.
func (w *Writer) instance(t string, pos int, n *Node, below []*Stored, module string) int {
	switch n.Kind {
	case Leaf:
		return w.leaf(t, pos, n, module)
	case AnyData:
		return w.any(t, pos, n, module)
	case List, LeafList:
		return w.entries(t, pos, n, module)
	}
	return w.object(t, pos, n, below, module)
}

func (w *Writer) entries(t string, pos int, n *Node, module string) int {
	if !strings.HasPrefix(t[pos:], "[") {
		return w.misfit(t, n)
	}
	for first := true; ; first = false {
		if pos++; pos >= len(t) {
			return w.misfit(t, n)
		}
		if !w.XML && (first || t[pos] != ']') {
			w.buf = append(w.buf, ",["[btoi(first)])
		}
		if t[pos] == ']' {
			break
		}
		if n.Kind == List {
			pos = w.object(t, pos, n, nil, module)
		} else {
			pos = w.leaf(t, pos, n, module)
		}
		if pos >= len(t) || t[pos] == ']' {
			break
		}
	}
	if pos >= len(t) {
		return w.misfit(t, n)
	}
	if !w.XML {
		w.buf = append(w.buf, ']')
	}
	return pos + 1
}

// object writes the members at t[pos], and those that are kept in other texts.
func (w *Writer) object(t string, pos int, n *Node, below []*Stored, module string) int {
	if !strings.HasPrefix(t[pos:], "{") {
		return w.misfit(t, n)
	}
	if w.XML {
		w.element(n, module)
		module = n.Module
	} else {
		w.buf = append(w.buf, '{')
	}
	members := 0
	pos++
	for next := 0; pos < len(t) && t[pos] != '}'; {
		if t[pos] == ',' {
			pos++
		}
		var m *Node
		from := pos
		if m, pos = member(t, pos, n, &next); m == nil {
			if pos = skipMember(t, pos); pos == from {
				return w.misfit(t, n)
			}
			continue
		}
		w.name(m, n, &members)
		pos = w.instance(t, pos, m, keptBelow(below, m), module)
	}
	if pos >= len(t) {
		return w.misfit(t, n)
	}
	for _, b := range below {
		if !b.written {
			w.name(b.Node, n, &members)
			w.stored(b, module)
		}
	}
	switch {
	case !w.XML:
		w.buf = append(w.buf, '}')
	case members == 0 && n.Kind != Root:
		w.buf = append(w.buf[:len(w.buf)-1], '/', '>')
	default:
		w.closing(n)
	}
	return pos + 1
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

// name writes the name of a JSON member.
func (w *Writer) name(m, n *Node, members *int) {
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

// member reads the name at t[pos] and returns its node, nil if there is none any more, and where
// its value begins. Members mostly come in the order of the schema: next is where to look first.
func member(t string, pos int, n *Node, next *int) (*Node, int) {
	for i := *next; i < len(n.members); i++ {
		if m := n.members[i]; strings.HasPrefix(t[pos:], m.kept) {
			*next = i + 1
			return m, pos + len(m.kept)
		}
	}
	end := stringEnd(t, pos)
	if end <= pos+1 || end >= len(t) || t[end] != ':' {
		return nil, pos
	}
	return n.index[t[pos+1:end-1]], end + 1
}

// skipMember returns where the value ends that begins at t[pos].
func skipMember(t string, pos int) int {
	depth := 0
	for pos < len(t) {
		switch t[pos] {
		case '"':
			pos = stringEnd(t, pos) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return pos
			}
			depth--
		case ',':
			if depth == 0 {
				return pos
			}
		}
		pos++
	}
	return pos
}

// stringEnd returns where the string ends that begins with the quote at t[pos].
func stringEnd(t string, pos int) int {
	for pos++; pos < len(t); pos++ {
		switch t[pos] {
		case '"':
			return pos + 1
		case '\\':
			pos++
		}
	}
	return len(t) + 1
}

// leaf writes a value. Those whose form depends on their type are decoded first.
func (w *Writer) leaf(t string, pos int, n *Node, module string) int {
	end := skipMember(t, pos)
	if end <= pos || end > len(t) {
		return w.misfit(t, n)
	}
	text := t[pos:end]
	if w.Masked != nil && w.Masked(n) {
		text = `"` + w.Mask + `"`
	}
	base := n.Type.Final().Base
	switch {
	case text[0] == '{' || text[0] == '[' && base != Empty && base != Union:
		return w.misfit(t, n)
	case base == Union || w.XML && (base == Identityref || base == InstanceIdentifier) || w.XML && strings.IndexByte(text, '\\') >= 0:
		d, err := parseJSON(text, false, &arena{})
		if err != nil {
			return w.misfit(t, n)
		}
		d.Node, d.name = n, n.Name
		if d.kind == jArray {
			d.kind, d.first = jNull, nil
		}
		if n.Type.parse(d, n, false) != "" {
			return w.misfit(t, n)
		}
		if w.XML {
			w.value(d, n.Name, module)
		} else {
			w.buf = d.Append(w.buf, w.Style)
		}
	case w.XML:
		w.element(n, module)
		switch {
		case text[0] == '"' && len(text) > 2:
			w.buf = appendXMLText(w.buf, text[1:len(text)-1])
		case text[0] == '"', text[0] == '[':
			w.buf = append(w.buf[:len(w.buf)-1], '/', '>')
			return end
		default:
			w.buf = append(w.buf, text...)
		}
		w.closing(n)
	case w.Style&RFC7951 != 0 && base.Quoted() && text[0] != '"':
		w.buf = append(append(append(w.buf, '"'), text...), '"')
	default:
		w.buf = append(w.buf, text...)
	}
	return end
}

// any writes anydata.
func (w *Writer) any(t string, pos int, n *Node, module string) int {
	end := skipMember(t, pos)
	if end > len(t) {
		return w.misfit(t, n)
	}
	if !w.XML {
		w.buf = append(w.buf, t[pos:end]...)
		return end
	}
	d, err := parseJSON(t[pos:end], false, &arena{})
	if err != nil {
		return w.misfit(t, n)
	}
	d.Node, d.name = n, n.Name
	w.value(d, n.Name, module)
	return end
}

// element opens the element of a node below one of a module; the root of a set has none.
func (w *Writer) element(n *Node, module string) {
	if n.Kind == Root {
		return
	}
	w.buf = append(append(w.buf, '<'), n.Name...)
	if n.Module != module {
		w.declare("", n.Module)
	}
	w.buf = append(w.buf, '>')
}

func (w *Writer) closing(n *Node) {
	if n.Kind != Root {
		w.buf = append(append(append(w.buf, '<', '/'), n.Name...), '>')
	}
}
