package service

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// A trouble names each channel of its alarm and its topology as data, so that who may not read one of them does not see
// it. What names more channels than a trouble may concern names none.
func TestTroublesNameTheDataOfChannels(t *testing.T) {
	const router = "/network-topology:network-topology/topology=topology-netconf/node=r1"
	topology := func(id string) string { return "/bier-topology:bier-network-topology/bier-topology=" + id }
	channel := func(id, name string) string {
		return "/bier-channel:bier-network-channel/bier-channel=" + id + "/channel=" + name
	}
	carried := func(named int) bier.Alarm {
		a := bier.Alarm{Resource: "router r1", Text: "it is off; it carries"}
		for i := range 20 {
			key := bier.ChannelKey("flow:1", fmt.Sprintf("c%02d", 19-i))
			a.Channels = append(a.Channels, key)
			if 19-i < named {
				a.Text += " " + key
			}
		}
		return a
	}
	for name, x := range map[string]struct {
		alarm bier.Alarm
		want  []string
	}{
		"of a channel": {
			bier.Alarm{Resource: "channel flow:1 a,b", Text: "down"},
			[]string{channel("flow:1", "a%2Cb"), topology("flow:1")},
		},
		"of a router": {
			bier.Alarm{Resource: "router r1", Text: "off; it carries 2 channels: flow:1 tv, flow:2 tv", Channels: []string{"flow:1 tv", "flow:2 tv"}},
			[]string{router, channel("flow:1", "tv"), topology("flow:1"), channel("flow:2", "tv"), topology("flow:2")},
		},
		"those that are named come first": {carried(2), []string{channel("flow:1", "c00"), channel("flow:1", "c01")}},
	} {
		got := newTrouble(x.alarm)
		for _, w := range x.want {
			if !slices.Contains(got.Concerns, w) {
				t.Errorf("%s: %v, want %s", name, got.Concerns, w)
			}
		}
		if got.Cause != x.alarm.Text || len(got.Concerns) > maxConcerns {
			t.Errorf("%s: %s, %d paths", name, got.Cause, len(got.Concerns))
		}
	}
	if got := newTrouble(carried(20)); strings.Contains(got.Cause, "flow:1") || !strings.Contains(got.Cause, "20 channels") {
		t.Errorf("channels that the trouble does not concern are named: %s", got.Cause)
	}
}

// The list of troubles is emptied when the role is lost, and what the controller did not take is tried again.
func TestAlarmsInTheListOfTroubles(t *testing.T) {
	down := fault.New(fault.Unavailable, "the controller does not answer")
	none := fault.New(fault.Unsupported, "there is no list")
	one := []bier.Alarm{{Resource: "router r1", Type: bier.RouterFailed}}
	type turn struct {
		acts   bool
		err    error
		called int // with how many troubles, -1: not at all
		failed bool
	}
	for name, turns := range map[string][]turn{
		"another process reports":       {{false, nil, -1, false}},
		"the role is taken and lost":    {{true, nil, 1, false}, {false, nil, 0, false}, {false, nil, -1, false}},
		"emptying fails":                {{true, nil, 1, false}, {false, down, 0, true}, {false, down, 0, true}, {false, nil, 0, false}, {false, nil, -1, false}},
		"reporting fails":               {{true, down, 1, true}, {true, nil, 1, false}},
		"an answer is lost":             {{true, down, 1, true}, {false, nil, 0, false}},
		"the controller has no list":    {{true, none, 1, false}},
		"the role is lost and is taken": {{true, nil, 1, false}, {false, down, 0, true}, {true, nil, 1, false}},
	} {
		called := -1
		var err error
		l := troubleList{replace: func(_ context.Context, all []host.Trouble) error {
			called = len(all)
			return err
		}}
		for i, x := range turns {
			called, err = -1, x.err
			l.report(t.Context(), one, x.acts)
			if called != x.called || l.failed != x.failed {
				t.Errorf("%s: turn %d: called with %d, failed %v", name, i, called, l.failed)
			}
		}
	}
}

// Taking and losing the role make a new turn, and so does what is due, without anything that is reported.
func TestWhatWakesTheHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Service{look: make(chan struct{}, 1)}
		never := func() bool { return false }
		for _, a := range []*acting{{}, nil} {
			s.setActing(a)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if !s.waitChange(ctx, never) {
				t.Errorf("the role (%v) makes no turn", a != nil)
			}
			cancel()
		}
		if !s.waitChange(t.Context(), func() bool { return true }) {
			t.Error("what is due makes no turn")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if s.waitChange(ctx, never) {
			t.Error("a turn without a reason")
		}
	})
}
