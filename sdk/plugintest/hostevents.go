package plugintest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Event is one that was published at the host.
type Event struct {
	Stream    string
	Publisher string
	Data      json.RawMessage // one member, "module:notification"
}

// eventLog keeps every event of a test.
type eventLog struct {
	mu      sync.Mutex
	all     []Event
	changed chan struct{}
}

func newEventLog() *eventLog { return &eventLog{changed: make(chan struct{})} }

func (l *eventLog) put(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
	close(l.changed)
	l.changed = make(chan struct{})
}

// after returns the events from an index on, waiting for the first.
func (l *eventLog) after(ctx context.Context, n int) ([]Event, error) {
	for {
		l.mu.Lock()
		changed, news := l.changed, slices.Clone(l.all[min(n, len(l.all)):])
		l.mu.Unlock()
		if len(news) > 0 {
			return news, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Publish sends an event as if another plugin had. data is encoded as JSON.
func (h *Host) Publish(stream, notification string, data any) error {
	raw, err := json.Marshal(map[string]any{notification: data})
	if err != nil {
		return err
	}
	h.events.put(Event{Stream: stream, Publisher: "host", Data: raw})
	return nil
}

// Events returns what was published from the n-th event on, counted from 0, waiting
// for the first of them until ctx ends.
func (h *Host) Events(ctx context.Context, n int) ([]Event, error) { return h.events.after(ctx, n) }

type eventsServer struct {
	pluginv1.UnimplementedHostEventsServer
	h *Host
}

func (e *eventsServer) Publish(ctx context.Context, r *pluginv1.PublishRequest) (*pluginv1.PublishResponse, error) {
	m := guestOf(ctx).manifest
	if !slices.Contains(m.GetStreams(), r.Stream) {
		return nil, fault.At(fault.Denied, r.Stream, "the manifest does not list this stream under `streams`")
	}
	var one map[string]json.RawMessage
	if err := json.Unmarshal(r.Data, &one); err != nil || len(one) != 1 {
		return nil, fault.At(fault.Malformed, r.Stream, "an event is a JSON object with one member, \"module:notification\"")
	}
	e.h.events.put(Event{Stream: r.Stream, Publisher: m.GetName(), Data: r.Data})
	return &pluginv1.PublishResponse{}, nil
}

func (e *eventsServer) Subscribe(r *pluginv1.SubscribeRequest, out grpc.ServerStreamingServer[pluginv1.SubscribeResponse]) error {
	e.h.events.mu.Lock()
	n := len(e.h.events.all)
	e.h.events.mu.Unlock()
	if err := out.SendHeader(nil); err != nil { // from here on nothing is missed
		return err
	}
	for {
		news, err := e.h.events.after(out.Context(), n)
		if err != nil {
			return err
		}
		n += len(news)
		for _, ev := range news {
			if !slices.Contains(r.Streams, ev.Stream) {
				continue
			}
			err := out.Send(&pluginv1.SubscribeResponse{Stream: ev.Stream, Publisher: ev.Publisher, Data: ev.Data, Time: time.Now().UnixNano()})
			if err != nil {
				return err
			}
		}
	}
}
