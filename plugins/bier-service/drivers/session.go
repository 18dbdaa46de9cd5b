package drivers

import (
	"strings"
	"time"

	"ctl.internal/sdk/bierdriver"
)

// Session is the session to a router as its driver reported it last.
type Session struct {
	State   string    `json:"state"`
	Reason  string    `json:"reason,omitempty"`
	Dialect string    `json:"dialect,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// NewSession is what is kept of a driver's report.
func NewSession(s *bierdriver.Session) *Session {
	return &Session{State: strings.ToLower(strings.TrimPrefix(s.State.String(), "STATE_")), Reason: s.Reason, Dialect: s.Dialect, Since: s.GetSince().AsTime().UTC()}
}

// Same reports whether nothing but the time is different.
func (s Session) Same(o Session) bool {
	return s.State == o.State && s.Reason == o.Reason && s.Dialect == o.Dialect
}
