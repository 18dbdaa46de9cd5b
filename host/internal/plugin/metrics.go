package plugin

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// What a plugin's metrics may cost.
const (
	scrapeTimeout = 3 * time.Second
	scrapeBytes   = 2 << 20
	scrapeSeries  = 5_000
)

// pluginLabel distinguishes the metrics of plugins.
const pluginLabel = "plugin"

// Gatherer returns the metrics of all plugins, asked for by RPC, each with the label
// "plugin", and what the supervisor knows of them. A plugin that does not answer in
// time or answers nonsense is left out and counted.
func (m *Manager) Gatherer() prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
		defer cancel()
		return m.gatherMetrics(ctx), nil
	})
}

func (m *Manager) gatherMetrics(ctx context.Context) []*dto.MetricFamily {
	all := families{}
	plugins := m.index.Load().plugins
	scraped := make([]map[string]*dto.MetricFamily, len(plugins))
	var g sync.WaitGroup
	for i, s := range plugins {
		g.Go(func() { scraped[i] = s.scrapeMetrics(ctx) })
	}
	g.Wait()
	for i, s := range plugins {
		all.addSupervisorMetrics(s.info(), scraped[i] != nil)
		for _, name := range slices.Sorted(maps.Keys(scraped[i])) {
			all.mergeFamily(s.name, scraped[i][name])
		}
	}
	var out []*dto.MetricFamily
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[name])
	}
	return out
}

// scrapeMetrics returns nil when the plugin gives no metrics that can be used; plugin:info says why.
func (s *supervisor) scrapeMetrics(ctx context.Context) map[string]*dto.MetricFamily {
	inst := s.cur.Load()
	if inst == nil {
		return nil
	}
	res, err := pluginv1.NewBaseClient(inst.conn).Metrics(ctx, &pluginv1.MetricsRequest{})
	var fams map[string]*dto.MetricFamily
	if err == nil {
		fams, err = parseMetrics(res.Text)
	}
	why := ""
	if err != nil {
		why, fams = oneLine(err), nil
	}
	was := s.metrics.Swap(&why)
	if why != "" && (was == nil || *was != why) {
		s.log.Warn("the plugin's metrics cannot be used and are left out", "error", why)
	}
	return fams
}

// parseMetrics reads an exposition and checks it by itself: what one plugin writes harms no other metrics.
func parseMetrics(text []byte) (map[string]*dto.MetricFamily, error) {
	if len(text) > scrapeBytes {
		return nil, fmt.Errorf("%d bytes; at most %d are accepted", len(text), scrapeBytes)
	}
	p := expfmt.NewTextParser(model.UTF8Validation)
	fams, err := p.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	series, own := 0, families{}
	own.addSupervisorMetrics(Info{}, false)
	var all []*dto.MetricFamily
	for name, f := range fams {
		if own[name] != nil {
			return nil, fmt.Errorf("the name %s is used by the controller", name)
		}
		series += len(f.Metric)
		all = append(all, f)
	}
	if series > scrapeSeries {
		return nil, fmt.Errorf("%d series; at most %d are accepted", series, scrapeSeries)
	}
	_, err = prometheus.Gatherers{prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		return all, nil
	})}.Gather()
	return fams, err
}

// families are metric families by name.
type families map[string]*dto.MetricFamily

// mergeFamily adds a plugin's family. Of two that disagree about the type the first stays.
func (f families) mergeFamily(plugin string, in *dto.MetricFamily) {
	have, ok := f[in.GetName()]
	if !ok {
		have = &dto.MetricFamily{
			Name: in.Name,
			Help: in.Help,
			Type: in.Type,
		}
		f[in.GetName()] = have
	}
	if have.GetType() != in.GetType() {
		return
	}
	for _, metric := range in.Metric {
		metric.Label = slices.DeleteFunc(metric.Label, func(l *dto.LabelPair) bool {
			return l.GetName() == pluginLabel
		})
		metric.Label = append(metric.Label, newLabelPair(pluginLabel, plugin))
		slices.SortFunc(metric.Label, func(a, b *dto.LabelPair) int {
			return strings.Compare(a.GetName(), b.GetName())
		})
		have.Metric = append(have.Metric, metric)
	}
}

// addSupervisorMetrics adds what the supervisor knows.
func (f families) addSupervisorMetrics(i Info, scraped bool) {
	gauge := func(name, help string, v float64) {
		f.mergeFamily(i.Name, &dto.MetricFamily{
			Name:   &name,
			Help:   &help,
			Type:   dto.MetricType_GAUGE.Enum(),
			Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: &v}}},
		})
	}
	counter := func(name, help string, n uint64) {
		v := float64(n)
		f.mergeFamily(i.Name, &dto.MetricFamily{
			Name:   &name,
			Help:   &help,
			Type:   dto.MetricType_COUNTER.Enum(),
			Metric: []*dto.Metric{{Counter: &dto.Counter{Value: &v}}},
		})
	}
	truth := map[bool]float64{true: 1}
	gauge("ctl_plugin_up", "Whether calls reach the plugin.", truth[i.State.Serving()])
	gauge(
		"ctl_plugin_degraded",
		"Whether the plugin serves but says that something is wrong.",
		truth[i.State == Degraded],
	)
	gauge("ctl_plugin_scraped", "Whether the plugin's own metrics were usable.", truth[scraped])
	gauge("ctl_plugin_calls_in_flight", "Calls to the plugin under way.", float64(i.InFlight))
	counter(
		"ctl_plugin_restarts_total",
		"Restarts by the controller after a failure.",
		uint64(i.Restarts),
	)
	counter("ctl_plugin_processes_total", "Processes started, reloads included.", i.Generation)
	counter("ctl_plugin_calls_total", "Calls to the plugin.", i.Calls)
	counter("ctl_plugin_call_errors_total", "Calls that ended with an error.", i.Errors)
	counter(
		"ctl_plugin_calls_repeated_total",
		"Safe calls made again because the process had ended.",
		i.Repeated,
	)
	counter(
		"ctl_plugin_calls_refused_total",
		"Calls refused while the plugin was down or busy.",
		i.Refused,
	)
	counter("ctl_plugin_denied_total", "Tries of what the plugin was not granted.", i.Denied)
	gauge("ctl_plugin_calls_waiting", "Calls that wait for a place.", float64(i.Waiting))
	gauge(
		"ctl_plugin_store_bytes",
		"Size of the plugin's data in the store, as counted last.",
		float64(i.StoreBytes),
	)
	gauge(
		"ctl_plugin_failures_in_row",
		"Ends or failed starts in a row; the pause before the next start grows with them.",
		float64(i.Failures),
	)
	counter(
		"ctl_plugin_log_lines_dropped_total",
		"Lines that the plugin logged faster than it may.",
		i.LogDropped,
	)
	name := "ctl_plugin_over_quota_total"
	help := "What a plugin was refused because it was over its quota of calls, events, store or streams."
	over := &dto.MetricFamily{
		Name: &name,
		Help: &help,
		Type: dto.MetricType_COUNTER.Enum(),
	}
	for _, quota := range slices.Sorted(maps.Keys(i.OverQuota)) {
		over.Metric = append(
			over.Metric,
			&dto.Metric{
				Label:   []*dto.LabelPair{newLabelPair("quota", quota)},
				Counter: &dto.Counter{Value: proto.Float64(float64(i.OverQuota[quota]))},
			},
		)
	}
	f.mergeFamily(i.Name, over)
}

func newLabelPair(name, value string) *dto.LabelPair {
	return &dto.LabelPair{
		Name:  proto.String(name),
		Value: proto.String(value),
	}
}
