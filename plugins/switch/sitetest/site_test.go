package sitetest

import (
	"fmt"
	"testing"
	"time"

	"ctl.internal/plugins/switch/discovery"
)

// Sites of 200 switches: what is found is there, and nearly all that is there is found; no link is wrong that forwarding
// tables tell, and switches without LLDP are placed.
func TestLinksOfSites(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := New(seed, 200, 400)
			n := discovery.Build(s.Observations, time.Unix(2000, 0))
			found := s.Found(n)
			right, mute, muteFound, inferred := 0, 0, 0, 0
			for _, l := range s.Links {
				_, ok := found[Link{l.A, l.B, false}]
				if ok {
					right++
				} else {
					t.Logf("not found: %+v", l)
				}
				if l.Mute {
					mute++
					if ok {
						muteFound++
					}
				}
				delete(found, Link{l.A, l.B, false})
			}
			for l, source := range found {
				t.Logf("wrong: %s - %s by %s", l.A, l.B, source)
				if source == discovery.FDB || source == discovery.STP {
					inferred++
				}
			}
			precision, recall := float64(right)/float64(right+len(found)), float64(right)/float64(len(s.Links))
			t.Logf("%d links, %d found, %d wrong: precision %.3f, recall %.3f; without LLDP %d of %d; %d not placed", len(s.Links), right, len(found), precision, recall,
				muteFound, mute, len(n.Unresolved))
			if precision < 0.99 || recall < 0.97 {
				t.Errorf("precision %.3f, recall %.3f", precision, recall)
			}
			if inferred > 0 {
				t.Errorf("%d inferred links are wrong", inferred)
			}
			if mute == 0 || float64(muteFound) < 0.9*float64(mute) {
				t.Errorf("%d of %d links of switches without LLDP", muteFound, mute)
			}
		})
	}
}
