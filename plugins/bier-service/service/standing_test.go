package service

import (
	"context"
	"strings"
	"testing"

	"ctl.internal/sdk/commands"
)

// bier:echo-stop ends the requests of one topology: that of the option, or the only one that has requests of the channel.
func TestStopStandingOfOneTopology(t *testing.T) {
	for name, x := range map[string]struct {
		channel, topology string
		fails             bool
		left              string
	}{
		"several have it":   {"tv", "", true, "a tv, b radio, b tv"},
		"one is chosen":     {"tv", "b", false, "a tv, b radio"},
		"only one has it":   {"radio", "", false, "a tv, b tv"},
		"another is chosen": {"radio", "a", true, "a tv, b radio, b tv"},
		"none has it":       {"news", "", true, "a tv, b radio, b tv"},
	} {
		s := &Service{standing: newStanding()}
		for _, e := range []echoRequest{{topology: "a", channel: "tv"}, {topology: "b", channel: "tv"}, {topology: "b", channel: "radio"}} {
			_, cancel := context.WithCancel(t.Context())
			s.standing.all[e.key()] = &standingEcho{echoRequest: e, cancel: cancel}
		}
		err := s.stopStanding(t.Context(), &commands.Invocation{
			Args:    map[string][]string{"channel": {x.channel}},
			Options: map[string]string{"topology": x.topology},
		})
		if (err != nil) != x.fails {
			t.Errorf("%s: %v", name, err)
		}
		var left []string
		for _, e := range s.standing.list() {
			left = append(left, e.topology+" "+e.channel)
		}
		if got := strings.Join(left, ", "); got != x.left {
			t.Errorf("%s: left are %s, want %s", name, got, x.left)
		}
	}
}
