package plugin

import "context"

// reloadLabel with the value "restart" in a manifest says that two processes of the
// plugin cannot live side by side, because it holds something exclusive (a port).
// Reloading it is a restart, during which safe calls wait.
const reloadLabel = "reload"

func (s *supervisor) reload(ctx context.Context) error {
	if m := s.manifest.Load(); m != nil && m.Labels[reloadLabel] == "restart" {
		return s.order(ctx, evRestart{})
	}
	return s.order(ctx, evReload{})
}

// keep returns to the spec of the process that serves on after a failed reload.
func (s *supervisor) keep(before Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur.Load() != nil {
		s.spec = before
	}
}
