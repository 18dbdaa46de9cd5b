package traps

import (
	"net/netip"
	"testing"
	"time"
)

func addr(n byte) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, n}) }

// A storm of one sender does not keep others waiting, and costs itself messages only.
func TestQueueIsFair(t *testing.T) {
	q := newQueue()
	lost := 0
	for k := range 3 * maxQueued {
		if q.putMessage(addr(1), message{data: []byte{byte(k)}}) {
			lost++
		}
	}
	for n := byte(2); n < 12; n++ {
		for k := range byte(3) {
			q.putMessage(addr(n), message{data: []byte{n, k}})
		}
	}
	if lost != 2*maxQueued {
		t.Errorf("%d lost of the storm", lost)
	}
	got := map[byte]int{}
	for range 3 * 11 {
		m, ok := q.takeMessage(t.Context())
		if !ok {
			t.Fatal("nothing waits")
		}
		if len(m.data) == 2 {
			if int(m.data[1]) != got[m.data[0]] {
				t.Errorf("message %d of sender %d comes as its %d", m.data[1], m.data[0], got[m.data[0]])
			}
			got[m.data[0]]++
		}
	}
	for n := byte(2); n < 12; n++ {
		if got[n] != 3 {
			t.Errorf("%d messages of sender %d in its turns, want 3", got[n], n)
		}
	}
	left := 0
	for {
		if _, ok := q.nextMessage(); !ok {
			break
		}
		left++
	}
	if left+3*11 != maxQueued || q.count != 0 || len(q.by) != 0 {
		t.Errorf("%d messages in all, count %d, senders %d", left+3*11, q.count, len(q.by))
	}
}

// The traps that wait to be written are not those of the storm alone.
func TestHistoryIsFair(t *testing.T) {
	h := NewHistory()
	now := time.Unix(1, 0)
	record := func(n byte, oid string) {
		from := netip.AddrPortFrom(addr(n), 162)
		h.Record(now, from, Accepted, &Trap{From: from, OID: oid})
	}
	record(2, "linkDown")
	for range 3 * maxWaiting {
		record(1, "storm")
	}
	record(3, "linkUp")
	of := map[netip.Addr]int{}
	for _, trap := range h.Take() {
		of[trap.From.Addr()]++
	}
	if of[addr(2)] != 1 || of[addr(3)] != 1 || of[addr(1)] != maxWaiting-2 {
		t.Errorf("what is kept: %v", of)
	}
}
