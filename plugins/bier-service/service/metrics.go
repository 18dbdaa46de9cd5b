package service

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/internal/bier"
)

// measures are what the plugin shows on the host's /metrics. Routers and channels are
// counted, not named, so that the number of series does not grow with the network.
type measures struct {
	health   atomic.Pointer[bier.Health]
	apply    *prometheus.HistogramVec
	drift    *prometheus.CounterVec
	sessions *prometheus.CounterVec
}

func newMeasures(r prometheus.Registerer) *measures {
	m := &measures{
		apply: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ctl_bier_apply_seconds",
			Help: "Time that a driver took to bring a router to its configuration.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 9)}, []string{"driver", "result"}),
		drift: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ctl_bier_drift_total",
			Help: "Times that a router did not hold what it held before; outcome says whether it was repaired."}, []string{"outcome"}),
		sessions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ctl_bier_session_changes_total", Help: "Changes of sessions to routers, by the state after."}, []string{"state"}),
	}
	if r == nil {
		return m
	}
	for _, c := range []prometheus.Collector{m.apply, m.drift, m.sessions, m} {
		if err := r.Register(c); err != nil {
			slog.Warn("BIER routers are not in the metrics", "error", err)
		}
	}
	return m
}

// Describe implements prometheus.Collector.
func (m *measures) Describe(c chan<- *prometheus.Desc) {
	c <- routersDesc
	c <- sessionsDesc
	c <- channelsDesc
	c <- alarmsDesc
}

var (
	routersDesc  = prometheus.NewDesc("ctl_bier_routers", "Routers by how far they are with what they must hold.", []string{"state"}, nil)
	sessionsDesc = prometheus.NewDesc("ctl_bier_sessions", "Sessions to routers by state.", []string{"state"}, nil)
	channelsDesc = prometheus.NewDesc("ctl_bier_channels", "Channels by the worst of their routers.", []string{"state"}, nil)
	alarmsDesc   = prometheus.NewDesc("ctl_bier_alarms", "Open alarms by severity.", []string{"severity"}, nil)
)

// Collect implements prometheus.Collector.
func (m *measures) Collect(c chan<- prometheus.Metric) {
	h := m.health.Load()
	if h == nil {
		return
	}
	alarms := map[string]int{}
	for _, a := range h.Alarms {
		alarms[a.Severity]++
	}
	for desc, x := range map[*prometheus.Desc]struct {
		states []string // shown with 0, too
		counts map[string]int
	}{
		routersDesc:  {bier.States, h.Routers},
		sessionsDesc: {[]string{bier.SessionUp, bier.SessionDown, bier.SessionRefused, "connecting"}, h.Sessions},
		channelsDesc: {append([]string{"not-deployed"}, bier.States...), h.Channels},
		alarmsDesc:   {[]string{"critical", "major", "minor", "warning"}, alarms},
	} {
		for _, state := range x.states {
			c <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(x.counts[state]), state)
		}
	}
}

// applied measures one call of a driver.
func (m *measures) applied(driver string, began time.Time, result string) {
	m.apply.WithLabelValues(driver, result).Observe(time.Since(began).Seconds())
}
