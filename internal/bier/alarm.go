package bier

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctl.internal/sdk/state"
)

// Alarm is something wrong in the network now. Resource and Type name it (RFC 8632 section
// 3.4).
type Alarm struct {
	Resource string    `json:"resource"` // "router r1", "channel flow:1 tv"
	Type     string    `json:"alarm-type"`
	Severity string    `json:"severity"` // critical, major, minor or warning
	Text     string    `json:"text"`
	Raised   time.Time `json:"raised"`
}

// Types of alarms, besides the kinds of notices.
const (
	RouterUnreachable = "router-unreachable" // the session is down
	RouterRefused     = "router-refused"     // login or host key; needs a person
	RouterFailed      = "router-failed"      // it refuses what it must hold, or somebody else changed it
	ChannelDegraded   = "channel-degraded"   // some egress nodes are not applied
	ChannelDown       = "channel-down"       // none is, or the ingress is not
)

// RouterAlarms are the alarms of routers.
func (s Routers) RouterAlarms(r state.Reader) []Alarm { return s.look(r).routers(map[string]int{}) }

// routers counts routers by state, and returns their alarms.
func (l *look) routers(states map[string]int) (out []Alarm) {
	for key := range l.All(l.r, RouterKey("")) {
		node := strings.TrimPrefix(key, RouterKey(""))
		session := l.row(node).session
		x := l.latest(node)
		states[x.State]++
		switch {
		case session.State == SessionRefused:
			out = append(out, Alarm{"router " + node, RouterRefused, "critical", cmp.Or(session.Reason, x.Reason), session.Since})
		case session.State == SessionDown && x.State != Applied:
			out = append(out, Alarm{"router " + node, RouterUnreachable, "major", "the session is down: " + cmp.Or(session.Reason, x.Reason), session.Since})
		case x.State == Failed:
			out = append(out, Alarm{"router " + node, RouterFailed, "major", x.Reason, x.Since})
		}
	}
	for _, n := range l.notices {
		severity := "critical"
		if n.Kind == "bfr-zero" {
			severity = "warning"
		}
		out = append(out, Alarm{"router " + n.Node, n.Kind, severity, n.Text, n.At})
	}
	return out
}

// Health is the state of the whole network.
type Health struct {
	Alarms []Alarm
	// How many there are in each state.
	Routers, Sessions, Channels map[string]int
}

// Watcher computes Health. It keeps the plans of channels, and is for one goroutine.
type Watcher struct {
	Trees   *Trees
	Routers Routers
	plans   map[string]planned
}

type planned struct {
	t        *Topology
	revision uint64
	plan     *Plan
	err      error
}

// Health computes the state of the network from one snapshot.
func (w *Watcher) Health(r state.Reader) *Health {
	h := &Health{Routers: map[string]int{}, Sessions: map[string]int{}, Channels: map[string]int{}}
	l := w.Routers.look(r)
	h.Alarms = l.routers(h.Routers)
	for _, x := range w.Routers.Sessions.All(r, "") {
		h.Sessions[x.State]++
	}
	before := w.plans
	w.plans = map[string]planned{}
	for path, c := range w.Trees.Channels.All(r) {
		if !c.Deployed() {
			h.Channels["not-deployed"]++
			continue
		}
		keys := w.Trees.Channels.Keys(path)
		t := w.Trees.Topology(r, keys[0])
		if t == nil {
			continue
		}
		p, revision := before[path], w.Trees.Channels.Revision(r, keys...)
		if p.t != t || p.revision != revision {
			p = planned{t: t, revision: revision}
			p.plan, p.err = PlanChannel(t, &c)
		}
		w.plans[path] = p
		x := l.planned(&c, revision, p.plan, p.err)
		h.Channels[x.State]++
		if a := x.alarm(keys[0], c.Name); a != nil {
			h.Alarms = append(h.Alarms, *a)
		}
	}
	slices.SortFunc(h.Alarms, func(a, b Alarm) int { return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Type, b.Type)) })
	return h
}

// alarm is that of a channel, nil: none. What is on its way for the first time is not an alarm.
func (c *ChannelState) alarm(topology, name string) *Alarm {
	if c.State == Applied || c.State == Pending && c.Carriers[0].Confirmed.IsZero() {
		return nil
	}
	a := &Alarm{fmt.Sprintf("channel %s %s", topology, name), ChannelDegraded, "major", c.Summary(), c.Since}
	if c.Egress[Applied] == 0 || c.Carriers[0].State != Applied {
		a.Type, a.Severity = ChannelDown, "critical"
	}
	return a
}
