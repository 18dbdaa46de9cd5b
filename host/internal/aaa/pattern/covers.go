package pattern

// Covers reports whether the pattern matches all that another one matches. It may say no where it does.
func (p Pattern) Covers(other Pattern) bool {
	return coversParts(p.parts, other.parts)
}

func coversParts(a, b []part) bool {
	switch {
	case len(a) == 0:
		return len(b) == 0
	case a[0].kind == deep:
		// ** takes any number of the other's parts.
		return coversParts(a[1:], b) || len(b) > 0 && coversParts(a, b[1:])
	case len(b) == 0 || b[0].kind == deep:
		return false
	case b[0].kind == literal:
		return a[0].matchesText(b[0].text) && coversParts(a[1:], b[1:])
	}
	return a[0].kind == glob &&
		(a[0].text == "*" || a[0].text == b[0].text) &&
		coversParts(a[1:], b[1:])
}

// Sample is the decoded segments of a path that the pattern matches, with letters for wildcards.
func (p Pattern) Sample() []string {
	out := make([]string, len(p.parts))
	for i, part := range p.parts {
		text := []byte(part.text)
		for j, c := range text {
			if (c == '*' || c == '?') && part.kind != literal {
				text[j] = 'x'
			}
		}
		out[i] = string(text)
	}
	return out
}

// Literal is the i-th segment when the pattern has a literal there.
func (p Pattern) Literal(i int) (string, bool) {
	if i >= len(p.parts) || p.parts[i].kind != literal {
		return "", false
	}
	return p.parts[i].text, true
}
