package bier

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
)

// Prefixes of the records that the BIER service exports: of routers (RouterKey) and of the
// service itself (ServiceKey), of sessions by node-id, and of what routers reported.
const (
	StatusPrefix  = "status/"
	SessionPrefix = "session/"
	NoticePrefix  = "notice/"
	ServiceKey    = "service"
)

// RouterKey is the key of a router's record.
func RouterKey(node string) string { return "router/" + node }

// RouterState says whether a router holds what it must hold.
type RouterState struct {
	Node string `json:"node-id"`
	// Role is what the router is for a channel, where that is what is asked for.
	Role   string `json:"role,omitempty"`
	State  string `json:"state"` // Applied, Unverified, Pending, Failed; of an egress node also Unreachable
	Reason string `json:"reason,omitempty"`
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
	Lacks        []string  `json:"-"` // Abilities that it is known not to have
}

// States of a router, and of an egress node of a channel, from good to bad.
const (
	Applied = "applied"
	// Unverified: it was applied, but the session was lost since, or a comparison did not succeed.
	Unverified = "unverified"
	Pending    = "pending"
	// Unreachable, of egress nodes only: the router holds all that it must, but packets do
	// not come to it.
	Unreachable = "unreachable"
	Failed      = "failed"
)

// States lists the states, from good to bad.
var States = []string{Applied, Unverified, Pending, Unreachable, Failed}

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
func (s Session) Lost() bool { return s.State == SessionDown || s.State == SessionRefused }

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
	State    string `json:"state,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Driver   string `json:"driver,omitempty"`
	Hash     string `json:"hash,omitempty"` // of what the router must hold
	// Lacks are the Abilities that the router's model is known not to have, by commas.
	Lacks     string    `json:"lacks,omitempty"`
	Since     time.Time `json:"since,omitzero"` // of State
	Intended  time.Time `json:"intended,omitzero"`
	Sent      time.Time `json:"sent,omitzero"`
	Confirmed time.Time `json:"confirmed,omitzero"`
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
}

// NewRouters returns what the plugin bier-service exports.
func NewRouters() Routers {
	return RoutersAt(func(prefix string) host.Prefix { return state.Shared("bier-service", prefix) })
}

// RoutersAt is NewRouters with the place of a prefix; the plugin bier-service itself has state.Private.
func RoutersAt(at func(string) host.Prefix) Routers {
	return Routers{state.NewTable[Status](at(StatusPrefix)), state.NewTable[Session](at(SessionPrefix)), state.NewTable[Notice](at(NoticePrefix))}
}

// Views are what state.Open takes.
func (s Routers) Views() []state.View { return []state.View{s.Table, s.Sessions, s.Notices} }

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
	return s.look(r).state(node, revision)
}

// Latest is the state of a router as to all that is configured.
func (s Routers) Latest(r state.Reader, node string) RouterState { return s.look(r).latest(node) }

// look is what is known of routers in one snapshot. Each record is read once, though many
// channels lead to the same router.
type look struct {
	Routers
	r       state.Reader
	service Status
	notices []Notice
	rows    map[string]*row
}

type row struct {
	Status
	session Session
	known   bool // else nothing must be done at the router
}

func (s Routers) look(r state.Reader) *look {
	l := &look{Routers: s, r: r, rows: map[string]*row{}, notices: slices.Collect(values(s.Notices.All(r, "")))}
	l.service, _ = s.Get(r, ServiceKey)
	return l
}

func (l *look) row(node string) *row {
	x := l.rows[node]
	if x == nil {
		x = &row{}
		x.Status, x.known = l.Get(l.r, RouterKey(node))
		x.session, _ = l.Sessions.Get(l.r, node)
		l.rows[node] = x
	}
	return x
}

func (l *look) state(node string, revision uint64) RouterState {
	if l.service.Processed < revision {
		return RouterState{Node: node, State: Pending, Reason: cmp.Or(l.service.Reason, "the BIER service has not taken it in yet")}
	}
	return l.router(node, revision)
}

func (l *look) latest(node string) RouterState { return l.router(node, math.MaxUint64) }

func (l *look) router(node string, revision uint64) RouterState {
	x := l.row(node)
	if !x.known {
		return RouterState{Node: node, State: Applied}
	}
	return x.Router(node, revision, x.session)
}

// lacks are the abilities that a router is known not to have, of its model and of its own.
func lacks(x Status, session Session) []string {
	if x.Lacks == "" && session.Lacks == "" { // as most
		return nil
	}
	return strings.FieldsFunc(x.Lacks+","+session.Lacks, func(r rune) bool { return r == ',' })
}

// Router is the state of a router as to what was configured up to a revision.
func (x Status) Router(node string, revision uint64, session Session) RouterState {
	out := RouterState{Node: node, State: x.State, Reason: x.Reason, Driver: x.Driver, Since: x.Since, Intended: x.Intended, Sent: x.Sent,
		Confirmed: x.Confirmed, Session: session.State, SessionSince: session.Since, Lacks: lacks(x, session)}
	if (x.State == Applied || x.State == Unverified) && x.Answered < min(x.Intent, revision) {
		out.State = Pending
	}
	if out.State == Pending && out.Reason == "" { // pending is never without a reason
		out.Reason = "the change has not been tried at the router yet"
		if !x.Sent.IsZero() && !x.Sent.Before(x.Intended) {
			out.Reason = "the change is under way; the router has not confirmed it yet"
		}
	}
	// A try that began after the session was lost and was confirmed says more than the loss.
	if session.Lost() && (out.State == Unverified || out.State == Applied && !session.Since.Before(x.Sent)) {
		out.State, out.Since = Unverified, session.Since
		out.Reason = fmt.Sprintf("the session is %s since %s", session.State, session.Since.UTC().Format(time.RFC3339))
		if session.Reason != "" {
			out.Reason += ": " + session.Reason
		}
	}
	return out
}
