package yang

import "strings"

// What follows finds its way in canonical JSON, as Append writes it, without decoding it. Positions
// are -1 where the text is not such JSON.

// byteAt returns the byte at a position, 0 beyond the end.
func byteAt(t string, pos int) byte {
	if pos < 0 || pos >= len(t) {
		return 0
	}
	return t[pos]
}

// readMemberName reads the name at t[pos] and returns its node, nil if the module no longer has it, and where
// its value begins. Members mostly come in the order of the schema: next is where to look first.
func readMemberName(t string, pos int, n *Node, next *int) (m *Node, value int) {
	first := byteAt(t, pos+1) // most others differ in it
	for i := *next; i < len(n.members); i++ {
		m := n.members[i]
		if m.kept[1] == first && strings.HasPrefix(t[pos:], m.kept) {
			*next = i + 1
			return m, pos + len(m.kept)
		}
	}
	if byteAt(t, pos) != '"' {
		return nil, -1
	}
	end := stringEnd(t, pos)
	if end < 0 || byteAt(t, end) != ':' {
		return nil, -1
	}
	return n.index[t[pos+1:end-1]], end + 1
}

// stringEnd returns where the string ends that begins with the quote at t[pos].
func stringEnd(t string, pos int) int {
	i := strings.IndexByte(t[pos+1:], '"')
	if i < 0 || t[pos+i] != '\\' {
		if i < 0 {
			return -1
		}
		return pos + i + 2
	}
	for pos++; pos < len(t); pos++ {
		switch t[pos] {
		case '"':
			return pos + 1
		case '\\':
			pos++
		}
	}
	return -1
}

// scalarEnd returns where the value of a leaf ends.
func scalarEnd(t string, pos int) int {
	switch byteAt(t, pos) {
	case '"':
		return stringEnd(t, pos)
	case '[':
		if strings.HasPrefix(t[pos:], "[null]") {
			return pos + len("[null]")
		}
		return -1
	case '{':
		return -1
	}
	for pos < len(t) && t[pos] != ',' && t[pos] != '}' && t[pos] != ']' {
		pos++
	}
	return pos
}

// valueEnd returns where any value ends.
func valueEnd(t string, pos int) int {
	depth := 0
	for pos < len(t) {
		switch t[pos] {
		case '"':
			if pos = stringEnd(t, pos); pos < 0 {
				return -1
			}
			continue
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
