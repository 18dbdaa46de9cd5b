package server

import (
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/address"
)

// otherNames are the other forms of what a RESTCONF path addresses. It implements aaa.Options.Names.
func (s *Server) otherNames(data bool, below []reqpath.Segment) [][]reqpath.Segment {
	if s.catalog == nil {
		return nil
	}
	return address.OtherNames(s.catalog.Installed(), data, below)
}

// otherRoutes are the other addresses of a path that a plugin serves. It implements aaa.Options.Routes.
func (s *Server) otherRoutes(p reqpath.Path, rawQuery string) []reqpath.Path {
	if s.router == nil {
		return nil
	}
	return s.router.now.Load().others.Others(p, rawQuery)
}
