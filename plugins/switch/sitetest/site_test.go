package sitetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/switchdriver"
)

// seeds are how many sites are made.
const seeds = 40

// Sites of 200 switches: what is found is there, and nearly all that is there is found; no link is wrong that forwarding
// tables show, and nine of ten links of switches without LLDP are found. That share is of all sites, because one site has
// only about 25 such links.
func TestLinksOfSites(t *testing.T) {
	allMute, allMuteFound := 0, 0
	for seed := uint64(1); seed <= seeds; seed++ {
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
			allMute += mute
			allMuteFound += muteFound
		})
	}
	if allMute == 0 || float64(allMuteFound) < 0.9*float64(allMute) {
		t.Errorf("%d of %d links of switches without LLDP", allMuteFound, allMute)
	}
}

// A discovery asks for the evidence by itself, as some switches report nothing, and finds the same links.
func TestDiscoveryOfSite(t *testing.T) {
	s := New(1, 200, 400)
	inventory := switchlist.New(nil)
	var entries []switchlist.Entry
	observed := map[mib.MAC]*discovery.Observation{}
	for _, o := range s.Observations {
		entries = append(entries, switchlist.Entry{MAC: o.Node, Address: o.Address, Port: 161})
		observed[o.Node] = o
	}
	inventory.Set("site", entries, nil)
	most := 0
	v := discovery.New(discovery.Options{Inventory: inventory,
		Observe: func(_ context.Context, sw *switchdriver.Switch) (*discovery.Observation, error) {
			o := *observed[mib.MAC(sw.NodeId)]
			o.Evidence, o.Stale = nil, false
			if observed[o.Node].Stale {
				return &o, errors.New("no answer")
			}
			return &o, nil
		},
		Infer: func(_ context.Context, sw *switchdriver.Switch, _ *discovery.Observation, want map[mib.MAC]bool) (*discovery.Evidence, error) {
			e := s.Answered[mib.MAC(sw.NodeId)]
			if len(want) < len(entries)-10 {
				return nil, fmt.Errorf("%d addresses are wanted", len(want))
			}
			e.Seen, e.Others = maps.Clone(e.Seen), maps.Clone(e.Others)
			return &e, nil
		}})
	t.Cleanup(v.Close)
	sum, err := v.Discover(t.Context(), discovery.All, func(_, total int) { most = max(most, total) })
	if err != nil {
		t.Fatal(err)
	}
	want, got := s.Found(discovery.Build(s.Observations, time.Unix(2000, 0))), s.Found(v.Network())
	if d := cmp.Diff(want, got); d != "" {
		t.Error("links (-want +got):\n" + d)
	}
	if most <= len(entries) || sum.Links == 0 {
		t.Errorf("progress up to %d of %d switches, %d links", most, len(entries), sum.Links)
	}
	for _, o := range v.Known().Observed {
		if o.Evidence != nil && (o.Evidence.Others != nil || o.Evidence.ARP != nil) {
			t.Fatalf("%s keeps all that it answered", o.Node)
		}
	}
}

// Switches that have never answered, with others below them: no link passes one by.
func TestSilentSwitches(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		s := New(seed, 200, 400)
		silent := s.WithoutAnswer(10)
		inventory := switchlist.New(nil)
		var entries []switchlist.Entry
		observed := map[mib.MAC]*discovery.Observation{}
		for _, o := range s.Observations {
			entries = append(entries, switchlist.Entry{MAC: o.Node, Address: o.Address, Port: 161})
			observed[o.Node] = o
		}
		inventory.Set("site", entries, nil)
		v := discovery.New(discovery.Options{Inventory: inventory,
			Observe: func(_ context.Context, sw *switchdriver.Switch) (*discovery.Observation, error) {
				o := *observed[mib.MAC(sw.NodeId)]
				o.Evidence, o.Stale = nil, false
				if silent[o.Node] {
					return nil, errors.New("no answer")
				}
				return &o, nil
			},
			Infer: func(_ context.Context, sw *switchdriver.Switch, _ *discovery.Observation, _ map[mib.MAC]bool) (*discovery.Evidence, error) {
				e := s.Answered[mib.MAC(sw.NodeId)]
				e.Seen, e.Others = maps.Clone(e.Seen), maps.Clone(e.Others)
				for port, macs := range e.Seen {
					e.Seen[port] = slices.Clone(macs)
				}
				return &e, nil
			}})
		t.Cleanup(v.Close)
		if _, err := v.Discover(t.Context(), discovery.All, nil); err != nil {
			t.Fatal(err)
		}
		right := map[Link]bool{}
		for _, l := range s.Links {
			right[Link{l.A, l.B, false}] = true
		}
		for l, source := range s.Found(v.Network()) {
			if !right[l] && (source == discovery.FDB || source == discovery.STP) {
				t.Errorf("seed %d: wrong: %s - %s by %s", seed, l.A, l.B, source)
			}
		}
	}
}
