package server

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/host/internal/aaa/accounting"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/restconf"
	"ctl.internal/host/internal/server/tracing"
	"ctl.internal/sdk/fault"
)

// httpMetrics measure what is answered, by the subtree that was asked for.
type httpMetrics struct {
	seconds *prometheus.HistogramVec
	known   sync.Map // prometheus.Observer by answered: to find one in seconds takes about 1 µs
}

// answered are the labels of a request. Both are from bounded sets.
type answered struct {
	subtree string
	code    int
}

func newHTTPMetrics() *httpMetrics {
	return &httpMetrics{seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "ctl_http_request_seconds",
		Help:    "Duration of HTTP requests by subtree and status; event streams count when they end.",
		Buckets: []float64{.005, .025, .1, .5, 2.5, 10},
	}, []string{"subtree", "code"})}
}

// measureRequests measures the requests that next serves; subtree names that of a path, from a bounded set.
func (m *httpMetrics) measureRequests(
	next http.Handler,
	subtree func(path string) string,
) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := subtree(r.URL.Path)
		began := time.Now()
		s := tracing.NewStatusWriter(w)
		next.ServeHTTP(s, r)
		m.observerOf(answered{name, s.Status}).Observe(time.Since(began).Seconds())
	})
}

func (m *httpMetrics) observerOf(a answered) prometheus.Observer {
	if o, ok := m.known.Load(a); ok {
		return o.(prometheus.Observer)
	}
	o := m.seconds.WithLabelValues(a.subtree, strconv.Itoa(a.code))
	m.known.Store(a, o)
	return o
}

// storeMetrics measure what waits for the datastore's engine.
type storeMetrics struct {
	seconds *prometheus.HistogramVec
	errors  *prometheus.CounterVec
	barrier prometheus.Observer // each read has one
	back    prometheus.Counter
}

// errorCause is why the engine did not do something, from a bounded set.
func errorCause(err error) string {
	switch {
	case errors.Is(err, datastore.ErrConflict):
		return "conflict"
	case errors.Is(err, datastore.ErrTooBig):
		return "too-big"
	case isFull(err):
		return "full"
	case errors.Is(err, context.DeadlineExceeded), fault.KindOf(err) == fault.Timeout:
		return "timeout"
	case errors.Is(err, context.Canceled), errors.Is(err, datastore.ErrClosed):
		return "canceled"
	}
	return "other"
}

func newStoreMetrics() *storeMetrics {
	m := &storeMetrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ctl_datastore_seconds",
			Help:    "How long the datastore's engine took: barrier (each read of the newest state) and commit (each write).",
			Buckets: []float64{.00001, .0001, .001, .01, .05, .25, 1, 4.5}}, []string{"operation"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ctl_datastore_errors_total",
			Help: "What the datastore's engine did not do, by cause; conflict: another writer was faster, which is tried again."}, []string{"operation", "cause"}),
	}
	m.back = prometheus.NewCounter(prometheus.CounterOpts{Name: "ctl_datastore_set_back_total",
		Help: "How often the etcd cluster was set back to an older state while this controller ran: what was acknowledged since is lost."})
	m.barrier = m.seconds.WithLabelValues("barrier")
	for _, operation := range []string{"barrier", "commit"} {
		// so that a first one is seen as a rise
		for _, why := range []string{"conflict", "too-big", "full", "timeout", "canceled", "other"} {
			m.errors.WithLabelValues(operation, why)
		}
	}
	return m
}

func (m *storeMetrics) observeOperation(operation string, took time.Duration, err error) {
	if operation == "barrier" {
		m.barrier.Observe(took.Seconds())
	} else {
		m.seconds.WithLabelValues(operation).Observe(took.Seconds())
	}
	if err != nil {
		m.errors.WithLabelValues(operation, errorCause(err)).Inc()
	}
}

// roomMetrics say how much of the disk is free, and how much the datastore has of it.
func roomMetrics(dir home.Dir) []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "ctl_disk_free_bytes",
			Help: "Free space on the disk of the home; writes are refused below 16 MiB.",
		}, func() float64 {
			free, err := freeOn(string(dir))
			if err != nil {
				return math.NaN()
			}
			return float64(free)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "ctl_datastore_bytes",
			Help: "What the files of the embedded datastore take on the disk; 0 with etcd.",
		},
			func() float64 { return float64(sizeOf(dir.Store())) }),
	}
}

// auditMetrics say what the audit wrote. They are read together, at each scrape.
func auditMetrics(of *logs.Audit) []prometheus.Collector {
	var out []prometheus.Collector
	add := func(name, help string, labels prometheus.Labels, f func(logs.AuditStats) float64) {
		out = append(
			out,
			prometheus.NewCounterFunc(prometheus.CounterOpts{
				Name:        name,
				Help:        help,
				ConstLabels: labels,
			}, func() float64 { return f(of.Stats()) }),
		)
	}
	gauge := func(name, help string, f func(logs.AuditStats) float64) {
		out = append(
			out,
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: name,
				Help: help,
			}, func() float64 { return f(of.Stats()) }),
		)
	}
	const records = "Records of the audit by outcome."
	add("ctl_audit_records_total", records, prometheus.Labels{"outcome": "ok"}, func(s logs.AuditStats) float64 {
		return float64(s.OK)
	})
	add("ctl_audit_records_total", records, prometheus.Labels{"outcome": "refused"}, func(s logs.AuditStats) float64 {
		return float64(s.Refused)
	})
	add("ctl_audit_records_total", records, prometheus.Labels{"outcome": "failed"}, func(s logs.AuditStats) float64 {
		return float64(s.Failed)
	})
	add("ctl_audit_lost_total", "Records of the audit that could not be written to its file, and found no room to wait for it.", nil, func(s logs.AuditStats) float64 {
		return float64(s.Lost)
	})
	gauge("ctl_audit_synced_timestamp_seconds", "When all records of the audit were on the disk last, in seconds since 1970.",
		func(s logs.AuditStats) float64 { return float64(s.Synced.UnixMilli()) / 1000 })
	gauge("ctl_audit_file_bytes", "Size of the file of the audit that is written; the next begins at 64 MiB.", func(s logs.AuditStats) float64 {
		return float64(s.Bytes)
	})
	add("ctl_audit_syslog_sent_total", "Records of the audit that a syslog server was sent.", nil, func(s logs.AuditStats) float64 {
		return float64(s.Sent)
	})
	add("ctl_audit_syslog_dropped_total", "Records of the audit that a syslog server was not sent, because it did not take them in time.", nil,
		func(s logs.AuditStats) float64 { return float64(s.Dropped) })
	gauge("ctl_audit_syslog_queue", "Records of the audit that wait for the syslog server.", func(s logs.AuditStats) float64 {
		return float64(s.Queued)
	})
	return out
}

// lockoutCounters count what was delayed or blocked after failed logins.
func lockoutCounters(of *lockoutCounts) (out []prometheus.Collector) {
	for _, kind := range []string{"account", "address"} {
		for _, state := range []string{throttle.Delayed, throttle.Blocked} {
			out = append(out, prometheus.NewCounterFunc(prometheus.CounterOpts{
				Name: "ctl_login_lockouts_total",
				Help: "Accounts and addresses that were first delayed, or blocked, after failed logins.",
				ConstLabels: prometheus.Labels{
					"kind":  kind,
					"state": state,
				},
			}, func() float64 {
				return float64(of.countOf(kind, state))
			}))
		}
	}
	return out
}

// hostMetric counts what asked for a name that is not known to be this controller's.
func hostMetric(of *browsers) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "ctl_http_unknown_host_total",
		Help: "Requests whose Host header is no name of this controller (listeners.names); those of browsers were refused."}, func() float64 {
		return float64(of.unknown.Load())
	})
}

// subtreeOf is the first segment of a path where the controller or a plugin serves something below it, of RESTCONF the
// first two, else "other".
func (r *router) subtreeOf(path string) string {
	if path == "/" {
		return path
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	name := path[:min(1+len(first), len(path))]
	if !r.now.Load().subtrees[name] {
		return "other"
	}
	second, _, _ := strings.Cut(rest, "/")
	if slices.Contains(restconf.Prefixes[:], name) &&
		slices.Contains(restconf.Resources[:], second) {
		return path[:len(name)+1+len(second)]
	}
	return name
}

// loginCounters count logins, each request with credentials being one.
func loginCounters(of *accounting.Recorder) []prometheus.Collector {
	var out []prometheus.Collector
	for result, n := range map[string]func() uint64{
		"ok":        of.Accepted.Load,
		"refused":   of.Refused.Load,
		"throttled": of.Throttled.Load,
	} {
		out = append(out, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name:        "ctl_logins_total",
			Help:        "Logins, each request with credentials being one; those throttled were refused unseen.",
			ConstLabels: prometheus.Labels{"result": result},
		}, func() float64 {
			return float64(n())
		}))
	}
	return out
}
