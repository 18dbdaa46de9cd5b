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
	// Channels are those that the router carries, of an alarm of a router: "flow:1 tv".
	Channels []string `json:"channel,omitempty"`
}

// Types of alarms, besides the kinds of notices.
const (
	RouterUnreachable = "router-unreachable" // the session is down
	RouterRefused     = "router-refused"     // login or host key; needs a person
	RouterFailed      = "router-failed"      // it refuses what it must hold, or somebody else changed it
	ChannelAtRisk     = "channel-at-risk"    // a way that routers may choose does not work
	ChannelDegraded   = "channel-degraded"   // some egress nodes are neither applied nor at risk
	ChannelDown       = "channel-down"       // none is, or the ingress is not
	ChannelSilent     = "channel-silent"     // the ingress counts packets that egress nodes do not
)

// RouterAlarms are the alarms of routers, without the channels that they carry.
func (s Routers) RouterAlarms(r state.Reader) []Alarm {
	return s.newLook(r).routerAlarms(map[string]int{})
}

// Node is the node-id of an alarm of a router.
func (a *Alarm) Node() string {
	return strings.TrimPrefix(a.Resource, routerResource)
}

// routerAlarms counts routers by state, and returns their alarms.
func (l *look) routerAlarms(states map[string]int) (out []Alarm) {
	for key := range l.All(l.r, RouterKey("")) {
		node := strings.TrimPrefix(key, RouterKey(""))
		session := l.routerRow(node).session
		x := l.latestState(node)
		states[x.State]++
		switch {
		case session.State == SessionRefused:
			out = append(
				out,
				Alarm{
					Resource: routerResource + node,
					Type:     RouterRefused,
					Severity: "critical",
					Text:     cmp.Or(session.Reason, x.Reason),
					Raised:   session.Since,
				},
			)
		case session.State == SessionDown && x.State != Applied:
			out = append(
				out,
				Alarm{
					Resource: routerResource + node,
					Type:     RouterUnreachable,
					Severity: "major",
					Text:     "the session is down: " + cmp.Or(session.Reason, x.Reason),
					Raised:   session.Since,
				},
			)
		case x.State == Failed:
			out = append(
				out,
				Alarm{
					Resource: routerResource + node,
					Type:     RouterFailed,
					Severity: "major",
					Text:     x.Reason,
					Raised:   x.Since,
				},
			)
		}
	}
	for _, n := range l.notices {
		severity := "critical"
		switch n.Kind {
		case "bfr-zero":
			severity = "warning"
		case NetworkDiffers:
			severity = "major"
		}
		out = append(
			out,
			Alarm{
				Resource: routerResource + n.Node,
				Type:     n.Kind,
				Severity: severity,
				Text:     n.Text,
				Raised:   n.At,
			},
		)
	}
	return out
}

// Health is the state of the whole network.
type Health struct {
	Alarms []Alarm
	// How many there are in each state.
	Routers, Sessions, Channels map[string]int
	// How many deployed channels are proved by each of what proves; "no": are not.
	Proved map[string]int
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
	h := &Health{
		Routers:  map[string]int{},
		Sessions: map[string]int{},
		Channels: map[string]int{},
		Proved:   map[string]int{},
	}
	l := w.Routers.newLook(r)
	h.Alarms = l.routerAlarms(h.Routers)
	wrong := map[string][]int{} // alarms of routers, by node-id
	for i, a := range h.Alarms {
		wrong[a.Node()] = append(wrong[a.Node()], i)
	}
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
		x := l.plannedState(t.ID, &c, revision, p.plan, p.err)
		h.Channels[x.State]++
		h.Proved[cmp.Or(x.ProvedBy, NotProved)]++
		h.Alarms = append(h.Alarms, x.alarms(keys[0], c.Name)...)
		for _, carrier := range x.Carriers {
			for _, i := range wrong[carrier.Node] {
				h.Alarms[i].Channels = append(h.Alarms[i].Channels, ChannelKey(t.ID, c.Name))
			}
		}
	}
	for i := range h.Alarms {
		h.Alarms[i].appendCarriedChannels()
	}
	slices.SortFunc(h.Alarms, func(a, b Alarm) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Type, b.Type))
	})
	return h
}

// routerResource begins the resource of an alarm of a router.
const routerResource = "router "

// appendCarriedChannels says in the text of an alarm of a router which channels the router carries.
func (a *Alarm) appendCarriedChannels() {
	if len(a.Channels) == 0 {
		return
	}
	slices.Sort(a.Channels)
	a.Text += fmt.Sprintf(
		"; it carries %s: %s",
		Count(len(a.Channels), "channel"),
		Several(a.Channels),
	)
}

// Count is a number with a noun: "1 channel", "2 channels".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// maxNamed is how many of many are named in a text.
const maxNamed = 5

// Several names a few of a list: "r1, r2, r3, r4, r5 and 7 more".
func Several(list []string) string {
	if len(list) <= maxNamed {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNamed], ", "), len(list)-maxNamed)
}

// alarms are those of a channel. What is on its way for the first time is not an alarm.
func (c *ChannelState) alarms(topology, name string) (out []Alarm) {
	resource := "channel " + ChannelKey(topology, name)
	if len(c.Silent) > 0 {
		out = append(
			out,
			Alarm{
				Resource: resource,
				Type:     ChannelSilent,
				Severity: "major",
				Text:     Several(c.Silent),
				Raised:   c.Since,
			},
		)
	}
	if c.State == Applied || c.State == Pending && c.Carriers[0].Confirmed.IsZero() {
		return out
	}
	a := Alarm{
		Resource: resource,
		Type:     ChannelDegraded,
		Severity: "major",
		Text:     c.Summary(),
		Raised:   c.Since,
	}
	switch {
	case c.State == AtRisk:
		a.Type, a.Severity = ChannelAtRisk, "minor"
	case c.Egress[Applied]+c.Egress[AtRisk] == 0 || c.Carriers[0].State != Applied:
		a.Type, a.Severity = ChannelDown, "critical"
	}
	return append(out, a)
}
