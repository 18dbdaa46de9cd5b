package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"time"

	"ctl.internal/host/internal/plugin/process"
)

// openProfiler serves net/http/pprof on a unix socket that only the owner of the
// process enters: profiles show too much for any listener.
//
//	curl --unix-socket HOME/data/run/pprof.sock -o cpu http://x/debug/pprof/profile?seconds=10
func (s *Server) openProfiler(ctx context.Context) error {
	path := s.home.Run("pprof.sock")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return err
	}
	m := http.NewServeMux()
	m.HandleFunc("/debug/pprof/", pprof.Index)
	m.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	m.HandleFunc("/debug/pprof/profile", pprof.Profile)
	m.HandleFunc("/debug/pprof/trace", pprof.Trace)
	ln = process.Closed(ln, process.None, func(pid int) { s.log.Warn("a plugin tried to read profiles and was refused", "pid", pid) })
	srv := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	s.background(ctx, "profiler", func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
		defer stop()
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return nil
}
