package password

import (
	"context"
	"net/netip"
	"slices"
	"testing"
)

// waiting reports how many wait, once as many do.
func (l *line) until(t *testing.T, n int) {
	t.Helper()
	for {
		l.mu.Lock()
		have := 0
		for _, w := range l.waiting {
			have += len(w)
		}
		l.mu.Unlock()
		if have == n {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("the test ended")
		}
	}
}

func TestAddressesTakeTurns(t *testing.T) {
	l := line{free: 1, waiting: map[netip.Addr][]chan struct{}{}}
	if err := l.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	crowd, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	served := make(chan string)
	n := 0
	wait := func(ctx context.Context, origin netip.Addr, name string) {
		n++
		go func() {
			if err := l.enter(From(ctx, origin)); err != nil {
				name = err.Error()
			}
			served <- name
		}()
		l.until(t, n)
	}
	for _, name := range []string{"crowd 1", "crowd 2", "crowd 3"} {
		wait(t.Context(), crowd, name)
	}
	ctx, leave := context.WithCancel(t.Context())
	wait(ctx, crowd, "one who leaves")
	alone, leaveToo := context.WithCancel(t.Context())
	wait(alone, netip.MustParseAddr("192.0.2.3"), "one who leaves alone")
	wait(t.Context(), other, "other")
	leave()
	leaveToo()
	for range 2 {
		if got := <-served; got != context.Canceled.Error() {
			t.Fatalf("who left got %s", got)
		}
	}
	var order []string
	for range 4 {
		l.leave()
		order = append(order, <-served)
	}
	if want := []string{"crowd 1", "other", "crowd 2", "crowd 3"}; !slices.Equal(order, want) {
		t.Errorf("served %q, want %q", order, want)
	}
	l.leave()
	if l.free != 1 || len(l.order) != 0 || len(l.waiting) != 0 {
		t.Errorf("left over: %+v", &l)
	}
}
