package service

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
)

// ratesOf are the rates of two readings that are asked for.
func ratesOf(o *discovery.Observation, was, now driver.Counters) []portRate {
	return portRates(o, was, now, secondsBetween(was, now, maxRate))
}

// Counters that the settings read less often than every ten minutes have rates, and alarms: 30 Mbit/s of 100 Mbit/s for
// half an hour, by 64 bits. Of 32 bits it is not known how often they began again.
func TestLongIntervals(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	o := &discovery.Observation{Ports: []discovery.Port{{ID: "1", Number: 1, IfIndex: 7, Name: "p1"}}}
	for _, interval := range []time.Duration{5 * time.Minute, 15 * time.Minute, 30 * time.Minute, 6 * time.Hour} {
		for _, bits := range []uint8{32, 64} {
			read := func(after time.Duration) driver.Counters {
				in := driver.Count{N: uint64(after.Seconds()) * 30_000_000 / 8, Bits: bits}
				if bits == 32 {
					in.N &= math.MaxUint32
				}
				return driver.Counters{At: at.Add(after), UpTime: uint32(after / (10 * time.Millisecond)),
					Interfaces: map[uint32]driver.Interface{7: {In: in, Oper: 1, Speed: 100_000_000}}}
			}
			was, now := read(0), read(interval)
			got := portRates(o, was, now, secondsBetween(was, now, longest(interval)))[0].In
			known := bits == 64 || interval < 6*time.Minute
			if known != (got != nil) || got != nil && *got != 30_000_000 {
				t.Errorf("every %s, %d bit: %v", interval, bits, got)
			}
		}
	}
	was, now := driver.Counters{At: at}, driver.Counters{At: at.Add(31 * time.Minute)}
	if secondsBetween(was, now, longest(15*time.Minute)) != 0 {
		t.Error("two readings of which two more lie between make a rate")
	}
}

func TestRates(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	read := func(after time.Duration, in uint64, bits uint8) driver.Counters {
		n, faults := driver.Count{N: in, Bits: bits}, driver.Count{Bits: 32}
		if in < 1_000_000 {
			faults.N = in / 1000
		}
		return driver.Counters{At: at.Add(after), UpTime: uint32(1000 + after/(10*time.Millisecond)),
			Interfaces: map[uint32]driver.Interface{7: {In: n, InErrors: faults, Oper: 1, Speed: 1_000_000_000}}}
	}
	o := &discovery.Observation{Ports: []discovery.Port{{ID: "1", Number: 1, IfIndex: 7, Name: "p1"}}}
	restarted := read(10*time.Second, 5, 64)
	restarted.UpTime = 3
	busy := read(10*time.Second, 11000, 64)
	busy.UpTime = 3
	inSeconds := read(100*time.Second, 101000, 64)
	inSeconds.UpTime = 1100
	for name, k := range map[string]struct {
		was, now driver.Counters
		bps      int64 // -1: none
	}{
		"two readings":                      {read(0, 1000, 64), read(10*time.Second, 11000, 64), 8000},
		"only one":                          {driver.Counters{}, read(0, 1000, 64), -1},
		"32 bit wrapped":                    {read(0, 1<<32-500, 32), read(time.Second, 500, 32), 8000},
		"32 bit cleared":                    {read(0, 1_000_000, 32), read(time.Second, 0, 32), -1},
		"32 bit may have wrapped twice":     {read(0, 1000, 32), read(time.Minute, 11000, 32), -1},
		"64 bit went back":                  {read(0, 1000, 64), read(time.Second, 500, 64), -1},
		"64 bit wrapped":                    {read(0, 1<<64-500, 64), read(time.Second, 500, 64), 8000},
		"above the speed":                   {read(0, 1000, 64), read(time.Second, 500_000_000, 64), -1},
		"as much as the speed and a little": {read(0, 0, 64), read(time.Second, 126_000_000, 64), 1_000_000_000},
		"restarted between":                 {read(0, 1000, 64), restarted, -1},
		"restarted, and more was counted":   {read(0, 1000, 64), busy, -1},
		"sysUpTime in seconds":              {read(0, 1000, 64), inSeconds, 8000},
		"long ago":                          {read(0, 1000, 64), read(time.Hour, 11000, 64), -1},
		"now of other width":                {read(0, 1000, 32), read(time.Second, 11000, 64), -1},
		"not counted":                       {read(0, 0, 0), read(time.Second, 0, 0), -1},
	} {
		got := ratesOf(o, k.was, k.now)
		switch {
		case len(got) != 1:
			t.Errorf("%s: %+v", name, got)
		case k.bps < 0 && got[0].In != nil:
			t.Errorf("%s: %d bit/s, want none", name, *got[0].In)
		case k.bps >= 0 && (got[0].In == nil || *got[0].In != uint64(k.bps)):
			t.Errorf("%s: %+v, want %d bit/s", name, got[0], k.bps)
		case got[0].Out != nil || got[0].OutErrors != nil:
			t.Errorf("%s: what is not counted is %+v", name, got[0])
		}
	}
	if got := ratesOf(o, read(0, 1000, 64), read(time.Second, 6000, 64)); got[0].NewErrors == nil || *got[0].NewErrors != 5 {
		t.Errorf("new errors of %+v", got[0])
	}
}

// Counters that fell are not taken for counters that began again at their end where others show that they were cleared:
// those of the other direction, the errors of the port, or those of another port.
func TestClearedCounters(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	o := &discovery.Observation{Ports: []discovery.Port{{ID: "1", Number: 1, IfIndex: 1}, {ID: "2", Number: 2, IfIndex: 2}}}
	n := func(n uint64) driver.Count { return driver.Count{N: n, Bits: 32} }
	const end = 1<<32 - 500 // from here to 500 may be 8 kbit/s
	read := func(after time.Duration, one, two driver.Interface) driver.Counters {
		one.Speed, two.Speed, one.Oper, two.Oper = 100_000_000, 100_000_000, 1, 1
		return driver.Counters{At: at.Add(after), UpTime: uint32(after / (10 * time.Millisecond)), Interfaces: map[uint32]driver.Interface{1: one, 2: two}}
	}
	for name, k := range map[string]struct {
		was, now [2]driver.Interface
		known    bool
	}{
		"at its end":           {[2]driver.Interface{{In: n(end), Out: n(7)}}, [2]driver.Interface{{In: n(500), Out: n(8)}}, true},
		"both directions":      {[2]driver.Interface{{In: n(end), Out: n(end)}}, [2]driver.Interface{{In: n(500), Out: n(500)}}, false},
		"the errors, too":      {[2]driver.Interface{{In: n(end), InErrors: n(9)}}, [2]driver.Interface{{In: n(500), InErrors: n(0)}}, false},
		"those of other ports": {[2]driver.Interface{{In: n(end)}, {In: n(100_000)}}, [2]driver.Interface{{In: n(500)}, {In: n(0)}}, false},
	} {
		got := ratesOf(o, read(0, k.was[0], k.was[1]), read(time.Second, k.now[0], k.now[1]))
		if (got[0].In != nil) != k.known || k.known && !got[0].wrapped {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
}

func TestPortChanges(t *testing.T) {
	net := func(stale bool, oper ...int32) *discovery.Network {
		n := discovery.Node{ID: "1", Kind: discovery.SNMP, Stale: stale}
		for i, o := range oper {
			n.Ports = append(n.Ports, discovery.Port{ID: string(rune('1' + i)), Oper: o})
		}
		return &discovery.Network{Nodes: []discovery.Node{n}}
	}
	want := []discovery.Change{{Kind: discovery.PortDown, Node: "1", Port: "1", Cause: "trap"}, {Kind: discovery.PortUp, Node: "1", Port: "2", Cause: "trap"}}
	if d := cmp.Diff(want, portChanges(net(false, 1, 2, 0, 1), net(false, 7, 1, 1, 1), discovery.Trap)); d != "" {
		t.Error("(-want +got):\n" + d)
	}
	for name, got := range map[string][]discovery.Change{"first": portChanges(nil, net(false, 1), discovery.Trap), "silent": portChanges(net(false, 1), net(true, 2), discovery.Trap)} {
		if len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// An address keeps the time since when it is where it is; one that moved is history; one that is silent stays while there is room.
func TestSightings(t *testing.T) {
	early, late := time.Unix(100, 0), time.Unix(200, 0)
	at := func(m, sw mib.MAC, port, vlan uint32, since time.Time) sighting {
		return sighting{m, sw, port, vlan, since}
	}
	nobody := func(learnedAt) bool { return false }
	old := []sighting{at(1, 10, 1, 1, early), at(2, 10, 2, 1, early), at(3, 10, 3, 1, early), at(4, 10, 4, 1, early)}
	next, moves, differs := mergeSightings(old, []sighting{at(1, 10, 1, 1, late), at(2, 20, 5, 1, late), at(3, 10, 3, 9, late)}, 4, nobody)
	if d := cmp.Diff([]sighting{at(1, 10, 1, 1, early), at(2, 20, 5, 1, late), at(3, 10, 3, 9, early), at(4, 10, 4, 1, early)}, next); d != "" || !differs {
		t.Error("(-want +got):\n" + d)
	}
	if len(moves) != 1 || moves[0].MAC != 2 || moves[0].Node != "20" || moves[0].PeerPort != "2" {
		t.Errorf("moves %+v", moves)
	}
	if next, _, differs = mergeSightings(old, []sighting{at(1, 10, 1, 1, late)}, 2, nobody); len(next) != 2 || !differs {
		t.Errorf("with room for two: %+v", next)
	}
	trunk := func(l learnedAt) bool { return l == learnedAt{10, 1} }
	if _, moves, _ = mergeSightings(old, []sighting{at(1, 30, 7, 1, late)}, 4, trunk); len(moves) != 0 {
		t.Errorf("an address at a port that leads on has moved: %+v", moves)
	}
	if _, moves, differs = mergeSightings(old, old, 4, nobody); differs || len(moves) != 0 {
		t.Error("nothing changed, but it is written")
	}
}
