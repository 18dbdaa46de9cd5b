package service

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/state"
)

// Changes are gathered before the health is computed again: at least minHealthRest, and so long
// that it takes a twentieth of the time, at most maxHealthRest.
const (
	minHealthRest = 500 * time.Millisecond
	maxHealthRest = 3 * time.Second
)

// notifyHealth is called when what is known of routers has changed.
func (s *Service) notifyHealth() {
	if s.opened.Load() {
		together.Notify(s.look)
		together.Notify(s.proving)
	}
}

// watchHealth computes the health of the network after each change, on every node; the
// holder of the role publishes alarms that came and went.
func (s *Service) watchHealth(ctx context.Context) {
	w := bier.Watcher{
		Trees:   s.data.Trees,
		Routers: s.data.status,
	}
	var before []bier.Alarm
	list := troubleList{replace: s.replaceTroubles}
	for {
		now, began := s.data.store.Now(), time.Now()
		h := w.Health(now)
		rest := min(max(minHealthRest, 20*time.Since(began)), maxHealthRest)
		s.measures.health.Store(h)
		if a := s.acting.Load(); a != nil {
			a.expireNotices(now)
			for _, x := range diffAlarms(before, h.Alarms) {
				s.alarms.Publish(x)
			}
		}
		before = h.Alarms
		list.report(ctx, h.Alarms, s.acting.Load() != nil)
		host.Pause(ctx, rest)
		silent := !s.data.status.Silent(now).IsZero()
		if !s.waitChange(ctx, func() bool {
			return list.failed || !s.data.status.Silent(s.data.store.Now()).IsZero() != silent
		}) {
			return
		}
	}
}

// waitChange waits until something is known that may change the health, or it is due without that, which is asked from
// time to time: a list of troubles was not taken, or the holder of the role has gone silent, which nobody reports.
// False: ctx has ended.
func (s *Service) waitChange(ctx context.Context, due func() bool) bool {
	t := time.NewTicker(beatEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-s.look:
			return true
		case <-t.C:
			if due() {
				return true
			}
		}
	}
}

// setActing notes that this process holds the role, or with nil that it does not any more.
func (s *Service) setActing(a *acting) {
	s.acting.Store(a)
	together.Notify(s.look) // the holder of the role reports
}

// maxReported are the alarms that go into the controller's list of troubles.
const maxReported = 500

// troubleList is what this process has in the controller's list of troubles. It is for one goroutine.
type troubleList struct {
	replace func(context.Context, []host.Trouble) error // nil: there is no list
	filled  bool                                        // it may contain alarms
	failed  bool                                        // it is not what it must be
}

// report puts the alarms into the list; of a process that does not hold the role it is empty, because another reports.
func (l *troubleList) report(ctx context.Context, all []bier.Alarm, acts bool) {
	if l.replace == nil || !acts && !l.filled {
		return
	}
	l.filled = true
	var out []host.Trouble
	if acts {
		for _, a := range all[:min(len(all), maxReported)] {
			out = append(out, newTrouble(a))
		}
	}
	err := l.replace(ctx, out)
	switch {
	case err == nil || fault.KindOf(err) == fault.Unsupported: // the latter: the controller has no list
		l.failed, l.filled = false, acts
	default:
		l.failed = true
		slog.Debug("the alarms are not in the list of troubles", "error", err)
	}
}

func newTrouble(a bier.Alarm) host.Trouble {
	concerns, all := concernsOf(a)
	cause := a.Text
	if !all { // who may not read one of the channels would read its name
		cause = fmt.Sprintf(
			"it concerns %s; ctl bier:alarm-list shows the reason",
			bier.Count(len(a.Channels), "channel"),
		)
	}
	return host.Trouble{
		Kind:     a.Type,
		Resource: a.Resource,
		Concerns: concerns,
		Warning:  a.Severity == "minor" || a.Severity == "warning",
		Since:    a.Raised,
		Cause:    cause,
		Remedy:   "ctl bier:check shows what differs; ctl bier:alarm-list shows all alarms",
	}
}

// maxConcerns are the paths that the controller takes of a trouble.
const maxConcerns = 16

// concernsOf are the paths of data that an alarm names: the router, and the channels with their topologies, first those
// that its text names. all is false if there are too many of these.
func concernsOf(a bier.Alarm) (paths []string, all bool) {
	add := func(path string) bool {
		switch {
		case slices.Contains(paths, path):
			return true
		case len(paths) == maxConcerns:
			return false
		}
		paths = append(paths, path)
		return true
	}
	channel := func(key string) bool {
		topology, name := bier.SplitChannelKey(key)
		topology = url.PathEscape(topology)
		one := add(bier.ChannelTree + "/bier-channel=" + topology + "/channel=" + url.PathEscape(name))
		return add(bier.TopologyTree+"/bier-topology="+topology) && one
	}
	what, rest, _ := strings.Cut(a.Resource, " ")
	switch what {
	case "channel":
		channel(rest)
	case "router":
		add("/network-topology:network-topology/topology=topology-netconf/node=" + url.PathEscape(rest))
	}
	all = true
	for _, c := range a.Channels {
		if strings.Contains(a.Text, c) {
			all = channel(c) && all
		}
	}
	for _, c := range a.Channels {
		channel(c)
	}
	return paths, all
}

// alarmEvent is the notification alarm of bier-service-api.
type alarmEvent struct {
	bier.Alarm
	Cleared bool `json:"cleared"`
}

func diffAlarms(before, now []bier.Alarm) (out []alarmEvent) {
	has := func(list []bier.Alarm, a bier.Alarm) bool {
		return slices.ContainsFunc(list, func(b bier.Alarm) bool {
			return a.Resource == b.Resource && a.Type == b.Type
		})
	}
	for _, a := range now {
		if !has(before, a) {
			out = append(out, alarmEvent{Alarm: a})
		}
	}
	for _, a := range before {
		if !has(now, a) {
			out = append(out, alarmEvent{a, true})
		}
	}
	return out
}

// expireNotices ends notices of routers that hold something else since, which was confirmed: what
// they reported was of the configuration before.
func (a *acting) expireNotices(now *state.Snapshot) {
	for key, n := range a.data.status.Notices.All(now, "") {
		x, ok := a.data.status.Get(now, bier.RouterKey(n.Node))
		if !ok || x.Hash != n.Hash && x.State == bier.Applied && x.Confirmed.After(n.At) {
			a.records.putNotice(key, nil)
		}
	}
}

// recordNotice keeps what a router reported of the network.
func (a *acting) recordNotice(node string, n *bierdriver.Notification) {
	x, _ := a.data.status.Get(a.data.store.Now(), bier.RouterKey(node))
	kind := map[any]string{
		bierdriver.BFRIDCollision:       bier.BFRIDCollision,
		bierdriver.BFRZero:              "bfr-zero",
		bierdriver.SubDomainIDCollision: "sub-domain-id-collision",
	}[n.Kind]
	if kind == "" {
		return
	}
	at := time.Now()
	if n.At != nil {
		at = n.At.AsTime()
	}
	a.records.putNotice(
		node+"/"+kind,
		&bier.Notice{
			Node:  node,
			Kind:  kind,
			BFRID: uint16(n.BfrId),
			Text:  formatNotification(n),
			At:    at.UTC().Truncate(time.Millisecond),
			Hash:  x.Hash,
		},
	)
}

// openAlarms are what is wrong in the network now.
func (s *Service) openAlarms(ctx context.Context, _ operations.None) (*alarmsOut, error) {
	now, err := s.data.store.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	w := bier.Watcher{
		Trees:   s.data.Trees,
		Routers: s.data.status,
	}
	return &alarmsOut{w.Health(now).Alarms}, nil
}

// clearNotices forgets what a router reported.
func (s *Service) clearNotices(ctx context.Context, node string) error {
	node = bier.ShortID(node)
	_, err := s.data.store.Update(ctx, func(tx *state.Tx) error {
		found := false
		for key := range s.data.status.Notices.All(tx, node+"/") {
			s.data.status.Notices.Delete(tx, key)
			found = true
		}
		if !found {
			return fault.New(fault.NotFound, "router %s has no open reports", node)
		}
		return nil
	})
	return err
}

// recordStatus adds what is known of the router's model to its status, and keeps it.
func (a *acting) recordStatus(node string, s *bier.Status) {
	if s != nil {
		s.Lacks = a.registry.Lacks(s.Driver)
	}
	a.records.putRouterStatus(node, s)
}

// recordDrift notes that somebody else changed a router.
func (a *acting) recordDrift(node string, repaired bool) {
	outcome := "found"
	if repaired {
		outcome = "repaired"
	}
	a.measures.drift.WithLabelValues(outcome).Inc()
	slog.Info("a BIER router did not hold what it held before", "node", node, "outcome", outcome)
}

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
		apply: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "ctl_bier_apply_seconds",
			Help:    "Time that a driver took to bring a router to its configuration.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}, []string{"driver", "result"}),
		drift: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ctl_bier_drift_total",
			Help: "Times that a router did not hold what it held before; outcome says whether it was repaired."}, []string{"outcome"}),
		sessions: prometheus.NewCounterVec(
			prometheus.CounterOpts{
				Name: "ctl_bier_session_changes_total",
				Help: "Changes of sessions to routers, by the state after.",
			},
			[]string{"state"},
		),
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
	c <- provedDesc
}

var (
	routersDesc = prometheus.NewDesc(
		"ctl_bier_routers",
		"Routers by how far they are with what they must hold.",
		[]string{"state"},
		nil,
	)
	sessionsDesc = prometheus.NewDesc(
		"ctl_bier_sessions",
		"Sessions to routers by state.",
		[]string{"state"},
		nil,
	)
	channelsDesc = prometheus.NewDesc(
		"ctl_bier_channels",
		"Channels by the worst of their routers.",
		[]string{"state"},
		nil,
	)
	provedDesc = prometheus.NewDesc(
		"ctl_bier_channels_proved",
		"Deployed channels by what proves their delivery.",
		[]string{"by"},
		nil,
	)
	alarmsDesc = prometheus.NewDesc(
		"ctl_bier_alarms",
		"Open alarms by severity.",
		[]string{"severity"},
		nil,
	)
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
		provedDesc:   {append([]string{bier.NotProved}, bier.Proofs...), h.Proved},
		alarmsDesc:   {[]string{"critical", "major", "minor", "warning"}, alarms},
	} {
		for _, state := range x.states {
			c <- prometheus.MustNewConstMetric(
				desc,
				prometheus.GaugeValue,
				float64(x.counts[state]),
				state,
			)
		}
	}
}

// observeApply measures one call of a driver.
func (m *measures) observeApply(driver string, began time.Time, result string) {
	m.apply.WithLabelValues(driver, result).Observe(time.Since(began).Seconds())
}
