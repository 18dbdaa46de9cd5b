package traps

import (
	"net/netip"
	"testing"
	"time"
)

// What is remembered is bounded, whatever comes.
func TestHistoryIsBounded(t *testing.T) {
	b := NewHistory()
	for i := range 1000 {
		at := start.Add(time.Duration(i) * time.Second)
		b.Record(at, from, Accepted, &Trap{At: at, IfIndex: uint32(i)})
		b.Record(at, netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 1), UnknownSource, nil)
	}
	for i := range maxWaiting {
		b.Record(start, from, Accepted, &Trap{At: start, IfIndex: uint32(1000 + i)})
	}
	last := b.Take()
	if len(last) != maxWaiting || last[0].IfIndex != 1000 || last[999].IfIndex != 1999 || len(b.Take()) != 0 {
		t.Errorf("%d traps, from %d to %d", len(last), last[0].IfIndex, last[len(last)-1].IfIndex)
	}
	unknown := b.Unknown()
	if len(unknown) != maxUnknown {
		t.Errorf("%d unknown addresses", len(unknown))
	}
	for _, s := range unknown {
		if start.Add((1000 - maxUnknown) * time.Second).After(s.Last) {
			t.Errorf("%s was heard of last at %s: others are newer", s.Address, s.Last)
		}
	}
	if c := b.Counts(); c.Received != 2000+maxWaiting || c.Traps != 1000+maxWaiting || c.UnknownSource != 1000 {
		t.Errorf("%+v", c)
	}
}
