package reqpath

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Segment is one part of a path between slashes.
type Segment struct {
	// Raw is the normalised encoding: hex digits in upper case, nothing encoded
	// that need not be. RFC 8040 keys are split here, where %2C is not a comma.
	Raw string
	// Decoded is what access rules match.
	Decoded string
	// Also are other ways to write the same segment, decoded, which rules match as well: a data
	// node below the top with the name of its module. Nil in a path as it was read.
	Also []string
}

// Path is a request's path after normalisation. The zero value is the root.
type Path struct {
	segments  []Segment
	canonical string
	slash     bool
}

// Of returns the path of segments that were read before, those of root and then those below.
func Of(root, below []Segment) Path {
	all := make([]Segment, 0, len(root)+len(below))
	return Path{segments: append(append(all, root...), below...)}
}

// Segments returns the segments in order; the caller must not change them.
func (p Path) Segments() []Segment { return p.segments }

// TrailingSlash reports whether the request's path ended in the one slash that is ignored.
func (p Path) TrailingSlash() bool { return p.slash }

// Canonical is the one encoding of the path, for a router that matches encoded
// paths. It begins with a slash and, but for the root, does not end in one.
func (p Path) Canonical() string {
	switch {
	case len(p.segments) == 0:
		return "/"
	case p.canonical != "":
		return p.canonical
	}
	var b strings.Builder
	for _, s := range p.segments {
		b.WriteByte('/')
		b.WriteString(s.Raw)
	}
	return b.String()
}

// Decoded is the path for messages and logs; it is ambiguous when a segment
// holds an encoded slash, so nothing may be decided by it.
func (p Path) Decoded() string {
	if c := p.Canonical(); strings.IndexByte(c, '%') < 0 {
		return c
	}
	var b strings.Builder
	for _, s := range p.segments {
		b.WriteByte('/')
		b.WriteString(s.Decoded)
	}
	return b.String()
}

// HasPrefix reports whether a path begins with segments, as they are decoded.
func HasPrefix(path, prefix []Segment) bool {
	if len(path) < len(prefix) {
		return false
	}
	for i := range prefix {
		if path[i].Decoded != prefix[i].Decoded {
			return false
		}
	}
	return true
}

// Is reports whether the decoded segments are exactly those named.
func (p Path) Is(segments ...string) bool {
	return len(p.segments) == len(segments) && p.Under(segments...)
}

// Under reports whether the decoded segments begin with those named.
func (p Path) Under(segments ...string) bool {
	if len(p.segments) < len(segments) {
		return false
	}
	for i, s := range segments {
		if p.segments[i].Decoded != s {
			return false
		}
	}
	return true
}

// DataDepth is the number of segments that lead to the data tree the path lies in,
// 0 when it lies in none. In a data tree a resource holds all that is below it.
func (p Path) DataDepth() int {
	if len(p.segments) < 2 {
		return 0
	}
	first, below := p.segments[0].Decoded, p.segments[2:]
	rests := first == "rests"
	if !rests && first != "restconf" {
		return 0
	}
	switch p.segments[1].Decoded {
	case "data":
		return 2
	case "config", "operational":
		if !rests {
			return 2
		}
	case "ds": // the same data in the datastores of NMDA
		if rests && len(below) > 0 {
			return 3
		}
	case "streams": // of the changes of data, with the form or without
		form := len(below) > 0 && slices.Contains(
			[]string{"json", "xml", "stream"},
			below[0].Decoded,
		)
		switch {
		case form && len(below) > 2 && below[1].Decoded == "data-change":
			return 5
		case len(below) > 1 && below[0].Decoded == "data-change":
			return 4
		}
	}
	return 0
}

// Rewrite makes the request's URL say the canonical path, so that a router
// after the filter cannot read it in another way.
func (p Path) Rewrite(u *url.URL) {
	u.Path, u.RawPath = p.Decoded(), p.Canonical()
}

type contextKey struct{}

// carrier is a context with a path.
type carrier struct {
	context.Context
	path Path
}

// Value returns the carrier itself for this package's key.
func (c *carrier) Value(k any) any {
	if _, mine := k.(contextKey); mine {
		return c
	}
	return c.Context.Value(k)
}

// With returns a context that carries the path.
func With(ctx context.Context, p Path) context.Context {
	return &carrier{ctx, p}
}

// From returns the path that With put in the context.
func From(ctx context.Context) (Path, bool) {
	c, ok := ctx.Value(contextKey{}).(*carrier)
	if !ok {
		return Path{}, false
	}
	return c.path, true
}

// Parse normalises the path of a request; its error is an *Error.
func Parse(r *http.Request) (Path, error) {
	u := r.URL
	if u.Opaque != "" || r.Method == http.MethodConnect {
		return Path{}, pathError("the request target has no path")
	}
	raw := u.RawPath
	if raw == "" {
		raw = u.EscapedPath()
	} else if decoded, err := url.PathUnescape(raw); err != nil || decoded != u.Path {
		return Path{}, pathError("the path and its encoding disagree")
	}
	if raw == "" && u.Host != "" { // absolute form without a path
		raw = "/"
	}
	return ParseString(raw)
}
