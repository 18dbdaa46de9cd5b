package restconf

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// serveStreams serves …/streams, and each stream at …/streams/json/NAME, …/streams/xml/NAME,
// …/streams/stream/NAME and …/streams/NAME.
func (x *exchange) serveStreams() error {
	form := asJSON
	if x.env == legacy {
		form = asDraft
	}
	name := x.shiftSegment()
	switch {
	case name == "xml" && len(x.path) > 0:
		form, name = asXML, x.shiftSegment()
	case (name == "stream" || name == "json") && len(x.path) > 0:
		name = x.shiftSegment()
	}
	switch {
	case name == dataChange:
		return x.followData(form)
	case len(x.path) > 0:
		return x.notFound()
	case name == "" || name == "stream":
		return x.replyValue(map[string]any{"streams": x.streamList(nil)})
	}
	for _, s := range x.installed().Streams {
		if s.Name == name {
			return x.followStream(name, form, x.pluginSource(name), false)
		}
	}
	return fault.New(fault.NotFound, "there is no event stream %.100q", name)
}

// pluginSource is the source of a stream that plugins publish to.
func (h *Handler) pluginSource(name string) source {
	return func(ctx context.Context) (func(func(Event)) error, error) {
		run := h.o.Events(ctx, name)
		return func(emit func(Event)) error {
			return run(func(e Event) {
				if err := h.checkEvent(ctx, &e); err != nil {
					const text = "restconf: an event does not satisfy the conditions of its module and was left out"
					h.o.Log.WarnContext(ctx, text, "stream", name, "event", e.Name, "error", err)
					return
				}
				if err := e.hideSecrets(h.o.Catalog.Installed().Schema); err != nil {
					h.o.Log.WarnContext(
						ctx,
						"restconf: an event is left out, since its secrets cannot be hidden",
						"event",
						e.Name,
						"error",
						err,
					)
					return
				}
				emit(e)
			})
		}, nil
	}
}

// checkEvent checks the conditions of a notification, which may look at the configuration and the observed state (RFC 7950
// section 6.4.1). An event without a schema has none.
func (h *Handler) checkEvent(ctx context.Context, e *Event) error {
	set := h.o.Catalog.Installed().Schema
	n, _ := e.decodeBySet([]*yang.Set{set})
	if n == nil || !n.HasConditions() {
		return nil
	}
	tops, err := h.everything(ctx, set)
	if err != nil {
		return err
	}
	return n.Check(tops)
}

// Record keeps the events of the installed streams for replay until ctx ends. changed is closed
// when what is installed may have changed, and asked for again then.
func (h *Handler) Record(ctx context.Context, changed func() <-chan struct{}) error {
	held := map[string]func(){}
	defer func() {
		for _, release := range held {
			release()
		}
	}()
	for {
		next := changed()
		want := map[string]bool{}
		for _, s := range h.o.Catalog.Installed().Streams {
			want[s.Name] = true
			if held[s.Name] == nil {
				var err error
				if _, held[s.Name], err = h.streamsKept.holdHistory(s.Name, h.o.Now(), h.pluginSource(s.Name)); err != nil {
					h.o.Log.WarnContext(
						ctx,
						"restconf: the events of a stream are not kept",
						"stream",
						s.Name,
						"error",
						err,
					)
					delete(held, s.Name)
				}
			}
		}
		for name, release := range held {
			if !want[name] {
				release()
				delete(held, name)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-next:
		}
	}
}

// access is where a stream can be read in an encoding.
type access struct {
	Encoding string `json:"encoding"`
	Location string `json:"location"`
}

type streamEntry struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Replay      bool     `json:"replay-support"`
	Since       string   `json:"replay-log-creation-time,omitempty"`
	Access      []access `json:"access"`
}

// streamList is container streams of ietf-restconf-monitoring (RFC 8040 section 9.3). With a path
// to the stream of a subscription to data, that stream is in it.
func (x *exchange) streamList(path []string) map[string]any {
	list := []streamEntry{}
	for _, s := range x.installed().Streams {
		e := streamEntry{
			Name:        s.Name,
			Description: s.Description,
			Access:      x.accessTo(url.PathEscape(s.Name)),
		}
		if t, ok := x.streamsKept.keptSince(s.Name); ok {
			e.Replay, e.Since = true, t.UTC().Format(time.RFC3339Nano)
		}
		list = append(list, e)
	}
	for _, name := range path {
		if s, ok := readDataStream(name); ok {
			list = append(
				list,
				streamEntry{
					Name:        name,
					Description: "Changes of " + s.path + " (" + s.store + ").",
					Access:      x.accessTo(s.location()),
				},
			)
		}
	}
	return map[string]any{"stream": list}
}

func (x *exchange) accessTo(name string) []access {
	if x.env == legacy {
		return []access{{"json", legacy.root + "/streams/stream/" + name}}
	}
	return []access{{"json", rfc8040.root + "/streams/json/" + name}, {"xml", rfc8040.root + "/streams/xml/" + name}}
}

// span is which events of a stream a client asks for (RFC 8040 section 4.8).
type span struct {
	start, stop time.Time
	filter      *yang.XPath
}

func (x *exchange) parseSpan() (s span, err error) {
	q, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return s, fault.New(fault.Invalid, "the query cannot be read: %v", err)
	}
	for name, values := range q {
		v := values[0]
		switch name {
		case "start-time", "stop-time":
			t, err := time.Parse(time.RFC3339, v)
			if err != nil {
				return s, fault.New(
					fault.Invalid,
					"%s must be a time such as 2026-01-02T15:04:05Z, not %.40q",
					name,
					v,
				)
			}
			if name == "start-time" {
				s.start = t
			} else {
				s.stop = t
			}
		case "filter":
			if s.filter, err = parseWhere(v); err != nil {
				return s, err
			}
		case "scope":
		default:
			if x.env == rfc8040 {
				return s, fault.New(
					fault.Invalid,
					"the query parameter %.40q is not allowed for a stream",
					name,
				)
			}
		}
	}
	switch {
	case s.start.After(x.o.Now()):
		err = fault.New(fault.Invalid, "start-time is in the future")
	case !s.stop.IsZero() && s.start.IsZero():
		err = fault.New(fault.Invalid, "stop-time needs a start-time")
	case !s.stop.IsZero() && s.stop.Before(s.start):
		err = fault.New(fault.Invalid, "stop-time is before start-time")
	}
	return s, err
}

// followStream sends events as server-sent events (RFC 8040 section 6.4) until the client leaves, the
// stream ends, or its user may not read it any more. reports: the source itself reports what the client missed.
func (x *exchange) followStream(name string, form int, from source, reports bool) error {
	sp, err := x.parseSpan()
	if err != nil {
		return err
	}
	if x.r.Method == http.MethodHead {
		x.w.Header().Set("Content-Type", eventStream)
		x.w.WriteHeader(http.StatusOK)
		return nil
	}
	s, release, err := x.streamsKept.holdHistory(name, x.o.Now(), from)
	if err != nil {
		return err
	}
	defer release()
	r := x.newReader(x.w, x.r)
	r.form, r.span = form, sp
	r.addStream(name, s, sp.start)
	if reports {
		r.parts[0].lost = ""
	}
	r.sendEvents()
	return nil
}
