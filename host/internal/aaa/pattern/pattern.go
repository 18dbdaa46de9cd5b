// Package pattern compiles Ant-style url patterns and matches them, segment by
// segment, against the decoded segments of package reqpath: ? is one character,
// * any text within a segment, ** as a whole segment any number of segments.
//
// /x/** also matches /x. A trailing slash is ignored, as reqpath ignores it in a
// request. Which pattern wins is the business of rules (static) and policy
// (dynamic).
package pattern

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ctl.internal/host/internal/aaa/reqpath"
)

type kind uint8

const (
	literal kind = iota
	glob         // has ? or *
	deep         // is **
)

type part struct {
	text string
	kind kind
}

// Pattern is a compiled pattern. The zero value matches the root path only.
type Pattern struct {
	parts []part
	text  string
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Compile compiles a pattern. A missing leading slash is supplied; "*" alone
// matches everything.
func Compile(text string) (Pattern, error) {
	p := Pattern{text: text}
	body := strings.TrimPrefix(strings.TrimSpace(text), "/")
	if body == "*" && !strings.HasPrefix(text, "/") {
		body = "**"
	}
	body = strings.TrimSuffix(body, "/")
	if body == "" {
		if strings.TrimSpace(text) == "" {
			return p, fmt.Errorf("an empty pattern matches nothing; write /** for everything")
		}
		return p, nil
	}
	for _, s := range strings.Split(body, "/") {
		if err := checkPart(s); err != nil {
			return p, fmt.Errorf("pattern %q: %w", text, err)
		}
		k := literal
		switch {
		case s == "**":
			k = deep
			n := len(p.parts)
			if n > 0 && p.parts[n-1].kind == deep {
				continue
			}
		case strings.ContainsAny(s, "*?"):
			k = glob
		}
		p.parts = append(p.parts, part{s, k})
	}
	return p, nil
}

func checkPart(s string) error {
	if s == "" {
		return fmt.Errorf("an empty segment matches no request; remove one slash")
	}
	if strings.ContainsAny(s, "*?") {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%q is not UTF-8", s)
		}
		return nil
	}
	// A literal must be a segment that a request can have, written decoded.
	root := "/rests/data/" // where list entries have keys of any character
	if !strings.Contains(s, "=") {
		root = "/"
	}
	q, err := reqpath.ParseString(root + strings.ReplaceAll(s, "%", "%25"))
	if err != nil || len(q.Segments()) != strings.Count(root, "/") {
		return fmt.Errorf(
			"a request cannot have the segment %q; write it decoded, without dot segments, semicolons and control characters",
			s,
		)
	}
	return nil
}

// Match reports whether the pattern matches the whole path. It does not allocate.
func (p Pattern) Match(path []reqpath.Segment) bool {
	return matchParts(p.parts, path)
}

// matchParts is the linear-space wildcard walk: on a mismatch it returns to the last
// ** and lets it swallow one segment more.
func matchParts(parts []part, path []reqpath.Segment) bool {
	i, j := 0, 0
	deepAt, deepPath := -1, 0
	for j < len(path) {
		switch {
		case i < len(parts) && parts[i].kind == deep:
			deepAt, deepPath = i, j
			i++
		case i < len(parts) && parts[i].matchesSegment(&path[j]):
			i, j = i+1, j+1
		case deepAt >= 0:
			deepPath++
			i, j = deepAt+1, deepPath
		default:
			return false
		}
	}
	for i < len(parts) && parts[i].kind == deep {
		i++
	}
	return i == len(parts)
}

func (p *part) matchesSegment(s *reqpath.Segment) bool {
	if p.matchesText(s.Decoded) {
		return true
	}
	for _, other := range s.Also {
		if p.matchesText(other) {
			return true
		}
	}
	return false
}

func (p *part) matchesText(s string) bool {
	if p.kind == literal {
		return p.text == s
	}
	return globMatch(p.text, s)
}

func globMatch(pat, s string) bool {
	i, j := 0, 0
	star, from := -1, 0
	for j < len(s) {
		if i < len(pat) && pat[i] == '*' {
			star, from = i, j
			i++
			continue
		}
		if i < len(pat) {
			_, size := utf8.DecodeRuneInString(s[j:])
			if pat[i] == '?' {
				i, j = i+1, j+size
				continue
			}
			if pat[i] == s[j] {
				i, j = i+1, j+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(s[from:])
		from += size
		i, j = star+1, from
	}
	for i < len(pat) && pat[i] == '*' {
		i++
	}
	return i == len(pat)
}

// Tree reports whether the pattern ends in **: what it matches it matches with all below.
func (p Pattern) Tree() bool {
	return len(p.parts) > 0 && p.parts[len(p.parts)-1].kind == deep
}

// Below reports whether the pattern is about something below a path: whoever reads
// or replaces the resource at the path reaches that too. A pattern that begins
// with ** counts only where its other parts have begun to match. It does not allocate.
func (p Pattern) Below(path []reqpath.Segment) bool {
	for i := 1; i < len(p.parts); i++ {
		rest := p.parts[i:]
		if len(rest) == 1 && rest[0].kind == deep { // then it matches the path itself
			break
		}
		if (p.parts[i-1].kind != deep || p.parts[0].kind != deep) && matchParts(p.parts[:i], path) {
			return true
		}
	}
	return p.entryOf(path)
}

// entryOf reports whether the pattern is about an entry, list=key, of the list that
// the path names without a key.
func (p Pattern) entryOf(path []reqpath.Segment) bool {
	if len(path) == 0 {
		return false
	}
	last, parents := &path[len(path)-1], path[:len(path)-1]
	for i, part := range p.parts {
		if isEntry(part.text, last.Decoded, last.Also) && matchParts(p.parts[:i], parents) {
			return true
		}
	}
	return false
}

// isEntry reports whether a text is list=key of a list with one of the names.
func isEntry(text, list string, also []string) bool {
	if len(text) > len(list) && text[len(list)] == '=' && text[:len(list)] == list {
		return true
	}
	return len(also) > 0 && isEntry(text, also[0], also[1:])
}

// Shape is a pattern cut where its literal segments end, for an index.
type Shape struct {
	Prefix []string // the literal segments it begins with
	Exact  bool     // nothing follows: it matches that path only
	Tree   bool     // /** follows: it matches the path and all below
	Rest   Pattern  // otherwise: what must match after the prefix
}

// Shape returns the pattern's shape.
func (p Pattern) Shape() Shape {
	n := 0
	for n < len(p.parts) && p.parts[n].kind == literal {
		n++
	}
	s := Shape{Prefix: make([]string, n)}
	for i := range n {
		s.Prefix[i] = p.parts[i].text
	}
	rest := p.parts[n:]
	switch {
	case len(rest) == 0:
		s.Exact = true
	case len(rest) == 1 && rest[0].kind == deep:
		s.Tree = true
	default:
		s.Rest = Pattern{parts: rest, text: p.text}
	}
	return s
}
