package service

import (
	"math"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
)

// The least time between two readings that make a rate, and the most, unless the settings read the counters less often:
// rates of long ago say nothing.
const (
	minRate = time.Second
	maxRate = 10 * time.Minute
)

// longest is the most time between two readings of the settings' interval that make a rate: one reading may be late.
func longest(interval time.Duration) time.Duration {
	return max(maxRate, 2*interval)
}

// portRate is a port with its rates. What the switch does not count, or what is not known of the interval, is absent.
type portRate struct {
	portID
	State       string  `json:"state"`
	Speed       uint64  `json:"speed-kbps,omitempty"`
	In          *uint64 `json:"in-bps,omitempty"`
	Out         *uint64 `json:"out-bps,omitempty"`
	InErrors    *uint64 `json:"in-errors,omitempty"`
	OutErrors   *uint64 `json:"out-errors,omitempty"`
	InDiscards  *uint64 `json:"in-discards,omitempty"`
	OutDiscards *uint64 `json:"out-discards,omitempty"`
	NewErrors   *uint64 `json:"new-errors,omitempty"`
	// wrapped: a rate depends on a counter that began again at 0, which may also have been cleared.
	wrapped bool
	most    uint64 // bit/s in the interval: its speed may have changed
}

// secondsBetween is the time between two readings; 0: it is not known, or more than most, so they make no rate. The switch's own
// clock is more exact, as an answer may be late, but it counts only while it agrees with ours: some count whole seconds,
// or stand.
func secondsBetween(was, now driver.Counters, most time.Duration) float64 {
	ours := now.At.Sub(was.At)
	if was.At.IsZero() || ours < minRate/2 || ours > most {
		return 0
	}
	ticks := time.Duration(now.UpTime-was.UpTime) * 10 * time.Millisecond // it wraps after 497 days, as the difference does
	switch {
	case (ticks - ours).Abs() <= max(ours/10, 100*time.Millisecond):
		return ticks.Seconds()
	case now.UpTime < was.UpTime:
		return 0 // restarted
	}
	return ours.Seconds()
}

// The bounds of what a port can count: clocks and the moment of counting differ a little, and the shortest frame with
// its gap has 672 bits.
const (
	speedSlack = 1.1
	frameBits  = 672
	all32      = 1 << 32 // a 32-bit counter begins again after so many
)

// growth is what a counter has counted between two readings, at most so much.
type growth struct {
	n       uint64
	known   bool
	wrapped bool
	reset   bool // it has certainly begun again
}

// growthBetween compares two values of a counter that cannot have counted more than most; 0: how much is not known. One that
// fell has begun again, unless it was at its end and what it counted since is possible.
func growthBetween(was, now driver.Count, most float64) growth {
	if was.Bits == 0 || was.Bits != now.Bits {
		return growth{}
	}
	g := growth{
		n:       now.N - was.N,
		known:   true,
		wrapped: now.N < was.N,
	}
	if was.Bits == 32 {
		g.n &= math.MaxUint32
	}
	switch {
	case most == 0 && !g.wrapped:
		return g
	case was.Bits == 32 && most >= all32:
		return growth{} // it may have begun again several times
	case float64(g.n) > most:
		return growth{reset: g.wrapped}
	}
	return g
}

// counted is what a port has counted between two readings.
type counted struct {
	in, out growth
	faults  [4]growth
	// cleared: one of its counters has certainly begun again.
	cleared bool
}

func countedOf(was, now driver.Interface, speed uint64, t float64) counted {
	bits := float64(speed) * t * speedSlack
	octets, frames := bits/8, bits/frameBits
	if speed == 0 {
		frames = all32
	}
	c := counted{
		in:  growthBetween(was.In, now.In, octets),
		out: growthBetween(was.Out, now.Out, octets),
	}
	for i, pair := range [4][2]driver.Count{{was.InErrors, now.InErrors}, {was.OutErrors, now.OutErrors},
		{was.InDiscards, now.InDiscards}, {was.OutDiscards, now.OutDiscards}} {
		c.faults[i] = growthBetween(pair[0], pair[1], min(frames, all32/2))
		c.cleared = c.cleared || c.faults[i].reset
	}
	both := c.in.wrapped && c.out.wrapped // of two counters one that began again by itself is rare
	c.cleared = c.cleared || both || c.in.reset || c.out.reset
	return c
}

// portRates are those of the ports of a switch between two readings, t seconds apart; 0: there are none.
func portRates(o *discovery.Observation, was, now driver.Counters, t float64) []portRate {
	all := make(map[uint32]counted, len(o.Ports))
	cleared := false
	for _, p := range o.Ports {
		before, known := was.Interfaces[p.IfIndex]
		after, ok := now.Interfaces[p.IfIndex]
		if ok && known && t > 0 {
			c := countedOf(before, after, max(speedOf(p, before), speedOf(p, after)), t)
			all[p.IfIndex] = c
			cleared = cleared || c.cleared
		}
	}
	out := make([]portRate, 0, len(o.Ports))
	for _, p := range o.Ports {
		i, ok := now.Interfaces[p.IfIndex]
		if !ok {
			continue
		}
		r := portRate{
			portID:      portID{portName(p), p.Number},
			State:       statusText(i.Oper),
			Speed:       speedOf(p, i) / 1000,
			InErrors:    valueOf(i.InErrors),
			OutErrors:   valueOf(i.OutErrors),
			InDiscards:  valueOf(i.InDiscards),
			OutDiscards: valueOf(i.OutDiscards),
		}
		if c, known := all[p.IfIndex]; known && !c.cleared {
			r.most = max(speedOf(p, was.Interfaces[p.IfIndex]), speedOf(p, i))
			r.fillRates(c, cleared, t)
		}
		out = append(out, r)
	}
	return out
}

// fillRates adds the rates. Where the counters of another port were cleared, those of this one that fell were, too.
func (r *portRate) fillRates(c counted, cleared bool, t float64) {
	rate := func(g growth) *uint64 {
		if !g.known || g.wrapped && cleared {
			return nil
		}
		r.wrapped = r.wrapped || g.wrapped
		n := uint64(float64(g.n) * 8 / t)
		if r.most > 0 {
			n = min(n, r.most)
		}
		return &n
	}
	r.In, r.Out = rate(c.in), rate(c.out)
	var sum uint64
	some := false
	for _, g := range c.faults {
		if g.wrapped {
			return
		}
		sum, some = sum+g.n, some || g.known
	}
	if some {
		r.NewErrors = &sum
	}
}

// speedOf is the speed of a port as it was with its counters; else as it was discovered.
func speedOf(p discovery.Port, i driver.Interface) uint64 {
	if i.Speed != 0 {
		return i.Speed
	}
	return p.Speed
}

func valueOf(c driver.Count) *uint64 {
	if c.Bits == 0 {
		return nil
	}
	return &c.N
}

// unknownAlarm is for how many readings in a row an alarm stays without a value.
const unknownAlarm = 3

// alarmState is an alarm of a port.
type alarmState struct {
	active  bool
	unknown int // readings without a value
}

// nextState is the alarm after a reading. It begins when the value has reached its limit, and ends when it is below four
// fifths of it, or not known any more. A value that is doubtful begins none, and neither does the first one after a
// reading without: it may count from a moment that is not known.
func (a alarmState) nextState(value *uint64, doubtful bool, limit uint64) alarmState {
	switch {
	case value == nil:
		a.unknown = min(a.unknown+1, unknownAlarm)
		a.active = a.active && a.unknown < unknownAlarm
	case *value >= limit:
		a = alarmState{active: a.active || !doubtful && a.unknown == 0}
	default:
		a = alarmState{active: a.active && *value*5 >= limit*4}
	}
	return a
}

// percentUsed is how much of its speed a port uses, in the direction that uses more; nil: it is not known.
func (r *portRate) percentUsed() *uint64 {
	if r.State != "up" {
		return new(uint64)
	}
	if r.Speed == 0 || r.Speed != r.most/1000 || r.In == nil && r.Out == nil {
		return nil
	}
	var most uint64
	for _, n := range []*uint64{r.In, r.Out} {
		if n != nil {
			most = max(most, *n)
		}
	}
	most /= r.Speed * 10
	return &most
}

// newErrors are the errors and dropped frames a second; nil: they are not known.
func (r *portRate) newErrors(seconds float64) *uint64 {
	if r.NewErrors == nil || seconds <= 0 {
		return nil
	}
	n := uint64(float64(*r.NewErrors) / seconds)
	return &n
}

// sumFaults are all errors and dropped frames; nil: the switch counts none.
func (r *portRate) sumFaults() *uint64 {
	var sum *uint64
	for _, n := range []*uint64{r.InErrors, r.OutErrors, r.InDiscards, r.OutDiscards} {
		switch {
		case n == nil:
		case sum == nil:
			all := *n
			sum = &all
		default:
			*sum += *n
		}
	}
	return sum
}
