package service

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/switchdriver"
)

// reading is the last two readings of the counters of a switch, and the alarms of its ports.
type reading struct {
	mu        sync.Mutex // one reads at a time
	was, now  driver.Counters
	polled    driver.Counters // at the interval of the settings: alarms are made of these
	alarmed   map[alarm]alarmState
	published []portRate // for those who do not wait
}

type alarm struct {
	number uint32
	kind   string
}

// readings are those of all switches.
type readings struct {
	mu  sync.Mutex
	all map[mib.MAC]*reading
}

func (r *readings) readingOf(m mib.MAC) *reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[mib.MAC]*reading{}
	}
	if r.all[m] == nil {
		r.all[m] = &reading{alarmed: map[alarm]alarmState{}}
	}
	return r.all[m]
}

// readCounters reads the counters of a switch again, unless that was done just now. Readings that are more than most apart
// make no rates.
func (s *Service) readCounters(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *discovery.Observation,
	most time.Duration,
) (list []portRate, was, now driver.Counters, err error) {
	r := s.readings.readingOf(o.Node)
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.now.At) >= minRate {
		c, err := s.drivers.Counters(ctx, sw)
		if err != nil {
			return nil, was, now, err
		}
		r.was, r.now = r.now, c
	}
	list = portRates(o, r.was, r.now, secondsBetween(r.was, r.now, most))
	s.readings.mu.Lock()
	r.published = list
	s.readings.mu.Unlock()
	return list, r.was, r.now, nil
}

type counterLines struct {
	ofSwitch
	Observed string     `json:"observed"`
	Seconds  float64    `json:"seconds,omitempty"`
	Entries  []portRate `json:"entry"`
}

// counterLines answers the rates of now. Where nothing was read before it reads twice.
func (s *Service) counterLines(
	ctx context.Context,
	sw *switchdriver.Switch,
	in whichIn,
) (*counterLines, error) {
	o := s.survey.Observation(mib.MAC(sw.NodeId))
	if o == nil {
		var err error
		if o, _, err = s.readCurrent(ctx, sw); err != nil {
			return nil, err
		}
	}
	list, was, now, err := s.readCounters(ctx, sw, o, maxRate)
	if err == nil && secondsBetween(was, now, maxRate) == 0 {
		host.Pause(ctx, minRate)
		list, was, now, err = s.readCounters(ctx, sw, o, maxRate)
	}
	if err != nil {
		return nil, err
	}
	only, err := namesOf(o).parsePort(sw, "port", in.Port)
	if err != nil {
		return nil, err
	}
	if only != 0 {
		list = slices.DeleteFunc(slices.Clone(list), func(r portRate) bool {
			return r.Number != only
		})
	}
	return &counterLines{s.switchIdentity(o.Node), formatTime(now.At), math.Round(secondsBetween(was, now, maxRate)*1000) / 1000, list}, nil
}

func (o *counterLines) formatTable() string {
	t := commands.Table{
		Empty: "The switch has no counters.",
		Columns: []commands.Column{{Title: "Port"}, {Title: "State"}, {
			Title: "Speed",
			Right: true,
		}, {
			Title: "In bit/s",
			Right: true,
		}, {Title: "Out bit/s", Right: true},
			{
				Title: "In errors",
				Right: true,
			}, {
				Title: "Out errors",
				Right: true,
			}, {
				Title: "In dropped",
				Right: true,
			}, {
				Title: "Out dropped",
				Right: true,
			}, {Title: "New", Right: true}},
	}
	number := func(n *uint64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatUint(*n, 10)
	}
	for _, r := range o.Entries {
		t.Add(r.Port, r.State, formatSpeed(r.Speed), number(r.In), number(r.Out), number(r.InErrors), number(r.OutErrors), number(r.InDiscards),
			number(r.OutDiscards), number(r.NewErrors))
	}
	return t.String()
}

// pollCounters reads the counters of all switches at the interval of the settings, until ctx ends.
func (s *Service) pollCounters(ctx context.Context) {
	interval := s.set.Counters.Interval.Duration
	if interval <= 0 {
		return
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		_, _ = s.askEach(ctx, "", func(ctx context.Context, sw *switchdriver.Switch, _ *sync.Mutex) error {
			o := s.survey.Observation(mib.MAC(sw.NodeId))
			if o == nil || sw.GetSnmp() == nil {
				return nil
			}
			if o.Stale {
				s.watchAlarms(o, nil, 0)
				return nil
			}
			_, _, now, err := s.readCounters(ctx, sw, o, longest(interval))
			if err != nil {
				return err // the discovery finds out, too, and says so
			}
			s.watchPorts(o, now)
			return nil
		})
		s.forgetReadings()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func (s *Service) forgetReadings() {
	s.readings.mu.Lock()
	defer s.readings.mu.Unlock()
	maps.DeleteFunc(s.readings.all, func(m mib.MAC, _ *reading) bool {
		_, err := s.inventory.Find(m)
		return err != nil
	})
}

// watchPorts has a switch read again whose ports are up or down otherwise than is known, and makes the alarms.
func (s *Service) watchPorts(o *discovery.Observation, now driver.Counters) {
	for _, p := range o.Ports {
		c, ok := now.Interfaces[p.IfIndex]
		if ok && p.Oper != 0 && statusText(c.Oper) != statusText(p.Oper) {
			s.survey.Touch(discovery.Hint{
				Node:    o.Node,
				IfIndex: p.IfIndex,
				Repeat:  c.Oper == 1,
				Polled:  true,
			})
		}
	}
	r := s.readings.readingOf(o.Node)
	r.mu.Lock()
	was := r.polled
	r.polled = now
	r.mu.Unlock()
	if !was.At.IsZero() {
		t := secondsBetween(was, now, longest(s.set.Counters.Interval.Duration))
		s.watchAlarms(o, portRates(o, was, now, t), t)
	}
}

// watchAlarms makes the alarms of the ports of a switch; those of ports that have no rates end.
func (s *Service) watchAlarms(o *discovery.Observation, list []portRate, t float64) {
	r := s.readings.readingOf(o.Node)
	r.mu.Lock()
	defer r.mu.Unlock()
	listed := map[uint32]bool{}
	for i := range list {
		p := &list[i]
		listed[p.Number] = true
		if most := uint64(s.set.Counters.Utilization); most > 0 {
			s.updateAlarm(r, o, p.portID, "utilization", p.percentUsed(), p.wrapped, most)
		}
		if most := uint64(s.set.Counters.Errors); most > 0 {
			s.updateAlarm(r, o, p.portID, "errors", p.newErrors(t), false, most)
		}
	}
	for k, a := range r.alarmed {
		switch {
		case listed[k.number]:
		case a.active:
			s.updateAlarm(
				r,
				o,
				portID{s.portNamesOf(o.Node).nameOfPort(k.number), k.number},
				k.kind,
				nil,
				false,
				1,
			)
		default:
			delete(r.alarmed, k)
		}
	}
}

// portEvent and rateAlarm are the notifications of module switch-ports.
type portEvent struct {
	Time string `json:"time"`
	ofSwitch
	portID
	State string `json:"state"`
	Cause string `json:"cause"`
}

type rateAlarm struct {
	Time string `json:"time"`
	ofSwitch
	portID
	Kind   string `json:"kind"`
	Active bool   `json:"active"`
	Value  uint64 `json:"value"`
	Limit  uint64 `json:"limit"`
}

// The event stream of ports and its notifications.
const (
	portStream        = "switch-ports"
	portNotification  = "switch-ports:port-changed"
	alarmNotification = "switch-ports:rate-alarm"
)

// updateAlarm takes the value of a reading, and publishes an alarm that begins or ends.
func (s *Service) updateAlarm(
	r *reading,
	o *discovery.Observation,
	p portID,
	kind string,
	value *uint64,
	doubtful bool,
	limit uint64,
) {
	k := alarm{p.Number, kind}
	before := r.alarmed[k]
	after := before.nextState(value, doubtful, limit)
	if delete(r.alarmed, k); after != (alarmState{}) {
		r.alarmed[k] = after
	}
	if before.active == after.active {
		return
	}
	var n uint64
	if value != nil {
		n = *value
	}
	s.alarms.Publish(rateAlarm{formatTime(time.Now()), s.switchIdentity(o.Node), p, kind, after.active, n, limit})
}

// portChanges are the ports that went up or down.
func portChanges(before, after *discovery.Network, cause discovery.Cause) (out []discovery.Change) {
	if before == nil {
		return nil
	}
	was := map[string]map[string]int32{}
	for _, n := range before.Nodes {
		ports := map[string]int32{}
		for _, p := range n.Ports {
			ports[p.ID] = p.Oper
		}
		was[n.ID] = ports
	}
	for _, n := range after.Nodes {
		for _, p := range n.Ports {
			old, now := statusText(was[n.ID][p.ID]), statusText(p.Oper)
			if n.Stale || old == now || old == "unknown" || now == "unknown" {
				continue
			}
			kind := discovery.PortUp
			if now == "down" {
				kind = discovery.PortDown
			}
			out = append(
				out,
				discovery.Change{
					At:    after.Built,
					Cause: string(cause),
					Kind:  kind,
					Node:  n.ID,
					Port:  p.ID,
				},
			)
		}
	}
	return out
}

func (s *Service) publishPort(c discovery.Change) {
	state := map[discovery.ChangeKind]string{
		discovery.PortUp:   "up",
		discovery.PortDown: "down",
	}[c.Kind]
	id := portID{Port: s.portOf(discovery.End{
		Node: c.Node,
		Port: c.Port,
	})}
	if n, err := strconv.ParseUint(c.Port, 10, 32); err == nil {
		id.Number = uint32(n)
	}
	s.portEvents.Publish(portEvent{formatTime(c.At), s.ofNode(c.Node), id, state, c.Cause})
}

// portMetrics gives the newest rates to the host's /metrics, of a bounded number of ports.
type portMetrics struct{ s *Service }

// Describe implements prometheus.Collector; the ports are known when asked.
func (m portMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m portMetrics) Collect(ch chan<- prometheus.Metric) {
	type line struct {
		sw string
		portRate
	}
	var all []line
	m.s.readings.mu.Lock()
	for node, r := range m.s.readings.all {
		for _, p := range r.published {
			all = append(all, line{m.s.nameOf(node) + " " + node.String(), p})
		}
	}
	m.s.readings.mu.Unlock()
	slices.SortFunc(all, func(a, b line) int {
		// up, unknown, down
		return cmp.Or(
			-cmp.Compare(a.State, b.State),
			cmp.Compare(a.sw, b.sw),
			cmp.Compare(a.Number, b.Number),
		)
	})
	shown := min(len(all), m.s.set.Counters.MetricsPorts)
	gauge := func(name, help string, v float64, labels ...string) {
		d := prometheus.NewDesc(name, help, []string{"switch", "port"}[:len(labels)], nil)
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	seen := map[[2]string]bool{}
	for _, l := range all[:shown] {
		labels := []string{l.sw, l.Port}
		if seen[[2]string(labels)] {
			labels[1] += " " + strconv.FormatUint(uint64(l.Number), 10) // two ports of one name
		}
		if seen[[2]string(labels)] {
			continue
		}
		seen[[2]string(labels)] = true
		gauge("ctl_switch_port_up", "Whether the port is up.", map[string]float64{"up": 1}[l.State], labels...)
		if l.In != nil {
			gauge("ctl_switch_port_in_bits_per_second", "Bits a second that came in, of the last two readings.", float64(*l.In), labels...)
		}
		if l.Out != nil {
			gauge("ctl_switch_port_out_bits_per_second", "Bits a second that went out, of the last two readings.", float64(*l.Out), labels...)
		}
		if n := l.sumFaults(); n != nil {
			gauge("ctl_switch_port_errors", "Errors and dropped frames since the switch started.", float64(*n), labels...)
		}
	}
	gauge(
		"ctl_switch_ports_left_out",
		"Ports that are not shown, beyond counters.metrics_ports.",
		float64(len(all)-shown),
	)
}
