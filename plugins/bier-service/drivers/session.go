package drivers

import (
	"strings"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
)

// NewSession is what is kept of a driver's report.
func NewSession(s *bierdriver.Session) *bier.Session {
	since := time.Now()
	if s.Since != nil {
		since = s.Since.AsTime()
	}
	return &bier.Session{State: strings.ToLower(strings.TrimPrefix(s.State.String(), "STATE_")), Reason: s.Reason, Dialect: s.Dialect,
		Since: since.UTC().Truncate(time.Millisecond), Lacks: strings.Join(s.Lacks, ",")}
}
