package service

import (
	"time"

	"ctl.internal/sdk/fault"
)

// Settings are those of etc/bier-service.yaml.
type Settings struct {
	ApplyTimeout string `json:"apply_timeout"`
	Parallel     int    `json:"parallel"`
	RetryMin     string `json:"retry_min"`
	RetryMax     string `json:"retry_max"`
	Audit        string `json:"audit"`
	Drift        string `json:"drift"`
}

// times are the settings that are times.
type times struct{ apply, retryMin, retryMax, audit time.Duration }

func (s *Settings) times() (times, error) {
	var t times
	var l fault.List
	for _, x := range []struct {
		name, text string
		least      time.Duration
		to         *time.Duration
	}{{"apply_timeout", s.ApplyTimeout, time.Millisecond, &t.apply}, {"retry_min", s.RetryMin, time.Millisecond, &t.retryMin},
		{"retry_max", s.RetryMax, time.Millisecond, &t.retryMax}, {"audit", s.Audit, 0, &t.audit}} {
		d, err := time.ParseDuration(x.text)
		if err != nil || d < x.least || d > 24*time.Hour {
			l = append(l, fault.At(fault.Invalid, x.name, "%q is not a time between %s and 24h", x.text, x.least))
		}
		*x.to = d
	}
	t.retryMax = max(t.retryMax, t.retryMin)
	return t, l.Err()
}
