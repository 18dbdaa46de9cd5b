package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"ctl.internal/host/internal/console/tables"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/host/internal/plugin/process"
)

// reason says why the controller is not ready, and what to do about it.
type reason = tables.Reason

func newReason(what, why, remedy string) reason {
	return reason{What: what, Why: why, Remedy: remedy}
}

// adminHandler serves /livez, /readyz and /metrics, for operators on loopback.
func adminHandler(ready func(context.Context) []reason, metrics prometheus.Gatherer) http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n"))
	})
	m.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		reasons := ready(r.Context())
		w.Header().Set("Content-Type", "application/json")
		if len(reasons) > 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		} else {
			reasons = []reason{}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"ready":   len(reasons) == 0,
			"reasons": reasons,
		})
	})
	m.Handle(
		"GET /metrics",
		promhttp.HandlerFor(metrics, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}),
	)
	return m
}

// adminHandler is the operators' listener.
func (s *Server) adminHandler() http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "ctl_uptime_seconds",
			Help: "Time since the start.",
		},
			func() float64 { return time.Since(s.began).Seconds() }))
	if shown := s.certs.shownCertificate(); shown != nil {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ctl_certificate_expiry_timestamp_seconds",
			Help: "When the controller's certificate, or one of its chain, ends, in seconds since 1970."},
			func() float64 { return float64(shown.Expires().Unix()) }))
	}
	reg.MustRegister(s.roles.Collectors()...)
	reg.MustRegister(s.http.seconds, s.storeMetrics.seconds, s.storeMetrics.errors, s.storeMetrics.back,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "ctl_http_requests_in_flight",
			Help: "HTTP requests that are worked on; limits.inFlight is the most.",
		},
			func() float64 { return float64(s.inFlight.Load()) }))
	reg.MustRegister(hostMetric(s.browsers))
	reg.MustRegister(lockoutCounters(&s.lockouts)...)
	reg.MustRegister(roomMetrics(s.home)...)
	reg.MustRegister(s.disks)
	reg.MustRegister(auditMetrics(s.audit)...)
	reg.MustRegister(topologyMetrics{s})
	reg.MustRegister(troubleMetrics{s})
	if s.notifier != nil {
		reg.MustRegister(s.notifier.Collectors()...)
	}
	reg.MustRegister(loginCounters(s.aaa.Accounting())...)
	return adminHandler(s.notReady, prometheus.Gatherers{reg, s.plugins.Gatherer()})
}

// notReady lists what keeps the controller from serving all it should: the troubles of this node that do.
func (s *Server) notReady(ctx context.Context) (out []reason) {
	for _, f := range s.findings(ctx) {
		if !f.Warning {
			out = append(out, newReason(f.Resource, f.Cause, f.Remedy))
		}
	}
	return out
}

func pluginRemedy(p plugin.Info) string {
	switch p.State {
	case plugin.Starting, plugin.Backoff, plugin.Stopping:
		return "wait; ctl plugin:info " + argument(p.Name) + " shows how it goes on"
	case plugin.Stopped:
		return "ctl plugin:start " + argument(p.Name)
	}
	return "remove the cause (ctl plugin:check " + argument(p.Name) + "), then ctl plugin:start " + argument(p.Name)
}

// roomNeeded is the free space below which a controller refuses writes.
const roomNeeded = 16 << 20

// diskReasons says that the disk of a home is full, if it is.
func diskReasons(dir home.Dir) []reason {
	free, err := freeOn(string(dir))
	if err != nil || free >= roomNeeded {
		return nil
	}
	return []reason{newReason(
		"disk",
		fmt.Sprintf(
			"%d MiB are free on the disk of %s, %d MiB are needed, so writes are refused",
			free>>20,
			dir,
			roomNeeded>>20,
		),
		diskRemedy(dir),
	)}
}

// isFull reports whether an error comes from a disk, or a quota, without room.
func isFull(err error) bool {
	return errors.Is(err, datastore.ErrFull) ||
		errors.Is(err, syscall.ENOSPC) ||
		errors.Is(err, syscall.EDQUOT)
}

// openProfiler serves net/http/pprof on a unix socket that only the owner of the
// process enters: profiles show too much for any listener.
//
//	curl --unix-socket HOME/data/run/pprof.sock -o cpu http://x/debug/pprof/profile?seconds=10
func (s *Server) openProfiler(ctx context.Context) error {
	ln, err := process.Listen(s.home.Run("pprof.sock"), process.None, func(pid int) {
		s.log.Warn("a plugin tried to read profiles and was refused", "pid", pid)
	})
	if err != nil {
		return err
	}
	m := http.NewServeMux()
	m.HandleFunc("/debug/pprof/", pprof.Index)
	m.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	m.HandleFunc("/debug/pprof/profile", pprof.Profile)
	m.HandleFunc("/debug/pprof/trace", pprof.Trace)
	srv := &http.Server{
		Handler:           m,
		ReadHeaderTimeout: 10 * time.Second,
	}
	s.runInBackground(ctx, "profiler", func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
		defer stop()
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return nil
}
