package service

import (
	"testing"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk"
)

// A turn of the proof ends within the interval after the end of the one before, also if it is asked twice in it; what
// is read is believed by the interval that is kept.
func TestTurnsOfTheProofKeepTheirInterval(t *testing.T) {
	const interval = 20 * time.Second // a fault must last 5 s
	began := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for name, x := range map[string]struct {
		late, took  time.Duration
		next, every time.Duration // next after the end of the turn
	}{
		"a short turn":      {0, time.Second, 14 * time.Second, 21 * time.Second},
		"a long turn":       {0, 4 * time.Second, 11 * time.Second, 24 * time.Second},
		"a very long turn":  {0, time.Minute, 10 * time.Second, 80 * time.Second},
		"a turn that waits": {30 * time.Second, time.Second, 14 * time.Second, 51 * time.Second},
	} {
		p := newProver(&acting{Service: &Service{
			set:     settings{Proof: sdk.Duration{Duration: interval}, ProofBudget: 1},
			proving: make(chan struct{}, 1),
		}})
		p.plans["r1"] = &turnPlan{due: began.Add(-x.late)}
		if got := p.ready(began); len(got) != 1 {
			t.Fatalf("%s: ready are %v", name, got)
		}
		end := began.Add(x.took)
		if got := p.every("r1", end); got != x.every {
			t.Errorf("%s: the interval kept is %s, want %s", name, got, x.every)
		}
		p.done("r1", end)
		if got := p.plans["r1"].due.Sub(end); got != x.next {
			t.Errorf("%s: the next turn is after %s, want %s", name, got, x.next)
		}
	}
}

// A change while a router has its turn gives it another one soon: the turn may have asked before the change.
func TestAChangeInATurnIsAskedForSoon(t *testing.T) {
	due := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	x := &turnPlan{due: due, about: "before", running: true}
	x.hasten("after", due.Add(time.Second))
	x.running, x.due = false, due.Add(time.Minute)
	x.hasten("after", due.Add(5*time.Second))
	if !x.due.Equal(due.Add(5 * time.Second)) {
		t.Errorf("the next turn is at %v", x.due)
	}
	x.due = due.Add(time.Minute)
	x.hasten("after", due.Add(6*time.Second))
	if !x.due.Equal(due.Add(time.Minute)) {
		t.Errorf("without a change the next turn is at %v", x.due)
	}
}

// An egress node that does not answer pings is known since when: packets that were counted later say more.
func TestSinceWhenPingsFail(t *testing.T) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	ping := func(node string, received uint32, failing time.Time) *pingTarget {
		return &pingTarget{Pinged: bier.Pinged{
			Node:     node,
			At:       at,
			Sent:     3,
			Received: received,
			Failing:  failing,
		}}
	}
	before := []bier.Pinged{ping("r2", 0, at.Add(-time.Minute)).Pinged, ping("r3", 3, time.Time{}).Pinged}
	for name, x := range map[string]struct {
		target *pingTarget
		want   time.Time
	}{
		"it answers":        {ping("r2", 3, time.Time{}), time.Time{}},
		"it failed before":  {ping("r2", 1, time.Time{}), at.Add(-time.Minute)},
		"it fails now":      {ping("r3", 0, time.Time{}), at},
		"it was not pinged": {ping("r4", 0, time.Time{}), at},
	} {
		x.target.noteLoss(before)
		if got := x.target.Failing; !got.Equal(x.want) {
			t.Errorf("%s: it fails since %v, want %v", name, got, x.want)
		}
	}
}
