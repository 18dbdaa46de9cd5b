// Package accounting records who logged in and who changed what. Logins go
// to the logger that the documentation names, silent by default; changes go to the audit
// stream, which is always on. Neither ever holds a secret, and no text of a
// client can forge a line.
package accounting

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"ctl.internal/host/internal/aaa/act"
	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/sdk/caller"
)

// The logger names.
const (
	LoginLogger = "org.ctl.aaa.sec.filters.AuthenticationListener"
	AuditLogger = "org.ctl.aaa.audit"
)

// Event is a login or a change, as listeners get it.
type Event struct {
	Time      time.Time
	Kind      string // "login" or "change"
	Action    string // of a change: "create user"
	Object    string // of a change: "bob@sdn"
	User      string // who logged in, or who changed it; empty for the controller itself
	Realm     string // of a login
	Address   string // host:port
	RequestID string
	OK        bool
	Reason    string // why a login failed; of a token, which claim gave which role
}

// listener receives events while it wants them.
type listener struct {
	hear   func(Event)
	wanted func() bool
}

// Recorder records events. It is safe for concurrent use.
type Recorder struct {
	logins *slog.Logger
	audit  slog.Handler
	now    func() time.Time

	listener atomic.Pointer[listener]

	// The attempts to log in that succeeded, failed, and were refused without a check.
	Accepted, Refused, Throttled atomic.Uint64
}

// New returns a recorder. Logins go to the logger that named returns for
// LoginLogger, at DEBUG; the audit to that of AuditLogger, whatever its level.
func New(named func(name string) *slog.Logger, now func() time.Time) *Recorder {
	return &Recorder{
		logins: named(LoginLogger),
		audit:  named(AuditLogger).Handler(),
		now:    now,
	}
}

// Listen has hear called with every event, in the order they happen, while wanted returns true. Every request is a
// login, so wanted must be cheap, and hear must not block.
func (r *Recorder) Listen(wanted func() bool, hear func(Event)) {
	r.listener.Store(&listener{hear, wanted})
}

// currentListener returns the current receiver of events, nil if there is no receiver.
func (r *Recorder) currentListener() func(Event) {
	if l := r.listener.Load(); l != nil && l.wanted() {
		return l.hear
	}
	return nil
}

// Login records an attempt to log in.
func (r *Recorder) Login(ctx context.Context, a authn.Attempt) {
	switch {
	case a.OK:
		r.Accepted.Add(1)
	case a.Throttled:
		r.Throttled.Add(1)
	default:
		r.Refused.Add(1)
	}
	logged := r.logins.Enabled(ctx, slog.LevelDebug)
	hear := r.currentListener()
	if !logged && hear == nil {
		return
	}
	c, _ := caller.From(ctx)
	e := Event{
		Time:      r.now(),
		Kind:      "login",
		User:      Clean(a.User),
		Realm:     a.Realm,
		Address:   a.Address.String(),
		RequestID: c.RequestID,
		OK:        a.OK,
		Reason:    Clean(a.Reason),
	}
	if logged {
		user, text := e.User, "Successful authentication attempt by "
		user = cmp.Or(user, "an unknown user")
		if !a.OK {
			text = "Unsuccessful authentication attempt by "
		}
		r.logins.LogAttrs(ctx, slog.LevelDebug, text+user+" from "+e.Address, slog.String("user", e.User),
			slog.String("address", e.Address), slog.String("realm", e.Realm), slog.String("request", e.RequestID), slog.String("reason", e.Reason))
	}
	if hear != nil {
		hear(e)
	}
}

// Change records a committed change of an identity, policy or certificate. Who
// made it is the caller of ctx.
func (r *Recorder) Change(ctx context.Context, action, object string) {
	c, _ := caller.From(ctx)
	e := Event{
		Time:      r.now(),
		Kind:      "change",
		Action:    action,
		Object:    Clean(object),
		Address:   c.Address,
		RequestID: c.RequestID,
		OK:        true,
	}
	if c.User != "" {
		e.User = Clean(c.User + "@" + c.Domain)
	}
	act.Of(ctx).Changed(action, e.Object)
	rec := slog.NewRecord(e.Time, slog.LevelInfo, "audit: "+action, 0)
	rec.AddAttrs(slog.String("object", e.Object), slog.String("user", e.User),
		slog.String("address", e.Address), slog.String("request", e.RequestID))
	// Past the level check: the audit cannot be switched off by log:set.
	_ = r.audit.Handle(ctx, rec)
	if hear := r.currentListener(); hear != nil {
		hear(e)
	}
}

// Clean makes a client's text safe for a line of a log: control characters and
// line separators become spaces, and it is cut at 256 bytes.
func Clean(s string) string {
	if len(s) > 256 {
		s = s[:256] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
