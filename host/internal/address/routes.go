package address

import (
	"net/url"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/reqpath"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// routeQuery says that a thing named in the query of an address can also be named in its path:
// BASE/A/B?parameter=NAME is BASE/segment/NAME/A/B.
type routeQuery struct {
	base      []reqpath.Segment
	parameter string
	segment   reqpath.Segment
}

// routeQueries are those of all routes. The paths of a manifest were checked when the plugin started (wire.CheckRoutes).
func routeQueries(manifests []*pluginv1.Manifest) []routeQuery {
	var out []routeQuery
	for _, m := range manifests {
		for _, r := range m.Routes {
			for _, p := range r.Parameters {
				segment := reqpath.Segment{
					Raw:     p.Segment,
					Decoded: p.Segment,
				}
				out = append(out, routeQuery{segmentsOf(r.Path), p.Name, segment})
			}
		}
	}
	return out
}

// segmentsOf are the segments of a path that was checked before.
func segmentsOf(path string) []reqpath.Segment {
	p, _ := reqpath.ParseString(path)
	return p.Segments()
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
			named = append(named, reqpath.Segment{
				Raw:     url.PathEscape(part),
				Decoded: part,
			})
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
		for _, r := range m.Routes {
			for _, a := range r.Aliases {
				out = append(out, routeAlias{segmentsOf(a.Path), segmentsOf(a.Target)})
			}
		}
	}
	return out
}

// Routes are the other addresses of what plugins serve below their paths. The zero value knows none.
type Routes struct {
	aliases []routeAlias
	queries []routeQuery
}

// NewRoutes collects them from manifests.
func NewRoutes(manifests []*pluginv1.Manifest) Routes {
	return Routes{
		aliases: routeAliases(manifests),
		queries: routeQueries(manifests),
	}
}

// maxRoutes bounds the addresses of one thing that a plugin serves.
const maxRoutes = 16

// Others are the other addresses of a path that a plugin serves.
func (r Routes) Others(p reqpath.Path, rawQuery string) []reqpath.Path {
	if len(r.aliases)+len(r.queries) == 0 {
		return nil
	}
	query, _ := url.ParseQuery(rawQuery) // what does not parse is refused by the plugin
	all := []reqpath.Path{p}
	for i := 0; i < len(all); i++ {
		for _, named := range r.queries {
			for _, other := range named.addresses(all[i], query) {
				if len(all) < maxRoutes && !known(all, other) {
					all = append(all, other)
				}
			}
		}
		for _, alias := range r.aliases {
			for side, from := range alias {
				other, ok := replaced(all[i], from, alias[1-side])
				if ok && len(all) < maxRoutes && !known(all, other) {
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
	return slices.ContainsFunc(all, func(one reqpath.Path) bool {
		return one.Canonical() == p.Canonical()
	})
}
