package server

import (
	"strings"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/restconf/tree"
)

// samePaths are the other addresses of what a RESTCONF path addresses: with the
// names of the modules themselves, with and without those at inner nodes, keys
// after an equals sign or as segments. It implements aaa.Options.Same.
func (s *Server) samePaths(p reqpath.Path) []string {
	if s.catalog == nil {
		return nil
	}
	now, segments := s.catalog.Installed(), p.Segments()
	if p.Under("operations") && len(segments) == 2 || (p.Under("restconf", "operations") || p.Under("rests", "operations")) && len(segments) == 3 {
		last := len(segments) - 1
		module, rpc, _ := strings.Cut(segments[last].Decoded, ":")
		module, rpc, _ = now.Aliases.Resolve(module, rpc)
		return []string{rawPath(segments[:last]) + "/" + module + ":" + rpc}
	}
	depth := p.DataDepth()
	if depth == 0 || len(segments) == depth {
		return nil
	}
	below := make([]tree.Segment, 0, len(segments))
	for _, sg := range segments[depth:] {
		below = append(below, tree.Segment(sg))
	}
	path, err := tree.Parse(now.Schema, below, now.Aliases.Module)
	if err != nil {
		return nil // nothing is there: RESTCONF says so
	}
	root, key := rawPath(segments[:depth]), path.Key()
	return []string{root + key, root + strings.NewReplacer("=", "/", ",", "/").Replace(key)}
}

func rawPath(segments []reqpath.Segment) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString("/" + s.Raw)
	}
	return b.String()
}
