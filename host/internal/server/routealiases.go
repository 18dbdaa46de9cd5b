package server

import (
	"strings"

	"ctl.internal/host/internal/aaa/reqpath"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// labelRouteAliases is the manifest label in which a plugin lists other paths of what it serves, as
// /other=/documented, parted by blanks: rules for one hold for the other.
const labelRouteAliases = "route-aliases"

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
func (s *Server) otherRoutes(p reqpath.Path) []reqpath.Path {
	if s.router == nil {
		return nil
	}
	aliases := s.router.now.Load().aliases
	if len(aliases) == 0 {
		return nil
	}
	all := []reqpath.Path{p}
	for i := 0; i < len(all); i++ {
		for _, alias := range aliases {
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
	if len(segments) < len(from) {
		return p, false
	}
	for i := range from {
		if segments[i].Decoded != from[i].Decoded {
			return p, false
		}
	}
	return reqpath.Of(to, segments[len(from):]), true
}

func known(all []reqpath.Path, p reqpath.Path) bool {
	for _, one := range all {
		if one.Canonical() == p.Canonical() {
			return true
		}
	}
	return false
}
