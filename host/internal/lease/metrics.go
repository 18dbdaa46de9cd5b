package lease

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/host/internal/datastore"
)

type metrics struct {
	held, epoch *prometheus.GaugeVec
	transitions *prometheus.CounterVec
	renewals    prometheus.Histogram
	failures    prometheus.Counter
}

func newMetrics() *metrics {
	role := []string{"role"}
	return &metrics{
		held: prometheus.NewGaugeVec(
			prometheus.GaugeOpts{
				Name: "ctl_role_held",
				Help: "Whether this node holds the role.",
			},
			role,
		),
		epoch: prometheus.NewGaugeVec(
			prometheus.GaugeOpts{
				Name: "ctl_role_epoch",
				Help: "Epoch of the newest term on this node.",
			},
			role,
		),
		transitions: prometheus.NewCounterVec(
			prometheus.CounterOpts{
				Name: "ctl_role_transitions_total",
				Help: "Terms begun on this node.",
			},
			role,
		),
		renewals: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "ctl_lease_renew_seconds",
			Help:    "Duration of renewals of the node's lease.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2},
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ctl_lease_renew_failures_total",
			Help: "Renewals of the node's lease that failed.",
		}),
	}
}

func (m *metrics) noteTermBegan(role string, epoch datastore.Revision) {
	m.held.WithLabelValues(role).Set(1)
	m.epoch.WithLabelValues(role).Set(float64(epoch))
	m.transitions.WithLabelValues(role).Inc()
}

func (m *metrics) noteTermEnded(role string) {
	m.held.WithLabelValues(role).Set(0)
}

func (m *metrics) noteRenewal(took time.Duration, err error) {
	m.renewals.Observe(took.Seconds())
	if err != nil {
		m.failures.Inc()
	}
}

// Collectors are the metrics of roles and lease.
func (m *Manager) Collectors() []prometheus.Collector {
	x := m.metrics
	return []prometheus.Collector{x.held, x.epoch, x.transitions, x.renewals, x.failures}
}
