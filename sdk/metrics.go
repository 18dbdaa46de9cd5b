package sdk

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"ctl.internal/sdk/fault"
)

// metrics counts every call and keeps panics of handlers from ending the process.
type metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.HistogramVec
	panics   prometheus.Counter
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "ctl_plugin_call_seconds",
			Help:    "Duration of calls served by the plugin.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
		}, []string{"method", "code"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ctl_plugin_panics_total",
			Help: "Panics of handlers that were caught.",
		}),
	}
	m.registry.MustRegister(
		m.calls,
		m.panics,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

func (m *metrics) formatText() ([]byte, error) {
	families, err := m.registry.Gather()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func (m *metrics) recordDone(method string, start time.Time, err *error) {
	if v := recover(); v != nil {
		m.panics.Inc()
		slog.Error(
			"a handler panicked",
			"method",
			method,
			"panic",
			fmt.Sprint(v),
			"stack",
			string(debug.Stack()),
		)
		*err = fault.ToStatus(fault.New(
			fault.Internal,
			"internal error in the plugin; its log has the details",
		))
	}
	m.calls.WithLabelValues(method, status.Code(*err).String()).Observe(time.Since(start).Seconds())
}

func (m *metrics) interceptUnary(
	ctx context.Context,
	req any,
	info *grpc.UnaryServerInfo,
	h grpc.UnaryHandler,
) (_ any, err error) {
	defer m.recordDone(info.FullMethod, time.Now(), &err)
	return h(ctx, req)
}

func (m *metrics) interceptStream(
	srv any,
	s grpc.ServerStream,
	info *grpc.StreamServerInfo,
	h grpc.StreamHandler,
) (err error) {
	defer m.recordDone(info.FullMethod, time.Now(), &err)
	return h(srv, s)
}
