// Package reqpath reads the path of a request once, into decoded segments that
// the access rules, the router and the RESTCONF parser all share, so that no
// two of them can see different resources in one request.
//
// What cannot be read in one way only is refused: dot segments, empty segments,
// double encoding, control characters, backslashes and path parameters. One
// trailing slash is ignored. Matching rules against a path is package rules.
package reqpath

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error says why a path was refused. It is answered with status 400.
type Error struct{ Reason string }

// Error returns the reason.
func (e *Error) Error() string {
	return "bad request path: " + e.Reason
}

func pathError(reason string) error {
	return &Error{Reason: reason}
}

// ParseString normalises an encoded path, as it is in a request line.
func ParseString(raw string) (Path, error) {
	if raw == "" || raw[0] != '/' {
		return Path{}, pathError("it does not begin with a slash")
	}
	rest := raw[1:]
	var p Path
	if rest == "" {
		return p, nil
	}
	if strings.HasSuffix(rest, "/") {
		p.slash, rest = true, rest[:len(rest)-1]
	}
	n := strings.Count(rest, "/") + 1
	p.segments = make([]Segment, 0, n)
	same := true
	for more := true; more; {
		var part string
		part, rest, more = strings.Cut(rest, "/")
		parse := parseSegment
		if len(p.segments) > 1 &&
			(p.segments[0].Decoded == "rests" || p.segments[0].Decoded == "restconf") {
			parse = parseNode
		}
		s, err := parse(part)
		if err != nil {
			return Path{}, err
		}
		same = same && s.Raw == part
		p.segments = append(p.segments, s)
	}
	if same {
		p.canonical = raw
		if p.slash {
			p.canonical = raw[:len(raw)-1]
		}
		return p, nil
	}
	p.canonical = p.Canonical()
	return p, nil
}

func parseSegment(part string) (Segment, error) {
	if part == "" {
		return Segment{}, pathError("it has an empty segment")
	}
	if isHarmlessSegment(part) {
		return Segment{Raw: part, Decoded: part}, nil
	}
	s, err := decodeSegment(part)
	if err != nil {
		return Segment{}, err
	}
	return s, checkSegment(s)
}

// parseNode reads a segment below a root of RESTCONF: NAME=KEYS, where a key has any character that a YANG string
// may have (RFC 8040 section 3.5.3). Only RESTCONF reads these keys, and nobody decodes them a second time.
func parseNode(part string) (Segment, error) {
	name, keys, keyed := strings.Cut(part, "=")
	s, err := parseSegment(name)
	if err != nil || !keyed {
		return s, err
	}
	k, err := decodeSegment(keys)
	if err != nil {
		return Segment{}, err
	}
	if !utf8.ValidString(k.Decoded) {
		return Segment{}, pathError("it is not UTF-8")
	}
	for _, r := range k.Decoded {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' ||
			r&0xfffe == 0xfffe ||
			r >= 0xfdd0 && r <= 0xfdef {
			return Segment{}, pathError("it has a control character that no YANG string has")
		}
	}
	return Segment{
		Raw:     s.Raw + "=" + k.Raw,
		Decoded: s.Decoded + "=" + k.Decoded,
	}, nil
}

// harmlessBytes are those that mean themselves to every reader.
var harmlessBytes = func() (set [256]bool) {
	for c := range set {
		set[c] = isLiteralByte(byte(c)) || c == '=' || c == ','
	}
	return set
}()

// isHarmlessSegment reports whether a segment is its own encoding and check would find nothing:
// the usual case, in one look at each byte.
func isHarmlessSegment(s string) bool {
	for i := 0; i < len(s); i++ {
		if !harmlessBytes[s[i]] {
			return false
		}
	}
	return s != "." && s != ".."
}

// isLiteralByte reports whether a byte is never encoded in the canonical form. Slash,
// comma, semicolon and equals sign are missing: encoded they mean something else.
func isLiteralByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("-._~@:!$&'()*+", c) >= 0
}

func decodeSegment(part string) (Segment, error) {
	const hex = "0123456789ABCDEF"
	raw, dec := make([]byte, 0, len(part)+8), make([]byte, 0, len(part))
	for i := 0; i < len(part); i++ {
		c := part[i]
		encoded := c == '%'
		if encoded {
			if i+2 >= len(part) || !isHex(part[i+1]) || !isHex(part[i+2]) {
				return Segment{}, pathError("it has a broken percent encoding")
			}
			c = hexValue(part[i+1])<<4 | hexValue(part[i+2])
			i += 2
		}
		dec = append(dec, c)
		if isLiteralByte(c) || !encoded && (c == '=' || c == ',' || c == ';') {
			raw = append(raw, c)
		} else {
			raw = append(raw, '%', hex[c>>4], hex[c&15])
		}
	}
	return Segment{Raw: string(raw), Decoded: string(dec)}, nil
}

// checkSegment refuses what two readers could take for two things.
func checkSegment(s Segment) error {
	d := s.Decoded
	if !utf8.ValidString(d) {
		return pathError("it is not UTF-8")
	}
	blank := true
	for i, r := range d {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return pathError("it has a control character")
		case r == '\\':
			return pathError("it has a backslash")
		case r == '%' && i+2 < len(d) && isHex(d[i+1]) && isHex(d[i+2]):
			return pathError("it is encoded twice")
		}
		blank = blank && unicode.IsSpace(r)
	}
	if blank {
		return pathError("it has a blank segment")
	}
	if pathParameter(s.Raw) {
		return pathError("it has a path parameter (a semicolon outside a list key)")
	}
	for rest, more := d, true; more; {
		var piece string
		piece, rest, more = strings.Cut(rest, "/")
		if piece == "." || piece == ".." {
			return pathError("it has a dot segment")
		}
	}
	return nil
}

// pathParameter reports whether a semicolon before a list key could make another
// reader cut the segment there. An encoded one within a name is a name's.
func pathParameter(raw string) bool {
	name, _, _ := strings.Cut(raw, "=")
	before, _, encoded := strings.Cut(name, "%3B")
	return strings.Contains(name, ";") || encoded && strings.Trim(before, ".") == ""
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func hexValue(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}
