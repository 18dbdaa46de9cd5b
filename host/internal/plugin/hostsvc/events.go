package hostsvc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/events"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// queued is how many events wait for a slow plugin.
const queued = 1024

type eventsServer struct {
	pluginv1.UnimplementedHostEventsServer
	s *Server
}

func (e *eventsServer) Publish(
	_ context.Context,
	r *pluginv1.PublishRequest,
) (*pluginv1.PublishResponse, error) {
	if err := e.s.Allowed(grant.Service, grant.Events); err != nil {
		return nil, err
	}
	if !slices.Contains(e.s.Manifest().GetStreams(), r.Stream) {
		return nil, fault.At(
			fault.Denied,
			r.Stream,
			"the manifest does not list this stream under `streams`",
		)
	}
	q := e.s.services.Quotas.EventBytes
	if q > 0 && len(r.Data) > q {
		return nil, fault.At(
			fault.TooBig,
			r.Stream,
			"the event has %d bytes; at most %d are taken",
			len(r.Data),
			q,
		)
	}
	if !e.s.events.Allow() {
		e.s.noteQuotaExceeded("events")
		return nil, fault.At(
			fault.Unavailable,
			r.Stream,
			"plugin %s publishes more than %d events a second; try again later",
			e.s.plugin,
			e.s.services.Quotas.Events,
		)
	}
	if !e.s.account.published.AllowN(time.Now(), len(r.Data)) {
		e.s.noteQuotaExceeded("events")
		return nil, fault.At(
			fault.Unavailable,
			r.Stream,
			"plugin %s publishes more than %d MiB of events a second; try again later",
			e.s.plugin,
			e.s.services.Quotas.PublishBytes>>20,
		)
	}
	var m map[string]json.RawMessage
	d := json.NewDecoder(bytes.NewReader(r.Data))
	err := d.Decode(&m)
	if err != nil || len(m) != 1 || d.More() {
		return nil, fault.At(
			fault.Malformed,
			r.Stream,
			"an event is a JSON object with one member, \"module:notification\"",
		)
	}
	e.s.services.Bus.Put(events.Event{
		Stream:    r.Stream,
		Publisher: e.s.plugin,
		Data:      r.Data,
		Time:      time.Now(),
		Carry:     !r.Local,
	})
	return &pluginv1.PublishResponse{}, nil
}

func (e *eventsServer) Subscribe(
	r *pluginv1.SubscribeRequest,
	out grpc.ServerStreamingServer[pluginv1.SubscribeResponse],
) error {
	if len(r.Streams) == 0 {
		return fault.New(fault.Missing, "a subscription must name at least one stream")
	}
	for _, stream := range r.Streams {
		if slices.Contains(e.s.Manifest().GetStreams(), stream) { // its own
			continue
		}
		if err := e.s.Allowed(grant.Stream, stream); err != nil {
			return err
		}
	}
	sub := e.s.services.Bus.Subscribe(queued, r.Streams...)
	defer sub.Close()
	for {
		ev, err := sub.Next(out.Context())
		if errors.Is(err, events.ErrClosed) {
			return fault.New(fault.Unavailable, "the controller is stopping")
		}
		if err != nil {
			return err
		}
		if err := out.Send(&pluginv1.SubscribeResponse{
			Stream:    ev.Stream,
			Publisher: ev.Publisher,
			Data:      ev.Data,
			Time:      ev.Time.UnixNano(),
			Lost:      ev.Lost,
		}); err != nil {
			return err
		}
	}
}
