package yang

// Style is a way to write instance data as JSON.
type Style uint8

const (
	// Canonical is what plugins receive and what the documented /restconf paths
	// answer: all numbers without quotes, names bare except where the module differs
	// from the parent's.
	Canonical Style = iota
	// RFC7951 also qualifies top-level names, and writes int64, uint64 and decimal64
	// as strings (RFC 7951 sections 4 and 6.1).
	RFC7951
	// Own, joined to Canonical, leaves lists with keys out: what is stored with the instance itself.
	Own Style = 4
	// WithOrigin, joined to RFC7951, says where each part is from (RFC 8527 section 3.2.2).
	WithOrigin Style = 2
)

// Append appends the JSON text of d to buf. The name of d itself is not written.
func (d *Data) Append(buf []byte, s Style) []byte {
	switch d.kind {
	case jObject:
		buf = append(buf, '{')
		begun := len(buf)
		var masked *Data
		if s&WithOrigin != 0 {
			buf, masked = d.appendAnnotations(buf)
		}
		for c := d.first; c != nil; c = c.next {
			if s&Own != 0 && c.Node != nil && c.Node.Keyed() || c == masked {
				continue
			}
			if len(buf) != begun {
				buf = append(buf, ',')
			}
			buf = c.appendName(buf, s)
			buf = c.Append(buf, s)
			if s&WithOrigin != 0 {
				if o := c.LeafOrigin(); o != nil { // as a member of its own
					name := c.appendName(nil, s)
					buf = append(append(append(buf, `,"@`...), name[1:]...), o...)
				}
			}
		}
		return append(buf, '}')
	case jArray:
		buf = append(buf, '[')
		for c := d.first; c != nil; c = c.next {
			if c != d.first {
				buf = append(buf, ',')
			}
			buf = c.Append(buf, s)
		}
		return append(buf, ']')
	case jNumber:
		if s&RFC7951 != 0 && d.typ != nil && d.typ.Base.Quoted() {
			buf = append(buf, '"')
			buf = append(buf, d.text...)
			return append(buf, '"')
		}
		return append(buf, d.text...)
	case jString:
		return appendString(buf, d.text)
	case jTrue:
		return append(buf, "true"...)
	case jFalse:
		return append(buf, "false"...)
	}
	if d.Node == nil {
		return append(buf, "null"...)
	}
	return append(buf, "[null]"...)
}

// appendAnnotations writes the annotations of an object whose origin has to be written; it returns the one of its members
// that is written with them.
func (d *Data) appendAnnotations(buf []byte) (out []byte, written *Data) {
	o := d.newOrigin()
	if o == 0 {
		return buf, nil
	}
	buf = appendOrigin(append(buf, `"@":`...), o)
	if written = d.masked(); written != nil {
		buf = written.first.appendName(append(buf[:len(buf)-1], ','), Canonical)
		buf = append(written.first.Append(buf, Canonical), '}')
	}
	return buf, written
}

func (d *Data) appendName(buf []byte, s Style) []byte {
	n := d.Node
	if n == nil {
		return append(appendString(buf, d.name), ':')
	}
	p := d.parent
	switch {
	case p == nil || p.Node == nil || p.Node.Kind == Root:
		if s&RFC7951 != 0 || p != nil && p.Node != nil && p.Node.index[n.Name] == nil {
			return append(buf, n.full...)
		}
	case p.Node.Module != n.Module || p.Node.index[n.Name] == nil:
		return append(buf, n.full...)
	}
	return append(buf, n.bare...)
}

const hexDigits = "0123456789abcdef"

// appendString appends a JSON string. The text is UTF-8 already.
func appendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		buf = append(buf, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			buf = append(buf, '\\', c)
		case '\n':
			buf = append(buf, '\\', 'n')
		case '\r':
			buf = append(buf, '\\', 'r')
		case '\t':
			buf = append(buf, '\\', 't')
		default:
			buf = append(buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	buf = append(buf, s[start:]...)
	return append(buf, '"')
}
