package pattern_test

import (
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa/pattern"
	"ctl.internal/host/internal/aaa/reqpath"
)

// slow matches by trying everything, as the grammar reads.
func slow(parts, path []string) bool {
	if len(parts) == 0 {
		return len(path) == 0
	}
	if parts[0] == "**" {
		return slow(parts[1:], path) || len(path) > 0 && slow(parts, path[1:])
	}
	return len(path) > 0 && slowGlob([]rune(parts[0]), []rune(path[0])) && slow(parts[1:], path[1:])
}

func slowGlob(p, s []rune) bool {
	switch {
	case len(p) == 0:
		return len(s) == 0
	case p[0] == '*':
		return slowGlob(p[1:], s) || len(s) > 0 && slowGlob(p, s[1:])
	}
	return len(s) > 0 && (p[0] == '?' || p[0] == s[0]) && slowGlob(p[1:], s[1:])
}

// FuzzMatch compares the matcher with the slow one, and the shape with both.
func FuzzMatch(f *testing.F) {
	f.Add("/a/**/b*", "/a/x/y/bc")
	f.Add("/**/a?c/**", "/abc")
	f.Add("/x/**", "/x")
	f.Add("/\u00fc*", "/%C3%BCber")
	f.Fuzz(func(t *testing.T, text, raw string) {
		if len(text) > 40 || len(raw) > 40 || !strings.HasPrefix(text, "/") {
			return
		}
		p, err := pattern.Compile(text)
		path, perr := reqpath.ParseString(raw)
		if err != nil || perr != nil {
			return
		}
		var parts, decoded []string
		if body := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "/"), "/"); body != "" {
			parts = strings.Split(body, "/")
		}
		for _, s := range path.Segments() {
			decoded = append(decoded, s.Decoded)
		}
		want := slow(parts, decoded)
		if got := p.Match(path.Segments()); got != want {
			t.Fatalf("%q on %q: %v, want %v", text, raw, got, want)
		}
		shape := p.Shape()
		n := len(shape.Prefix)
		begins := len(decoded) >= n
		for i := 0; begins && i < n; i++ {
			begins = shape.Prefix[i] == decoded[i]
		}
		got := begins && (shape.Tree || shape.Exact && len(decoded) == n || !shape.Tree && !shape.Exact && shape.Rest.Match(path.Segments()[n:]))
		if got != want {
			t.Fatalf("the shape of %q on %q: %v, want %v", text, raw, got, want)
		}
	})
}
