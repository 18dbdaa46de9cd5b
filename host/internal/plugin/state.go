package plugin

import (
	"math"
	"time"
)

// State is the state of a plugin.
type State int

// The states. A Ready or Degraded plugin serves. A plugin in Backoff is started
// again by itself, however often; a Failed one, for which a restart does not help, or a Stopped one waits for an
// operator. A Standby one
// runs on another node, and calls to it go there.
const (
	Stopped State = iota
	Starting
	Ready
	Degraded
	Backoff
	Failed
	Stopping
	Standby
)

var stateNames = [...]string{"stopped", "starting", "ready", "degraded", "backoff", "failed", "stopping", "standby"}

// String returns the state's name in lower case.
func (s State) String() string { return stateNames[s] }

// MarshalText implements encoding.TextMarshaler.
func (s State) MarshalText() ([]byte, error) {
	return []byte(s.String()), nil
}

// Serving reports whether calls reach the plugin.
func (s State) Serving() bool {
	return s == Ready || s == Degraded
}

// Policy says how often and how fast a plugin that ends by itself is started again.
type Policy struct {
	// FirstDelay is the pause before the second restart in a row; the first restart
	// is immediate. Each further pause is twice as long, up to MaxDelay.
	FirstDelay time.Duration
	MaxDelay   time.Duration
	Jitter     float64 // share of a pause by which it varies, 0..1
	// StableAfter is how long a plugin must serve for its failures to be forgotten.
	StableAfter time.Duration
	// UnhealthyAfter is how long a plugin may call itself failed before it is restarted.
	UnhealthyAfter time.Duration
}

// DefaultPolicy suits plugins that start within a second.
var DefaultPolicy = Policy{
	FirstDelay:     500 * time.Millisecond,
	MaxDelay:       30 * time.Second,
	Jitter:         0.2,
	StableAfter:    30 * time.Second,
	UnhealthyAfter: 30 * time.Second,
}

// machine decides what to do. It does nothing itself: step takes what happened and
// answers what to do next.
type machine struct {
	policy    Policy
	state     State
	since     time.Time // of the state
	reason    string    // why it is not Ready
	lastError string    // of the newest failure, kept after recovery
	failures  int       // in a row, begun ones included
	restarts  int       // by ourselves, ever
	next      time.Time // end of the pause, in Backoff
	epoch     int       // timers of an older epoch are void
	attempt   int       // starts ordered so far; news of an older one are void
	reloading bool      // a second process is being started beside the serving one
	again     bool      // Stopping: start again when stopped
	unhealthy bool      // the plugin calls itself failed
}

// Things that happen.
type (
	evStart       struct{} // an operator or feature starts it
	evStop        struct{} // an operator or feature stops it
	evRestart     struct{}
	evReload      struct{}
	evStarted     struct{ attempt int } // a process was started, described and configured
	evStartFailed struct {
		attempt   int
		reason    string
		permanent bool // a retry cannot help
	}
	evStandby struct{ attempt int }   // another node has the role of the plugin
	evGranted struct{}                // this node has got it
	evLost    struct{ reason string } // this node lost it; a reason = the process may not stop in an orderly way
	evExited  struct{ reason string } // the serving process has ended
	// the plugin takes more than it may, which only an operator can mend
	evExceeded struct{ reason string }
	evHealth   struct {
		failed, degraded bool
		reason           string
	}
	evTimer struct {
		epoch int
		kind  timerKind
	}
)

type timerKind int

const (
	timerRestart timerKind = iota
	timerStable
	timerUnhealthy
)

// Things to do.
type (
	doStart struct{ attempt int }
	doStop  struct{ reason string }
	doTimer struct {
		after time.Duration
		evTimer
	}
)

// step moves the machine. rnd is a random number in [0,1) for the jitter.
func (m *machine) step(ev any, now time.Time, rnd float64) []any {
	switch ev := ev.(type) {
	case evStart:
		return m.start(now)
	case evRestart:
		if m.state.Serving() || m.state == Starting {
			m.again = true
			return m.stop(now)
		}
		return m.start(now)
	case evReload:
		if !m.state.Serving() {
			return m.start(now)
		}
		if m.reloading {
			return nil
		}
		m.reloading = true
		return m.launchAttempt()
	case evStop:
		m.again = false
		return m.stop(now)
	case evStarted:
		return m.handleStarted(ev, now)
	case evStartFailed:
		return m.startFailed(ev, now, rnd)
	case evStandby:
		return m.handleStandby(ev, now)
	case evGranted:
		if m.state == Standby {
			m.failures = 0
			m.enterState(Starting, "", now)
			return m.launchAttempt()
		}
	case evLost:
		return m.handleLost(ev, now)
	case evExited:
		return m.handleExited(ev, now, rnd)
	case evExceeded:
		return m.handleExceeded(ev, now)
	case evHealth:
		return m.handleHealth(ev, now)
	case evTimer:
		return m.handleTimer(ev, now)
	}
	return nil
}

func (m *machine) enterState(s State, reason string, now time.Time) {
	m.state, m.reason, m.since = s, reason, now
	m.epoch++
	m.next = time.Time{}
	m.unhealthy = false
}

func (m *machine) start(now time.Time) []any {
	switch m.state {
	case Stopped, Failed, Backoff:
		m.failures = 0
		m.enterState(Starting, "", now)
		return m.launchAttempt()
	case Stopping:
		m.again = true
	}
	return nil
}

func (m *machine) stop(now time.Time) []any {
	switch m.state {
	case Starting, Ready, Degraded:
		m.enterState(Stopping, "", now)
		return []any{doStop{}}
	case Backoff, Failed, Standby:
		m.enterState(Stopped, "", now)
	}
	return nil
}

func (m *machine) launchAttempt() []any {
	m.attempt++
	return []any{doStart{m.attempt}}
}

func (m *machine) handleStarted(ev evStarted, now time.Time) []any {
	if ev.attempt != m.attempt {
		return nil
	}
	if m.state == Stopping || m.state == Stopped { // it was stopped while it started
		m.reloading = false
		return []any{doStop{}}
	}
	if m.reloading { // it was requested, like a restart
		m.failures = 0
	}
	m.reloading = false
	m.enterState(Ready, "", now)
	return []any{doTimer{m.policy.StableAfter, evTimer{m.epoch, timerStable}}}
}

func (m *machine) startFailed(ev evStartFailed, now time.Time, rnd float64) []any {
	if ev.attempt != m.attempt || m.state == Stopped {
		return nil
	}
	beside := m.reloading && m.state.Serving()
	m.reloading = false
	if beside { // the old process continues to serve
		m.lastError = ev.reason
		return nil
	}
	if m.state == Stopping {
		return m.enterStopped(now)
	}
	return m.enterFailure(ev.reason, ev.permanent, now, rnd)
}

// elsewhere is the reason of a plugin in standby.
const elsewhere = "it runs on another node"

func (m *machine) handleStandby(ev evStandby, now time.Time) []any {
	if ev.attempt != m.attempt || m.state == Stopped {
		return nil
	}
	m.reloading = false
	if m.state == Stopping {
		return m.enterStopped(now)
	}
	m.enterState(Standby, elsewhere, now)
	return nil
}

func (m *machine) handleLost(ev evLost, now time.Time) []any {
	switch m.state {
	case Starting, Ready, Degraded, Backoff:
		m.attempt++ // the process that is being started is no longer needed
		m.reloading = false
		m.enterState(Standby, elsewhere, now)
		return []any{doStop(ev)}
	}
	return nil
}

func (m *machine) handleExited(ev evExited, now time.Time, rnd float64) []any {
	switch {
	case m.state == Stopping:
		return m.enterStopped(now)
	case m.reloading: // its successor is being started
		m.lastError = ev.reason
		m.restarts++
		m.enterState(Starting, ev.reason, now)
		return nil
	case m.state.Serving():
		return m.enterFailure(ev.reason, false, now, rnd)
	}
	return nil
}

func (m *machine) handleExceeded(ev evExceeded, now time.Time) []any {
	switch m.state {
	case Starting, Ready, Degraded, Backoff:
		m.attempt++ // the process that is being started is no longer wanted
		m.reloading = false
		m.lastError = ev.reason
		m.enterState(Failed, ev.reason, now)
		return []any{doStop(ev)}
	}
	return nil
}

func (m *machine) enterStopped(now time.Time) []any {
	m.reloading = false
	m.enterState(Stopped, "", now)
	if m.again {
		m.again = false
		return m.start(now)
	}
	return nil
}

func (m *machine) enterFailure(reason string, permanent bool, now time.Time, rnd float64) []any {
	m.failures++
	m.lastError = reason
	if permanent {
		m.enterState(Failed, reason, now)
		return nil
	}
	d := m.policy.backoffDelay(m.failures, rnd)
	m.enterState(Backoff, reason, now)
	m.next = now.Add(d)
	return []any{doTimer{d, evTimer{m.epoch, timerRestart}}}
}

// backoffDelay is the pause after so many failures in a row.
func (p Policy) backoffDelay(failures int, rnd float64) time.Duration {
	if failures <= 1 {
		return 0
	}
	d := float64(p.FirstDelay) * math.Pow(2, float64(failures-2))
	d = min(d, float64(p.MaxDelay))
	return time.Duration(d * (1 + p.Jitter*(2*rnd-1)))
}

func (m *machine) handleHealth(ev evHealth, now time.Time) []any {
	if !m.state.Serving() {
		return nil
	}
	was := m.unhealthy
	state := Ready
	if ev.failed || ev.degraded {
		state = Degraded
	}
	if state != m.state {
		m.since = now
	}
	m.state, m.reason, m.unhealthy = state, ev.reason, ev.failed
	if ev.failed && !was && m.policy.UnhealthyAfter > 0 {
		return []any{doTimer{m.policy.UnhealthyAfter, evTimer{m.epoch, timerUnhealthy}}}
	}
	return nil
}

func (m *machine) handleTimer(ev evTimer, now time.Time) []any {
	if ev.epoch != m.epoch {
		return nil
	}
	switch {
	case ev.kind == timerRestart && m.state == Backoff:
		m.restarts++
		m.enterState(Starting, m.lastError, now)
		return m.launchAttempt()
	case ev.kind == timerStable:
		m.failures = 0
	case ev.kind == timerUnhealthy && m.unhealthy:
		// Ending it makes evExited, which counts as a failure like any other.
		return []any{doStop{reason: "called itself failed for too long: " + m.reason}}
	}
	return nil
}
