package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"ctl.internal/host/internal/console/tables"
)

// reason says why the controller is not ready, and what to do about it.
type reason = tables.Reason

func missing(what, why, remedy string) reason {
	return reason{What: what, Why: why, Remedy: remedy}
}

// adminHandler serves /livez, /readyz and /metrics, for operators on loopback.
func adminHandler(ready func(context.Context) []reason, metrics prometheus.Gatherer) http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	m.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		reasons := ready(r.Context())
		w.Header().Set("Content-Type", "application/json")
		if len(reasons) > 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		} else {
			reasons = []reason{}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"ready": len(reasons) == 0, "reasons": reasons})
	})
	m.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	return m
}

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
	reg.MustRegister(s.http.seconds, s.storeMetrics.seconds, s.storeMetrics.errors,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ctl_http_requests_in_flight", Help: "HTTP requests that are worked on; limits.inFlight is the most."},
			func() float64 { return float64(s.inFlight.Load()) }))
	reg.MustRegister(roomMetrics(s.home)...)
	reg.MustRegister(auditMetrics(s.audit)...)
	reg.MustRegister(loginCounters(s.aaa.Accounting())...)
	return adminHandler(s.notReady, prometheus.Gatherers{reg, s.plugins.Gatherer()})
}
