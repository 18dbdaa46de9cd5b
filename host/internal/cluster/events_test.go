package cluster

import (
	"context"
	"testing"
	"time"

	"ctl.internal/host/internal/plugin/events"
)

// What a plugin publishes on one node reaches the subscribers of all nodes once, in order;
// what each node publishes by itself stays there.
func TestEventsReachTheSubscribersOfEveryNode(t *testing.T) {
	w := newWorld()
	nodes := []*testNode{newNode(t, w, true), newNode(t, w, true), newNode(t, w, true)}
	for _, n := range nodes[1:] { // it is followed by each
		probe := n.bus.Subscribe(64, "probe")
		for reached := false; !reached && t.Context().Err() == nil; {
			nodes[0].bus.Put(events.Event{Stream: "probe", Carry: true})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			_, err := probe.Next(ctx)
			reached = err == nil
			cancel()
		}
		probe.Close()
	}
	var subs []*events.Subscription
	for _, n := range nodes {
		s := n.bus.Subscribe(64, "s")
		defer s.Close()
		subs = append(subs, s)
	}
	at := time.Now().Round(0)
	for i := range byte(20) {
		nodes[0].bus.Put(events.Event{Stream: "s", Publisher: "here", Data: []byte{0}})
		nodes[0].bus.Put(events.Event{Stream: "s", Publisher: "p", Data: []byte{i}, Time: at, Carry: true})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i, s := range subs {
		for want := byte(0); want < 20; {
			e, err := s.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 && e.Publisher == "here" {
				continue
			}
			if e.Publisher != "p" || e.Data[0] != want || e.Lost != 0 || !e.Time.Equal(at) {
				t.Fatalf("node %d got %+v, want number %d", i, e, want)
			}
			want++
		}
	}
	if n := nodes[1].bus.Wanted("another"); n {
		t.Error("a stream is wanted because nodes follow each other")
	}
}
