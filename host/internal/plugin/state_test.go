package plugin

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var testPolicy = Policy{FirstDelay: time.Second, MaxDelay: 5 * time.Second, StableAfter: time.Minute, UnhealthyAfter: 30 * time.Second}

func words(actions []any) string {
	var out []string
	for _, a := range actions {
		switch a := a.(type) {
		case doStart:
			out = append(out, "start")
		case doStop:
			out = append(out, strings.TrimSpace("stop "+a.reason))
		case doTimer:
			out = append(out, fmt.Sprintf("%s in %s", [...]string{"restart", "stable", "unhealthy"}[a.kind], a.after))
		}
	}
	return strings.Join(out, ", ")
}

// timerNow is a timer of the current epoch that goes off.
type timerNow timerKind

// timerOld is one that was armed in an earlier state.
type timerOld timerKind

func TestMachine(t *testing.T) {
	type step struct {
		ev   any
		want State
		do   string
	}
	crash := evExited{"exit status 2"}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"start and stop", []step{
			{evStart{}, Starting, "start"},
			{evStart{}, Starting, ""},
			{evStarted{}, Ready, "stable in 1m0s"},
			{evStop{}, Stopping, "stop"},
			{evExited{}, Stopped, ""},
			{evStop{}, Stopped, ""},
		}},
		{"the first restart is immediate, later ones slow down to a cap, only what cannot heal gives up", []step{
			{evStart{}, Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{crash, Backoff, "restart in 0s"},
			{timerNow(timerRestart), Starting, "start"},
			{evStartFailed{reason: "no handshake"}, Backoff, "restart in 1s"},
			{timerNow(timerRestart), Starting, "start"},
			{evStartFailed{reason: "no handshake"}, Backoff, "restart in 2s"},
			{timerNow(timerRestart), Starting, "start"},
			{evStartFailed{reason: "no handshake"}, Backoff, "restart in 4s"},
			{timerNow(timerRestart), Starting, "start"},
			{evStartFailed{reason: "no handshake"}, Backoff, "restart in 5s"},
			{timerNow(timerRestart), Starting, "start"},
			{evStartFailed{reason: "no handshake"}, Backoff, "restart in 5s"},
			{timerNow(timerRestart), Starting, "start"},
			{evStartFailed{reason: "another contract", permanent: true}, Failed, ""},
			{timerOld(timerRestart), Failed, ""},
		}},
		{"failures are forgotten after a stable time", []step{
			{evStart{}, Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{crash, Backoff, "restart in 0s"},
			{timerNow(timerRestart), Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{timerNow(timerStable), Ready, ""},
			{crash, Backoff, "restart in 0s"},
		}},
		{"a stable timer of an earlier life does not count", []step{
			{evStart{}, Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{crash, Backoff, "restart in 0s"},
			{timerNow(timerRestart), Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{timerOld(timerStable), Ready, ""},
			{crash, Backoff, "restart in 1s"},
		}},
		{"a manual start clears failed", []step{
			{evStart{}, Starting, "start"},
			{evStartFailed{reason: "bad settings", permanent: true}, Failed, ""},
			{evStart{}, Starting, "start"},
			{evStartFailed{reason: "x"}, Backoff, "restart in 0s"},
		}},
		{"stop while it starts", []step{
			{evStart{}, Starting, "start"},
			{evStop{}, Stopping, "stop"},
			{evStartFailed{reason: "given up"}, Stopped, ""},
		}},
		{"stop while it starts, but the start won", []step{
			{evStart{}, Starting, "start"},
			{evStop{}, Stopping, "stop"},
			{evStarted{}, Stopping, "stop"},
			{evExited{}, Stopped, ""},
		}},
		{"stop during the pause", []step{
			{evStart{}, Starting, "start"},
			{evStartFailed{reason: "x"}, Backoff, "restart in 0s"},
			{evStop{}, Stopped, ""},
			{timerOld(timerRestart), Stopped, ""},
		}},
		{"restart", []step{
			{evStart{}, Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{evRestart{}, Stopping, "stop"},
			{evExited{}, Starting, "start"},
		}},
		{"stop overrules restart", []step{
			{evStart{}, Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{evRestart{}, Stopping, "stop"},
			{evStop{}, Stopping, ""},
			{evExited{}, Stopped, ""},
		}},
		{"reload keeps the old one when the new one fails", []step{
			{evStart{}, Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{evReload{}, Ready, "start"},
			{evReload{}, Ready, ""},
			{evStartFailed{reason: "bad"}, Ready, ""},
			{evReload{}, Ready, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
		}},
		{"the old one dies while the new one starts: one start is enough", []step{
			{evStart{}, Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{evReload{}, Ready, "start"},
			{crash, Starting, ""},
			{evStarted{}, Ready, "stable in 1m0s"},
		}},
		{"the old one dies and the new one fails", []step{
			{evStart{}, Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{evReload{}, Ready, "start"},
			{crash, Starting, ""},
			{evStartFailed{reason: "x"}, Backoff, "restart in 0s"},
		}},
		{"reload of a failed plugin is a start", []step{
			{evStart{}, Starting, "start"},
			{evStartFailed{permanent: true}, Failed, ""},
			{evReload{}, Starting, "start"},
		}},
		{"stop while a successor starts", []step{
			{evStart{}, Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{evReload{}, Ready, "start"},
			{evStop{}, Stopping, "stop"},
			{evExited{}, Stopped, ""},
			{evStarted{}, Stopped, "stop"},
			{evExited{}, Stopped, ""},
		}},
		{"news of an older start are void", []step{
			{evStart{}, Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{evReload{}, Ready, "start"},
			{evStop{}, Stopping, "stop"},
			{evExited{}, Stopped, ""},
			{evStart{}, Starting, "start"},
			{evStartFailed{attempt: -1, reason: "given up"}, Starting, ""},
			{evStarted{attempt: -1}, Starting, ""},
			{evStarted{}, Ready, "stable in 1m0s"},
		}},
		{"health", []step{
			{evStart{}, Starting, "start"},
			{evStarted{}, Ready, "stable in 1m0s"},
			{evHealth{degraded: true, reason: "port 162 is taken"}, Degraded, ""},
			{evHealth{}, Ready, ""},
			{evHealth{failed: true, reason: "no database"}, Degraded, "unhealthy in 30s"},
			{evHealth{failed: true, reason: "no database"}, Degraded, ""},
			{evHealth{}, Ready, ""},
			{timerNow(timerUnhealthy), Ready, ""},
			{evHealth{failed: true, reason: "no disk"}, Degraded, "unhealthy in 30s"},
			{timerNow(timerUnhealthy), Degraded, "stop called itself failed for too long: no disk"},
			{evExited{"called itself failed"}, Backoff, "restart in 0s"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &machine{policy: testPolicy}
			now := time.Unix(0, 0)
			for i, s := range c.steps {
				ev := s.ev
				switch k := ev.(type) {
				case timerNow:
					ev = evTimer{m.epoch, timerKind(k)}
				case timerOld:
					ev = evTimer{m.epoch - 1, timerKind(k)}
				case evStarted:
					ev = evStarted{m.attempt + k.attempt}
				case evStartFailed:
					k.attempt += m.attempt
					ev = k
				}
				got := words(m.step(ev, now, 0.5))
				if m.state != s.want || got != s.do {
					t.Fatalf("step %d, %T: state %v, do %q; want %v, %q", i, s.ev, m.state, got, s.want, s.do)
				}
			}
		})
	}
}

func TestAProcessThatDiesAtOnceIsStartedForEver(t *testing.T) {
	p := testPolicy
	m := &machine{policy: p}
	now := time.Unix(0, 0)
	// A process that dies at once is started again at the longest pause, for ever.
	m.step(evStart{}, now, 0.5)
	for range 1000 {
		m.step(evStarted{m.attempt}, now, 0.5)
		m.step(evExited{"exit status 2"}, now, 0.5)
		if m.state != Backoff || m.next.Sub(now) > p.MaxDelay {
			t.Fatalf("%v, pause %v", m.state, m.next.Sub(now))
		}
		m.step(evTimer{m.epoch, timerRestart}, now, 0.5)
	}
	m.step(evStop{}, now, 0.5)
	m.step(evStartFailed{m.attempt, "", false}, now, 0.5)
	// A reload that somebody asked for forgives everything.
	m.step(evStart{}, now, 0.5)
	m.step(evStarted{m.attempt}, now, 0.5)
	m.step(evExited{"x"}, now, 0.5)
	m.step(evTimer{m.epoch, timerRestart}, now, 0.5)
	m.step(evStarted{m.attempt}, now, 0.5)
	m.step(evReload{}, now, 0.5)
	m.step(evStarted{m.attempt}, now, 0.5)
	if m.failures != 0 {
		t.Errorf("%d failures after a reload", m.failures)
	}
}

func TestDelayStaysWithinItsJitter(t *testing.T) {
	p := DefaultPolicy
	for n := 2; n < 40; n++ {
		lo, hi := p.backoffDelay(n, 0), p.backoffDelay(n, 1)
		if lo <= 0 || hi < lo || hi > p.MaxDelay*12/10 {
			t.Errorf("after %d failures between %v and %v", n, lo, hi)
		}
	}
}
