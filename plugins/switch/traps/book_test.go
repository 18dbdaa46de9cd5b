package traps

import (
	"net/netip"
	"testing"
	"time"
)

// What is remembered is bounded, whatever comes.
func TestBookIsBounded(t *testing.T) {
	b := NewBook(10)
	for i := range 1000 {
		at := start.Add(time.Duration(i) * time.Second)
		b.Record(at, from, Accepted, &Trap{At: at, IfIndex: uint32(i)})
		b.Record(at, netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 1), UnknownSource, nil)
	}
	last := b.Last()
	if len(last) != 10 || last[0].IfIndex != 999 || last[9].IfIndex != 990 {
		t.Errorf("%d traps, from %d to %d", len(last), last[0].IfIndex, last[len(last)-1].IfIndex)
	}
	strangers := b.Strangers()
	if len(strangers) != maxUnknown {
		t.Errorf("%d unknown addresses", len(strangers))
	}
	for _, s := range strangers {
		if start.Add((1000 - maxUnknown) * time.Second).After(s.Last) {
			t.Errorf("%s was heard of last at %s: others are newer", s.Address, s.Last)
		}
	}
	if c := b.Counts(); c.Received != 2000 || c.Traps != 1000 || c.UnknownSource != 1000 {
		t.Errorf("%+v", c)
	}
}
