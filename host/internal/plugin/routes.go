package plugin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ctl.internal/sdk/routes"
)

// ServeRoute forwards a request to the plugin that serves its path. The caller is in
// the request's context. GET and HEAD survive a crash of the plugin as long as
// nothing was answered; begun reports whether something was, so that the caller can
// still answer the error.
func (m *Manager) ServeRoute(w http.ResponseWriter, r *http.Request, plugin string) (begun bool, err error) {
	s, err := m.get(plugin)
	if err != nil {
		return false, err
	}
	bodyless := r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0
	if bodyless && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		r = r.WithContext(Safe(r.Context()))
	}
	c := routes.NewClient(conn{s: s, fresh: true})
	begun, err = c.Forward(w, r)
	var down interface{ RetryAfter() time.Duration }
	if !begun && IsSafe(r.Context()) && errors.As(err, &down) && s.again(r.Context(), down.RetryAfter()) {
		s.stats.repeated.Add(1)
		begun, err = c.Forward(w, r)
	}
	return begun, err
}

// again waits until a call may be repeated: for a process of the plugin, or a short time
// for the node that runs it.
func (s *supervisor) again(ctx context.Context, pause time.Duration) bool {
	if !s.standby.Load() {
		return s.await(ctx, true) == nil
	}
	t := time.NewTimer(min(pause, time.Second))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
