package plugintest

import (
	"context"
	"encoding/json"
	"slices"
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

// Publish sends an event as if another plugin had. data is encoded as JSON.
func (h *Host) Publish(stream, notification string, data any) error {
	raw, err := json.Marshal(map[string]any{notification: data})
	if err != nil {
		return err
	}
	h.putEvent(Event{
		Stream:    stream,
		Publisher: "host",
		Data:      raw,
	})
	return nil
}

// Events returns what was published from the n-th event on, counted from 0, waiting
// for the first of them until ctx ends.
func (h *Host) Events(ctx context.Context, n int) (news []Event, err error) {
	err = h.waitUntil(ctx, func() bool {
		news = slices.Clone(h.events[min(n, len(h.events)):])
		return len(news) > 0
	})
	return news, err
}

func (h *Host) putEvent(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	h.wakeWaiters()
}

type eventsServer struct {
	pluginv1.UnimplementedHostEventsServer
	h *Host
}

func (e *eventsServer) Publish(
	ctx context.Context,
	r *pluginv1.PublishRequest,
) (*pluginv1.PublishResponse, error) {
	m := guestOf(ctx).manifest
	if !slices.Contains(m.GetStreams(), r.Stream) {
		return nil, fault.At(
			fault.Denied,
			r.Stream,
			"the manifest does not list this stream under `streams`",
		)
	}
	var one map[string]json.RawMessage
	err := json.Unmarshal(r.Data, &one)
	if err != nil || len(one) != 1 {
		return nil, fault.At(
			fault.Malformed,
			r.Stream,
			"an event is a JSON object with one member, \"module:notification\"",
		)
	}
	e.h.putEvent(Event{
		Stream:    r.Stream,
		Publisher: m.GetName(),
		Data:      r.Data,
	})
	return &pluginv1.PublishResponse{}, nil
}

func (e *eventsServer) Subscribe(
	r *pluginv1.SubscribeRequest,
	out grpc.ServerStreamingServer[pluginv1.SubscribeResponse],
) error {
	e.h.mu.Lock()
	n := len(e.h.events)
	e.h.mu.Unlock()
	if err := out.SendHeader(nil); err != nil { // from here on nothing is missed
		return err
	}
	for {
		news, err := e.h.Events(out.Context(), n)
		if err != nil {
			return err
		}
		n += len(news)
		for _, ev := range news {
			if !slices.Contains(r.Streams, ev.Stream) {
				continue
			}
			err := out.Send(&pluginv1.SubscribeResponse{
				Stream:    ev.Stream,
				Publisher: ev.Publisher,
				Data:      ev.Data,
				Time:      time.Now().UnixNano(),
			})
			if err != nil {
				return err
			}
		}
	}
}

type rolesServer struct {
	pluginv1.UnimplementedHostRolesServer
	h *Host
}

// Hold gives the role to whoever comes when it is free.
func (r *rolesServer) Hold(
	in *pluginv1.HoldRequest,
	out grpc.ServerStreamingServer[pluginv1.HoldResponse],
) error {
	g := guestOf(out.Context())
	if !slices.Contains(g.manifest.GetRoles(), in.Role) {
		return fault.At(fault.Denied, in.Role, "the manifest does not list this role under `roles`")
	}
	epoch := uint64(0)
	if err := r.h.waitUntil(out.Context(), func() bool {
		if r.h.roles[in.Role] != nil {
			return false
		}
		r.h.roles[in.Role] = g
		epoch = r.h.commitWrites(nil)
		return true
	}); err != nil {
		return err
	}
	defer func() {
		r.h.mu.Lock()
		defer r.h.mu.Unlock()
		delete(r.h.roles, in.Role)
		r.h.wakeWaiters()
	}()
	if err := out.Send(&pluginv1.HoldResponse{Epoch: epoch}); err != nil {
		return err
	}
	<-out.Context().Done()
	return out.Context().Err()
}
