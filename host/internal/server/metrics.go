package server

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"ctl.internal/host/internal/plugin"
)

// adminHandler is the operators' listener.
func (s *Server) adminHandler() http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ctl_uptime_seconds", Help: "Time since the start."},
			func() float64 { return time.Since(s.began).Seconds() }))
	if shown := s.certs.expiring(); shown != nil {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ctl_certificate_expiry_timestamp_seconds",
			Help: "When the controller's certificate, or one of its chain, ends, in seconds since 1970."},
			func() float64 { return float64(shown.Expires().Unix()) }))
	}
	reg.MustRegister(s.roles.Collectors()...)
	return adminHandler(s.notReady, prometheus.Gatherers{reg, s.plugins.Gatherer()})
}

// notReady lists what keeps the controller from serving all it should: plugins of
// installed features that do not serve, and modules that were refused.
func (s *Server) notReady() []reason {
	var out []reason
	if s.roles.Clustered() && s.roles.Valid() == 0 {
		out = append(out, reason{"lease", "this node has no lease, so it holds no role: the store does not answer, or this home is a copy; the log says which"})
	}
	for _, p := range s.plugins.List() {
		if !p.State.Serving() && p.State != plugin.Standby {
			out = append(out, reason{"plugin " + p.Name, p.State.String() + ": " + p.Reason})
		}
		if why := s.catalog.refused(p.Name); why != "" {
			out = append(out, reason{"modules of plugin " + p.Name, why})
		}
	}
	return out
}
