package server

import (
	"net/url"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/reqpath"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// labelRouteAliases is the manifest label in which a plugin lists other paths of what it serves, as
// /other=/documented, parted by blanks: rules for one hold for the other.
const labelRouteAliases = "route-aliases"

// labelRouteQuery is the manifest label of a plugin that names a thing in the query of an address or
// in its path: "/base parameter segment" says that /base/A/B?parameter=NAME is /base/segment/NAME/A/B.
const labelRouteQuery = "route-query"

// routeQuery is what that label says.
type routeQuery struct {
	base      []reqpath.Segment
	parameter string
	segment   reqpath.Segment
}

func routeQueries(manifests []*pluginv1.Manifest) []routeQuery {
	var out []routeQuery
	for _, m := range manifests {
		if f := strings.Fields(m.Labels[labelRouteQuery]); len(f) == 3 {
			if base, err := reqpath.ParseString(f[0]); err == nil {
				out = append(out, routeQuery{base.Segments(), f[1], reqpath.Segment{Raw: f[2], Decoded: f[2]}})
			}
		}
	}
	return out
}

// addresses are the other forms of a path with a query.
func (r routeQuery) addresses(p reqpath.Path, query url.Values) (out []reqpath.Path) {
	segments := p.Segments()
	if len(segments) == len(r.base) || !reqpath.HasPrefix(segments, r.base) {
		return nil
	}
	below := segments[len(r.base):]
	if n := len(below); below[0].Decoded == r.segment.Decoded {
		if n < 4 { // the segment, a name, and two of the address
			return nil
		}
		return []reqpath.Path{reqpath.Of(r.base, below[n-2:])}
	}
	for _, name := range query[r.parameter] {
		named := append(slices.Clone(r.base), r.segment)
		for part := range strings.SplitSeq(name, "/") {
			named = append(named, reqpath.Segment{Raw: url.PathEscape(part), Decoded: part})
		}
		out = append(out, reqpath.Of(named, below))
	}
	return out
}

// routeAlias is two beginnings of paths that mean the same.
type routeAlias [2][]reqpath.Segment

func routeAliases(manifests []*pluginv1.Manifest) []routeAlias {
	var out []routeAlias
	for _, m := range manifests {
		for pair := range strings.FieldsSeq(m.Labels[labelRouteAliases]) {
			a, b, _ := strings.Cut(pair, "=")
			one, errOne := reqpath.ParseString(a)
			two, errTwo := reqpath.ParseString(b)
			if errOne == nil && errTwo == nil && len(one.Segments()) > 0 && len(two.Segments()) > 0 {
				out = append(out, routeAlias{one.Segments(), two.Segments()})
			}
		}
	}
	return out
}

// maxRoutes bounds the addresses of one thing that a plugin serves.
const maxRoutes = 16

// otherRoutes are the other addresses of a path that a plugin serves. It implements aaa.Options.Routes.
func (s *Server) otherRoutes(p reqpath.Path, rawQuery string) []reqpath.Path {
	if s.router == nil {
		return nil
	}
	now := s.router.now.Load()
	if len(now.aliases)+len(now.queries) == 0 {
		return nil
	}
	query, _ := url.ParseQuery(rawQuery) // what does not parse is refused by the plugin
	all := []reqpath.Path{p}
	for i := 0; i < len(all); i++ {
		for _, r := range now.queries {
			for _, other := range r.addresses(all[i], query) {
				if len(all) < maxRoutes && !known(all, other) {
					all = append(all, other)
				}
			}
		}
		for _, alias := range now.aliases {
			for side, from := range alias {
				if other, ok := replaced(all[i], from, alias[1-side]); ok && len(all) < maxRoutes && !known(all, other) {
					all = append(all, other)
				}
			}
		}
	}
	return all[1:]
}

func replaced(p reqpath.Path, from, to []reqpath.Segment) (reqpath.Path, bool) {
	segments := p.Segments()
	if !reqpath.HasPrefix(segments, from) {
		return p, false
	}
	return reqpath.Of(to, segments[len(from):]), true
}

func known(all []reqpath.Path, p reqpath.Path) bool {
	return slices.ContainsFunc(all, func(one reqpath.Path) bool { return one.Canonical() == p.Canonical() })
}
