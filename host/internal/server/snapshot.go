package server

import (
	"context"
	"io"

	"ctl.internal/host/internal/snapshot"
)

// snapshot writes all data of the controller.
func (s *Server) snapshot(ctx context.Context, w io.Writer, progress func(done, total int64)) error {
	return snapshot.Save(ctx, snapshot.Source{Dir: s.home, Store: s.raw, Version: Version(), Node: s.node()}, w, progress)
}
