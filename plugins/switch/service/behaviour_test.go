package service

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
)

// The port that is simulated: what truly passes it, and when it is read.
const (
	simReadings = 40
	simStep     = 60 * time.Second
	simEvent    = 11 // the reading at which something happens
)

// simPort is what an honest agent of a port has counted at a reading.
type simPort struct {
	reading int
	at      time.Duration // since the first reading
	ticks   float64       // sysUpTime
	in, out float64       // octets
	faults  float64
	speed   uint64
	each    float64 // octets a second that come in; half of it goes out
}

// behaviour changes what the agent answers; random is the same for a run.
type behaviour struct {
	name string
	bend func(c *driver.Counters, i *driver.Interface, p simPort, random float64)
}

// behaviours are ways in which agents count.
func behaviours() []behaviour {
	after := func(p simPort) bool { return p.reading >= simEvent }
	less := func(c *driver.Count, n float64) {
		if float64(c.N) >= n {
			c.N -= uint64(n)
		}
	}
	var base simPort // of the event
	since := func(f func(c *driver.Counters, i *driver.Interface, p simPort)) func(*driver.Counters, *driver.Interface, simPort, float64) {
		return func(c *driver.Counters, i *driver.Interface, p simPort, _ float64) {
			if p.reading == simEvent {
				base = p
			}
			if after(p) {
				f(c, i, p)
			}
		}
	}
	set := func(c *driver.Count, n float64) { c.N = uint64(max(0, n)) }
	mod := func(c *driver.Count) {
		if c.Bits == 32 {
			c.N &= math.MaxUint32
		}
	}
	return []behaviour{
		{"steady", func(*driver.Counters, *driver.Interface, simPort, float64) {}},
		{"all cleared", since(func(_ *driver.Counters, i *driver.Interface, p simPort) {
			set(&i.In, p.in-base.in)
			set(&i.Out, p.out-base.out)
			set(&i.InErrors, p.faults-base.faults)
		})},
		{"octets in cleared", since(func(_ *driver.Counters, i *driver.Interface, p simPort) { set(&i.In, p.in-base.in); mod(&i.In) })},
		{"octets out cleared", since(func(_ *driver.Counters, i *driver.Interface, p simPort) { set(&i.Out, p.out-base.out); mod(&i.Out) })},
		{"errors cleared", since(func(_ *driver.Counters, i *driver.Interface, p simPort) { set(&i.InErrors, p.faults-base.faults) })},
		{"restart", since(func(c *driver.Counters, i *driver.Interface, p simPort) {
			c.UpTime = uint32(p.ticks-base.ticks) + 500
			set(&i.In, p.in-base.in)
			set(&i.Out, p.out-base.out)
			set(&i.InErrors, p.faults-base.faults)
		})},
		{"restart of the agent alone", since(func(c *driver.Counters, _ *driver.Interface, p simPort) { c.UpTime = uint32(p.ticks-base.ticks) + 500 })},
		{"sysUpTime in seconds", func(c *driver.Counters, _ *driver.Interface, p simPort, _ float64) { c.UpTime = uint32(p.ticks / 100) }},
		{"sysUpTime in seconds, cleared", since(func(c *driver.Counters, i *driver.Interface, p simPort) {
			c.UpTime = uint32(p.ticks / 100)
			set(&i.In, p.in-base.in)
			set(&i.Out, p.out-base.out)
		})},
		{"sysUpTime does not move", func(c *driver.Counters, _ *driver.Interface, _ simPort, _ float64) { c.UpTime = 4711 }},
		{"no sysUpTime", func(c *driver.Counters, _ *driver.Interface, _ simPort, _ float64) { c.UpTime = 0 }},
		{"sysUpTime begins again after 497 days", func(c *driver.Counters, _ *driver.Interface, p simPort, _ float64) {
			c.UpTime = uint32(uint64(p.ticks) + 1<<32 - simEvent*6000)
		}},
		{"sysUpTime is slow", func(c *driver.Counters, _ *driver.Interface, p simPort, _ float64) { c.UpTime = uint32(p.ticks * 0.7) }},
		{"sysUpTime jumps", since(func(c *driver.Counters, _ *driver.Interface, p simPort) { c.UpTime = uint32(p.ticks) + 1<<20 })},
		{"counts every ten seconds", func(_ *driver.Counters, i *driver.Interface, p simPort, random float64) {
			late := 10 * math.Mod(float64(p.reading)*random*7, 1)
			set(&i.In, p.in-late*p.each)
			set(&i.Out, p.out-late*p.each/2)
			mod(&i.In)
			mod(&i.Out)
		}},
		{"answers late", func(c *driver.Counters, _ *driver.Interface, p simPort, random float64) {
			c.At = c.At.Add(time.Duration(float64(p.reading%3) * random * float64(time.Second)))
		}},
		{"one answer of zeros", func(_ *driver.Counters, i *driver.Interface, p simPort, _ float64) {
			if p.reading == simEvent {
				i.In.N, i.Out.N, i.InErrors.N = 0, 0, 0
			}
		}},
		{"one answer without the port", func(c *driver.Counters, i *driver.Interface, p simPort, _ float64) {
			if p.reading == simEvent {
				c.Interfaces = nil
			}
		}},
		{"other width meanwhile", func(_ *driver.Counters, i *driver.Interface, p simPort, _ float64) {
			if p.reading%2 == 0 {
				i.In.Bits, i.Out.Bits = 96-i.In.Bits, 96-i.Out.Bits
				mod(&i.In)
				mod(&i.Out)
			}
		}},
		{"no errors counted", func(_ *driver.Counters, i *driver.Interface, _ simPort, _ float64) { i.InErrors = driver.Count{} }},
		{"nothing counted out", func(_ *driver.Counters, i *driver.Interface, _ simPort, _ float64) { i.Out = driver.Count{} }},
		{"errors wrap", func(_ *driver.Counters, i *driver.Interface, _ simPort, _ float64) {
			i.InErrors.N = (i.InErrors.N + 1<<32 - 30) & math.MaxUint32
		}},
		{"one absurd number of errors", func(_ *driver.Counters, i *driver.Interface, p simPort, _ float64) {
			if p.reading == simEvent {
				i.InErrors.N = math.MaxUint32 - 1
			}
		}},
		{"one absurd number of octets", func(_ *driver.Counters, i *driver.Interface, p simPort, _ float64) {
			if p.reading == simEvent {
				i.In.N += 1 << 31
				mod(&i.In)
			}
		}},
		{"goes back a little", func(_ *driver.Counters, i *driver.Interface, p simPort, _ float64) {
			if p.reading == simEvent {
				less(&i.In, p.in/2)
			}
		}},
		{"other port's counters", since(func(_ *driver.Counters, i *driver.Interface, p simPort) {
			i.In.N, i.Out.N = i.In.N+1<<40, i.Out.N+1<<40
			mod(&i.In)
			mod(&i.Out)
		})},
		{"speed unknown", func(_ *driver.Counters, i *driver.Interface, _ simPort, _ float64) { i.Speed = 0 }},
		{"slower from then on", since(func(_ *driver.Counters, i *driver.Interface, p simPort) {
			i.Speed = p.speed / 10
			set(&i.In, base.in+(p.in-base.in)/10)
			set(&i.Out, base.out+(p.out-base.out)/10)
			mod(&i.In)
			mod(&i.Out)
		})},
		{"goes down", since(func(_ *driver.Counters, i *driver.Interface, _ simPort) {
			i.Oper = 2
			set(&i.In, base.in)
			set(&i.Out, base.out)
			mod(&i.In)
			mod(&i.Out)
		})},
		{"not read for an hour", since(func(c *driver.Counters, _ *driver.Interface, _ simPort) { c.At = c.At.Add(time.Hour) })},
	}
}

// simulated is what is read of a port of so many bits a second that is used so much.
func simulated(b behaviour, bits uint8, speed uint64, load float64, start float64, random float64) []driver.Counters {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all []driver.Counters
	for k := range simReadings {
		at := time.Duration(k) * simStep
		p := simPort{reading: k, at: at, ticks: 8_640_000 + at.Seconds()*100, speed: speed, faults: 100 + at.Seconds()*2,
			each: load * float64(speed) / 8}
		p.in = start + p.each*at.Seconds()
		p.out = start/2 + p.each/2*at.Seconds()
		i := driver.Interface{Oper: 1, Speed: speed, In: driver.Count{N: uint64(p.in), Bits: bits}, Out: driver.Count{N: uint64(p.out), Bits: bits},
			InErrors: driver.Count{N: uint64(p.faults), Bits: 32}, OutErrors: driver.Count{Bits: 32}}
		if bits == 32 {
			i.In.N &= math.MaxUint32
			i.Out.N &= math.MaxUint32
		}
		c := driver.Counters{At: began.Add(at), UpTime: uint32(p.ticks), Interfaces: map[uint32]driver.Interface{}}
		b.bend(&c, &i, p, random)
		if c.Interfaces != nil {
			c.Interfaces[7] = i
		}
		all = append(all, c)
	}
	return all
}

// No way of counting is an alarm while nothing is wrong, whatever the counters stand at, and no rate is more than is
// true: each behaviour with 32-bit and with 64-bit counters, at three speeds and many starts.
func TestNoFalseAlarm(t *testing.T) {
	const load, errorsLimit, utilizationLimit = 0.3, 10, 80
	o := &discovery.Observation{Ports: []discovery.Port{{ID: "1", Number: 1, IfIndex: 7, Name: "p1"}}}
	kinds := 0
	for _, b := range behaviours() {
		for _, bits := range []uint8{32, 64} {
			kinds++
			t.Run(fmt.Sprintf("%s, %d bit", b.name, bits), func(t *testing.T) {
				r := rand.New(rand.NewPCG(33, uint64(bits)))
				values := 0
				for range 15 {
					speed := []uint64{100_000_000, 1_000_000_000, 10_000_000_000}[r.IntN(3)]
					start := math.Pow(2, r.Float64()*36)
					read := simulated(b, bits, speed, load, start, r.Float64())
					var used, errors alarmState
					for k := 1; k < len(read); k++ {
						sec := secondsBetween(read[k-1], read[k], maxRate)
						list := portRates(o, read[k-1], read[k], sec)
						for _, p := range list {
							used, errors = used.nextState(p.percentUsed(), p.wrapped, utilizationLimit), errors.nextState(p.newErrors(sec), false, errorsLimit)
							if p.In != nil && !p.wrapped {
								values++
							}
						}
						if used.active || errors.active {
							t.Fatalf("reading %d at %d bit/s from %.0f: utilization %+v, errors %+v: %+v", k, speed, start, used, errors, list)
						}
					}
				}
				if values == 0 && b.name != "other width meanwhile" {
					t.Error("no rate was made at all")
				}
			})
		}
	}
	if kinds < 60 {
		t.Errorf("%d kinds of behaviour, want 60", kinds)
	}
}

// A port that is almost full is an alarm, with counters of either width that begin again, and one that ends.
func TestAlarmBeginsAndEnds(t *testing.T) {
	o := &discovery.Observation{Ports: []discovery.Port{{ID: "1", Number: 1, IfIndex: 7, Name: "p1"}}}
	steady := behaviours()[0]
	for _, bits := range []uint8{32, 64} {
		var a alarmState
		began := 0
		read := simulated(steady, bits, 100_000_000, 0.95, 1<<31, 0)
		for k := 1; k < len(read); k++ {
			for _, p := range ratesOf(o, read[k-1], read[k]) {
				if a = a.nextState(p.percentUsed(), p.wrapped, 90); a.active && began == 0 {
					began = k
				}
			}
		}
		if began == 0 || began > 3 || !a.active {
			t.Errorf("%d bit: the alarm began at reading %d, and is %+v at the end", bits, began, a)
		}
		for range unknownAlarm {
			a = a.nextState(nil, false, 90)
		}
		if a.active {
			t.Errorf("an alarm without values does not end: %+v", a)
		}
		down := portRate{State: "down", Speed: 100_000}
		if a = (alarmState{active: true}).nextState(down.percentUsed(), false, 90); a.active {
			t.Error("the alarm of a port that is down does not end")
		}
	}
}
