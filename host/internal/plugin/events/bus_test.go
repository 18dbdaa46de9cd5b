package events

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestASubscriberGetsItsStreamsInOrder(t *testing.T) {
	b := New()
	s := b.Subscribe(8, "a", "b")
	defer s.Close()
	b.Publish("a", "p", []byte("1"))
	b.Publish("other", "p", []byte("2"))
	b.Publish("b", "host", []byte("3"))
	for _, want := range []string{"a p 1", "b host 3"} {
		e, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s %s", e.Stream, e.Publisher, e.Data); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestASlowSubscriberIsToldWhatItLost(t *testing.T) {
	b := New()
	s := b.Subscribe(3)
	defer s.Close()
	for i := range 10 {
		b.Publish("a", "p", fmt.Append(nil, i))
	}
	for i, want := range []string{"7 lost 7", "8 lost 0", "9 lost 0"} {
		e, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s lost %d", e.Data, e.Lost); got != want {
			t.Errorf("event %d: %q, want %q", i, got, want)
		}
	}
}

func TestNextEnds(t *testing.T) {
	b := New()
	s, gone := b.Subscribe(1), b.Subscribe(1)
	gone.Close()
	gone.Close()
	if _, err := gone.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: %v", err)
	}
	b.Close()
	if _, err := s.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end of the bus: %v", err)
	}
	if _, err := b.Subscribe(1).Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("subscribed after the end of the bus: %v", err)
	}
}

func TestNothingIsLostUncounted(t *testing.T) {
	b := New()
	s := b.Subscribe(16)
	const n, publishers = 500, 4
	var wg sync.WaitGroup
	for range publishers {
		wg.Go(func() {
			for range n {
				b.Publish("a", "p", nil)
			}
		})
	}
	go func() { wg.Wait(); b.Close() }()
	var seen uint64
	for {
		e, err := s.Next(t.Context())
		if err != nil {
			break
		}
		seen += 1 + e.Lost
	}
	if seen != n*publishers {
		t.Errorf("%d events accounted for, want %d", seen, n*publishers)
	}
}

// A subscriber that does not read keeps few bytes, whatever the number of events, and learns how many it has lost.
func TestASlowSubscriberKeepsFewBytes(t *testing.T) {
	b := New()
	defer b.Close()
	s := b.Subscribe(1024, "s")
	defer s.Close()
	big := make([]byte, 1<<20)
	for range 100 {
		b.Publish("s", "p", big)
	}
	b.Publish("s", "p", make([]byte, maxQueued+1)) // too large to be kept at all
	b.Publish("s", "p", []byte("last"))
	if n := s.bytes.Load(); n > maxQueued {
		t.Errorf("%d bytes wait", n)
	}
	kept, lost := 0, uint64(0)
	for {
		e, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept, lost = kept+1, lost+e.Lost
		if string(e.Data) == "last" {
			break
		}
	}
	if uint64(kept)+lost != 102 || s.bytes.Load() != 0 {
		t.Errorf("%d events were kept and %d lost; %d bytes are left", kept, lost, s.bytes.Load())
	}
}
