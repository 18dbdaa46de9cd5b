package server

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"
)

// openListeners opens what etc/ctl.yaml asks for; nothing is served before all
// rooms are there.
func (s *Server) openListeners(ctx context.Context) error {
	c := s.loaded.Config
	l := limits{HeaderBytes: int(c.Limits.Header), HeaderTimeout: c.Limits.HeaderTimeout, ReadTimeout: c.Limits.BodyTimeout,
		StallTimeout: c.Limits.RequestTimeout, IdleTimeout: c.Limits.IdleTimeout, Connections: c.Limits.Connections}
	log := s.registry.Logger("org.ctl.server")
	checked, err := crossOrigin(s.aaa.Filter(s.reading(s.router)), c.AAA.TrustedOrigins)
	if err != nil {
		return err
	}
	front := outermost(s.http.handler(checked, s.router.subtreeOf), s.ids, int64(c.Limits.Body), &s.inFlight, c.Limits.InFlight, log)
	if s.tracer != nil {
		front = s.tracer.Handler(front)
	}
	plain := front
	if !c.Listeners.HTTPS.IsOff() {
		tc, err := s.serverTLS(ctx)
		if err != nil {
			return err
		}
		ln, err := listen("https", string(c.Listeners.HTTPS), strict(front, c.TLS.HSTS), tc, l, s.home.Run(), log)
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, ln)
		if c.TLS.Redirect {
			plain = toHTTPS(ln.ln.Addr())
		}
	}
	if !c.Listeners.HTTP.IsOff() {
		ln, err := listen("http", string(c.Listeners.HTTP), plain, nil, l, s.home.Run(), log)
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, ln)
	}
	if !c.Listeners.Admin.IsOff() {
		ln, err := listen("admin", string(c.Listeners.Admin), s.adminHandler(), nil, l, s.home.Run(), log)
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, ln)
	}
	return nil
}

// setRetryAfter says when to come again, if the error knows.
func setRetryAfter(w http.ResponseWriter, err error) {
	var later interface{ RetryAfter() time.Duration }
	if errors.As(err, &later) {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(later.RetryAfter().Seconds()))))
	}
}
