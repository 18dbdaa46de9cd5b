package aaa

import (
	"context"
	"net/http"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
)

type readableKey struct{}

// Readable is for reads of a data tree whose rules or policies keep something below the resource from
// the caller (RFC 8341 section 3.2.4): it reports of a path in the tree, percent-encoded, whether it may
// be read, and whether all below it may be, too. It is nil for requests that may read everything.
func Readable(ctx context.Context) func(path string) (may, all bool) {
	f, _ := ctx.Value(readableKey{}).(func(string) (bool, bool))
	return f
}

// prune lets a read of a data tree through that was denied for something below the resource alone, with
// a context for Readable. A write is refused whole.
func (a *AAA) prune(e *env, q *rules.Request) (context.Context, bool) {
	read := q.HTTP.Method == http.MethodGet || q.HTTP.Method == http.MethodHead
	if !read || q.Path.DataDepth() == 0 || lasts(q.Path) {
		return nil, false
	}
	if q.Alone = true; a.decide(e, q) != rules.Pass {
		return nil, false
	}
	asked := *q
	return context.WithValue(e.ctx, readableKey{}, func(path string) (may, all bool) {
		p, err := reqpath.ParseString(path)
		if err != nil {
			return false, false
		}
		q := asked
		q.Path, q.Alone = p, false
		if a.decide(e, &q) == rules.Pass {
			return true, true
		}
		q.Alone = true
		return a.decide(e, &q) == rules.Pass, false
	}), true
}
