package bier_test

import (
	"testing"

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
		"refused":                      {bier.Status{State: bier.Failed, Intent: 5, Answered: 5, Reason: "no"}, 9, bier.Failed},
	} {
		got := x.s.Router("r", x.revision)
		if got.State != x.want || got.State != bier.Applied && got.Reason == "" {
			t.Errorf("%s: %+v, want %s", name, got, x.want)
		}
	}
}
