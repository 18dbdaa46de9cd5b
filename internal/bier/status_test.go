package bier_test

import (
	"testing"
	"time"

	"ctl.internal/internal/bier"
)

// A state answers for what was configured up to a revision, and pending has a reason.
func TestStateOfARouter(t *testing.T) {
	for name, x := range map[string]struct {
		s        bier.Status
		revision uint64
		want     string
	}{
		"tried":                        {bier.Status{State: bier.Applied, Intent: 5, Answered: 5}, 9, bier.Applied},
		"a newer change is on its way": {bier.Status{State: bier.Applied, Intent: 8, Answered: 5}, 9, bier.Pending},
		"what is asked for is older":   {bier.Status{State: bier.Applied, Intent: 8, Answered: 5}, 5, bier.Applied},
		"not tried":                    {bier.Status{State: bier.Pending, Intent: 5}, 9, bier.Pending},
		"compared in vain":             {bier.Status{State: bier.Unverified, Intent: 5, Answered: 5, Reason: "no route"}, 9, bier.Unverified},
		"and a newer change":           {bier.Status{State: bier.Unverified, Intent: 8, Answered: 5, Reason: "no route"}, 9, bier.Pending},
		"refused":                      {bier.Status{State: bier.Failed, Intent: 5, Answered: 5, Reason: "no"}, 9, bier.Failed},
	} {
		got := x.s.Router("r", x.revision, bier.Session{})
		if got.State != x.want || got.State != bier.Applied && got.Reason == "" {
			t.Errorf("%s: %+v, want %s", name, got, x.want)
		}
	}
}

// Whatever is known of a router, a state other than applied has a reason, and a router whose
// session was lost after the last try is not applied.
func TestStatesHaveReasons(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	for _, state := range []string{bier.Applied, bier.Unverified, bier.Pending, bier.Failed} {
		for _, session := range []string{"", "connecting", bier.SessionUp, bier.SessionDown, bier.SessionRefused} {
			for answered := range uint64(3) {
				for sent := range 3 {
					for since := range 3 {
						x := bier.Status{State: state, Intent: 1, Answered: answered, Intended: at(1), Sent: at(sent)}
						if state == bier.Failed || state == bier.Unverified {
							x.Reason = "refused" // by the engine, always
						}
						got := x.Router("r", 9, bier.Session{State: session, Since: at(since)})
						lost := session == bier.SessionDown || session == bier.SessionRefused
						if got.State != bier.Applied && got.Reason == "" || got.State == bier.Applied && (lost && since >= sent || answered < 1) {
							t.Errorf("%+v, session %s since %d: %s %q", x, session, since, got.State, got.Reason)
						}
					}
				}
			}
		}
	}
}
