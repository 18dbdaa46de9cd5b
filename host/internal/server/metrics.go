package server

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
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
