package bier

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
)

// Prefixes of the records that the BIER service exports: of routers (RouterKey) and of the
// service itself (ServiceKey, BeatKey), of sessions by node-id, and of what routers reported.
const (
	StatusPrefix  = "status/"
	SessionPrefix = "session/"
	NoticePrefix  = "notice/"
	ServiceKey    = "service"
	BeatKey       = "beat"
)

// RouterKey is the key of a router's record.
func RouterKey(node string) string { return "router/" + node }

// RouterState says whether a router holds what it must hold.
type RouterState struct {
	Node string `json:"node-id"`
	// Role is what the router is for a channel, where that is what is asked for.
	Role   string `json:"role,omitempty"`
	State  string `json:"state"` // Applied, Unverified, Pending, Failed; of an egress node also AtRisk, Unreachable
	Reason string `json:"reason,omitempty"`
	// Waits says why it is still Pending: NotTried, UnderWay or Slow.
	Waits  string `json:"pending-reason,omitempty"`
	Driver string `json:"driver,omitempty"`
	// When the state began, when it became known what the router must hold, when that was
	// sent last, and when the router was last read back and held it.
	Since     time.Time `json:"since,omitzero"`
	Intended  time.Time `json:"intended,omitzero"`
	Sent      time.Time `json:"sent,omitzero"`
	Confirmed time.Time `json:"confirmed,omitzero"`
	// Session is the state of the session, "" while nothing is known of one.
	Session      string    `json:"session,omitempty"`
	SessionSince time.Time `json:"session-since,omitzero"`
	// Of an egress node of a channel: when it was last proved that packets come to it, and by what.
	Proved   time.Time `json:"proved,omitzero"`
	ProvedBy string    `json:"proved-by,omitempty"`
	// Of an egress node, where it shows them: the ports that packets leave by, and if there are none, lines to enter at
	// the router so that it delivers them.
	Receivers []string `json:"receiver,omitempty"`
	ByHand    []string `json:"by-hand,omitempty"`
	// Of an egress node: the computed way to it, both ends included; one of them where several have the same cost.
	Path []string `json:"path,omitempty"`
	// What an ingress or egress node counted of the channel, and when it was read; zero: it shows no counter.
	Packets uint64    `json:"packets,omitempty"`
	Counted time.Time `json:"counted,omitzero"`
	Lacks   []string  `json:"-"` // Abilities that it is known not to have
}

// States of a router, and of an egress node of a channel, from good to bad.
const (
	Applied = "applied"
	// AtRisk, of egress nodes only: packets come to it, but routers may choose a way of the same
	// cost that does not work, or that is not known to work.
	AtRisk = "at-risk"
	// Unverified: it was applied, but the session was lost since, or a comparison did not succeed.
	Unverified = "unverified"
	Pending    = "pending"
	// Unreachable, of egress nodes only: the router holds all that it must, but packets do
	// not come to it.
	Unreachable = "unreachable"
	Failed      = "failed"
)

// States lists the states, from good to bad.
var States = []string{Applied, AtRisk, Unverified, Pending, Unreachable, Failed}

// isWorseState reports whether state a is worse than b.
func isWorseState(a, b string) bool {
	return slices.Index(States, a) > slices.Index(States, b)
}

// Why a router is still Pending.
const (
	NotTried = "not-tried" // the change did not come to the router yet
	UnderWay = "under-way" // the router is being changed
	Slow     = "slow"      // the router has the change for longer than slowAfter and did not answer
)

// slowAfter is when a change that is under way is called slow.
const slowAfter = 10 * time.Second

// States of a session.
const (
	SessionUp      = "up"
	SessionDown    = "down"
	SessionRefused = "refused"
)

// Session is the session to a router as its driver reported it last.
type Session struct {
	State   string    `json:"state"` // connecting, SessionUp, SessionDown or SessionRefused
	Reason  string    `json:"reason,omitempty"`
	Dialect string    `json:"dialect,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Lacks   string    `json:"lacks,omitempty"` // as of Status, of this very router
}

// Same reports whether nothing but the time is different.
func (s Session) Same(o Session) bool {
	o.Since = s.Since
	return s == o
}

// Lost reports whether the router is known not to be reached.
func (s Session) Lost() bool {
	return s.State == SessionDown || s.State == SessionRefused
}

// Status is a record below StatusPrefix: of a router, or, under ServiceKey, of the service.
type Status struct {
	// Processed is the revision of the topologies and channels up to which it is known
	// what each router must hold. Of the service only.
	Processed uint64 `json:"processed,omitempty"`
	// Intent is the revision at which it was found that the router must hold something
	// else, Answered the Intent that State is the result of.
	Intent   uint64 `json:"intent,omitempty"`
	Answered uint64 `json:"answered,omitempty"`
	Epoch    uint64 `json:"epoch,omitempty"` // of the role that wrote it
	// Beat grows with every sign of life of the service, which comes every Every. Of BeatKey only.
	Beat   uint64        `json:"beat,omitempty"`
	Every  time.Duration `json:"every,omitempty"`
	State  string        `json:"state,omitempty"`
	Reason string        `json:"reason,omitempty"`
	Waits  string        `json:"waits,omitempty"` // of Pending, as in RouterState
	// Aside are the channels that the router does not hold although it holds everything else.
	Aside  []Aside `json:"aside,omitempty"`
	Driver string  `json:"driver,omitempty"`
	Hash   string  `json:"hash,omitempty"` // of what the router must hold
	// Lacks are the Abilities that the router's model is known not to have, by commas.
	Lacks     string    `json:"lacks,omitempty"`
	Since     time.Time `json:"since,omitzero"` // of State
	Intended  time.Time `json:"intended,omitzero"`
	Sent      time.Time `json:"sent,omitzero"`
	Confirmed time.Time `json:"confirmed,omitzero"`
}

// Same reports whether two records say the same.
func (x Status) Same(o Status) bool {
	same := func(a, b Aside) bool {
		return a.Reason == b.Reason && slices.Equal(a.Channels, b.Channels)
	}
	if !slices.EqualFunc(x.Aside, o.Aside, same) {
		return false
	}
	x.Aside, o.Aside = nil, nil
	return reflect.DeepEqual(x, o)
}

// Aside are channels that a router refuses for one reason, by ChannelKey.
type Aside struct {
	Reason   string   `json:"reason"`
	Channels []string `json:"channels"`
}

// ChannelKey names a channel of a topology.
func ChannelKey(topology, channel string) string {
	return topology + " " + channel
}

// SplitChannelKey is the way back of ChannelKey. Ids of topologies have no blanks.
func SplitChannelKey(key string) (topology, channel string) {
	topology, channel, _ = strings.Cut(key, " ")
	return topology, channel
}

// Notice is a fault of the network that a router reported. Routers do not report its end.
type Notice struct {
	Node  string    `json:"node-id"`
	Kind  string    `json:"kind"` // the name of the notification
	BFRID uint16    `json:"bfr-id,omitempty"`
	Text  string    `json:"text"`
	At    time.Time `json:"at"`
	Hash  string    `json:"hash,omitempty"` // of what the router had to hold when it reported
}

// Routers is what is known of routers as a plugin follows it.
type Routers struct {
	*state.Table[Status]
	Sessions *state.Table[Session]
	Notices  *state.Table[Notice]
	Readings *state.Table[Reading]
	Counts   *state.Table[Counts]
	heard    *heard
}

// heard is when the service gave its last sign of life, by the clock of this process.
type heard struct {
	mu   sync.Mutex
	beat uint64
	at   time.Time
}

// silentBeats is after how many signs of life that did not come the service is no longer believed.
const silentBeats = 3

// silentSince returns since when the service is silent, zero while it is not.
func (h *heard) silentSince(service Status, now time.Time) time.Time {
	if h == nil || service.Every <= 0 {
		return time.Time{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at.IsZero() || h.beat != service.Beat {
		h.beat, h.at = service.Beat, now
	}
	if now.Sub(h.at) <= silentBeats*service.Every {
		return time.Time{}
	}
	return h.at
}

// NewRouters returns what the plugin bier-service exports.
func NewRouters() Routers {
	return RoutersAt(func(prefix string) host.Prefix {
		return state.Shared("bier-service", prefix)
	})
}

// RoutersAt is NewRouters with the place of a prefix; the plugin bier-service itself has state.Private.
func RoutersAt(at func(string) host.Prefix) Routers {
	return Routers{
		Table:    state.NewTable[Status](at(StatusPrefix)),
		Sessions: state.NewTable[Session](at(SessionPrefix)),
		Notices:  state.NewTable[Notice](at(NoticePrefix)),
		Readings: state.NewTable[Reading](at(ReadingPrefix)),
		Counts:   state.NewTable[Counts](at(CountPrefix)),
		heard:    &heard{},
	}
}

// Views are what state.Open takes.
func (s Routers) Views() []state.View {
	return []state.View{s.Table, s.Sessions, s.Notices, s.Readings, s.Counts}
}

// Answered reports whether what was configured up to a revision was tried at a router. For
// a router without a record nothing must be done.
func (s Routers) Answered(r state.Reader, node string, revision uint64) bool {
	if service, _ := s.Get(r, ServiceKey); service.Processed < revision {
		return false
	}
	x, ok := s.Get(r, RouterKey(node))
	return !ok || x.Answered >= min(x.Intent, revision)
}

// State is that of a router as to what was configured up to a revision.
func (s Routers) State(r state.Reader, node string, revision uint64) RouterState {
	return s.newLook(r).routerState(node, revision)
}

// Latest is the state of a router as to all that is configured.
func (s Routers) Latest(r state.Reader, node string) RouterState {
	return s.newLook(r).latestState(node)
}

// look is what is known of routers in one snapshot. Each record is read once, though many
// channels lead to the same router.
type look struct {
	Routers
	r       state.Reader
	service Status
	silent  time.Time // since when nothing was heard of the service; zero: it is heard of
	notices []Notice
	now     time.Time
	rows    map[string]*row
}

type row struct {
	Status
	session Session
	known   bool // else nothing must be done at the router
	aside   map[string]string
	reading *Reading // nil: none
	counts  Counts
}

// setAside is why the router does not hold a channel that it must hold, "" if it does.
func (x *row) setAside(channel string) string {
	if x.aside == nil {
		x.aside = map[string]string{}
		for _, a := range x.Aside {
			for _, c := range a.Channels {
				x.aside[c] = a.Reason
			}
		}
	}
	return x.aside[channel]
}

// Silent returns since when the service gave no sign of life, zero while it does.
func (s Routers) Silent(r state.Reader) time.Time {
	beat, _ := s.Get(r, BeatKey)
	return s.heard.silentSince(beat, time.Now())
}

func (s Routers) newLook(r state.Reader) *look {
	l := &look{
		Routers: s,
		r:       r,
		now:     time.Now(),
		rows:    map[string]*row{},
		notices: slices.Collect(seqValues(s.Notices.All(r, ""))),
	}
	l.service, _ = s.Get(r, ServiceKey)
	l.silent = s.Silent(r)
	return l
}

func (l *look) routerRow(node string) *row {
	x := l.rows[node]
	if x == nil {
		x = &row{}
		x.Status, x.known = l.Get(l.r, RouterKey(node))
		x.session, _ = l.Sessions.Get(l.r, node)
		if reading, ok := l.Readings.Get(l.r, node); ok {
			x.reading = &reading
		}
		x.counts, _ = l.Counts.Get(l.r, node)
		l.rows[node] = x
	}
	return x
}

func (l *look) routerState(node string, revision uint64) RouterState {
	if l.service.Processed < revision {
		return RouterState{
			Node:   node,
			State:  Pending,
			Waits:  NotTried,
			Reason: cmp.Or(l.service.Reason, "the BIER service has not taken it in yet"),
		}
	}
	return l.knownRouterState(node, revision)
}

// latestState is the state of a router as to all that it must hold, with the channels that it refuses.
func (l *look) latestState(node string) RouterState {
	out := l.knownRouterState(node, math.MaxUint64)
	aside := l.routerRow(node).Aside
	if len(aside) > 0 && (out.State == Applied || out.State == Unverified) {
		var all []string
		for _, a := range aside {
			all = append(all, fmt.Sprintf("%s: %s", Several(a.Channels), a.Reason))
		}
		out.State, out.Reason = Failed, "it does not get channels that it must hold: "+strings.Join(all[:min(len(all), maxNamed)], "; ")
	}
	return out
}

func (l *look) knownRouterState(node string, revision uint64) RouterState {
	x := l.routerRow(node)
	if !x.known {
		return RouterState{Node: node, State: Applied}
	}
	out := x.Router(node, revision, x.session)
	if out.State == Applied && !l.silent.IsZero() {
		out.State, out.Since = Unverified, l.silent.UTC()
		out.Reason = "nothing was heard of the BIER service since " + formatReasonTime(l.silent) + lastConfirmed(x.Confirmed)
	}
	return out
}

// formatReasonTime is a time in a reason.
func formatReasonTime(t time.Time) string {
	return t.UTC().Format(time.RFC3339)
}

// lastConfirmed says in a reason how old it is what is known of a router.
func lastConfirmed(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return "; it was last confirmed at " + formatReasonTime(t)
}

// lackedAbilities are the abilities that a router is known not to have, of its model and of its own.
func lackedAbilities(x Status, session Session) []string {
	if x.Lacks == "" && session.Lacks == "" { // as most
		return nil
	}
	return strings.FieldsFunc(x.Lacks+","+session.Lacks, func(r rune) bool {
		return r == ','
	})
}

// Router is the state of a router as to what was configured up to a revision.
func (x Status) Router(node string, revision uint64, session Session) RouterState {
	return x.routerStateAt(node, revision, session, time.Now())
}

func (x Status) routerStateAt(
	node string,
	revision uint64,
	session Session,
	now time.Time,
) RouterState {
	out := RouterState{
		Node:         node,
		State:        x.State,
		Reason:       x.Reason,
		Driver:       x.Driver,
		Since:        x.Since,
		Intended:     x.Intended,
		Sent:         x.Sent,
		Confirmed:    x.Confirmed,
		Session:      session.State,
		SessionSince: session.Since,
		Lacks:        lackedAbilities(x, session),
	}
	if (x.State == Applied || x.State == Unverified) && x.Answered < min(x.Intent, revision) {
		out.State = Pending
	}
	if out.State == Pending {
		out.explainPending(x, revision, now)
	}
	if out.State == Unverified {
		out.Reason += lastConfirmed(x.Confirmed)
	}
	// A try that began after the session was lost and was confirmed says more than the loss.
	if session.Lost() &&
		(out.State == Unverified || out.State == Applied && !session.Since.Before(x.Sent)) {
		out.State, out.Since = Unverified, session.Since
		out.Reason = fmt.Sprintf(
			"the session is %s since %s",
			session.State,
			formatReasonTime(session.Since),
		)
		if session.Reason != "" {
			out.Reason += ": " + session.Reason
		}
		out.Reason += lastConfirmed(x.Confirmed)
	}
	return out
}

// explainPending says why the router is still pending; pending is never without a reason.
func (out *RouterState) explainPending(x Status, revision uint64, now time.Time) {
	said := out.Reason
	switch {
	case x.Answered >= min(x.Intent, revision): // it was tried in vain
		out.Waits = cmp.Or(x.Waits, NotTried)
		said = cmp.Or(said, "the change could not be made")
	case x.Sent.IsZero() || x.Sent.Before(x.Intended):
		out.Waits, said = NotTried, cmp.Or(said, "the change has not been tried at the router yet")
	case now.Sub(x.Sent) > slowAfter:
		out.Waits, said = Slow, fmt.Sprintf(
			"the router is slow: it has not confirmed the change that is under way since %s",
			formatReasonTime(x.Sent),
		)
	default:
		out.Waits, said = UnderWay, cmp.Or(
			said,
			"the change is under way; the router has not confirmed it yet",
		)
	}
	out.Reason = said
}
