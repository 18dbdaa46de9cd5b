package service

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/plugins/openflow/shell"
)

// collector gives the counts of openflow:counters to the host's /metrics.
type collector struct {
	counters func(context.Context) ([]shell.Counter, error)
}

// collectTimeout bounds how long the discovery may take to answer.
const collectTimeout = time.Second

// Describe implements prometheus.Collector; the counts are known when asked.
func (c collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	all, err := c.counters(ctx)
	if err != nil {
		return
	}
	for _, n := range all {
		name, kind := "ctl_openflow_"+strings.ReplaceAll(n.Name, "-", "_"), prometheus.GaugeValue
		if !n.Gauge {
			name, kind = name+"_total", prometheus.CounterValue
		}
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, "See openflow:counters.", nil, nil), kind, float64(n.Value))
	}
}
