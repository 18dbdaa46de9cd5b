package restconf

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/internal/yang"
)

const eventStream = "text/event-stream"

// keepAlive is how often an idle stream sends a comment, so that neither side
// takes the other for gone.
const keepAlive = 15 * time.Second

// reader is one client of a stream, or of all streams that it may read.
type reader struct {
	*Handler
	w     http.ResponseWriter
	r     *http.Request
	rc    *http.ResponseController
	parts []*part
	form  int
	span  span
	sets  []*yang.Set
	// may is set for a client of all streams: it reports whether the client may read one.
	may func(ctx context.Context, stream string) bool
	// asked is the context with the roles that the user had when that was last looked at, before each batch of events.
	asked context.Context
}

// part is one of the streams, and how far it was read.
type part struct {
	*history
	name string
	at   uint64 // the event that was read last
	id   uint64 // what its id ends with
	lost string // what the client missed and is not stored
}

func (h *Handler) newReader(w http.ResponseWriter, r *http.Request) *reader {
	out := &reader{
		Handler: h,
		w:       w,
		r:       r,
		rc:      http.NewResponseController(w),
		sets:    []*yang.Set{h.o.Catalog.Installed().Schema},
	}
	if own, err := ownSchema(); err == nil {
		out.sets = append(out.sets, own)
	}
	return out
}

// addStream reads a stream after the event that the client saw last, else from a time on, else what comes from now on. Where
// events between are not stored, an event reports that first.
func (r *reader) addStream(name string, s *history, start time.Time) {
	p := &part{history: s, name: name, at: s.newestID()}
	if !start.IsZero() {
		if p.at = s.idBefore(start); s.beganAfter(start) {
			p.lost = "events before " + s.oldestTime().UTC().Format(time.RFC3339) + " are not stored"
		}
	}
	if last := r.r.Header.Get("Last-Event-ID"); last != "" {
		p.at = s.idBefore(time.Time{}) // it missed what is kept, or more, unless it says otherwise
		p.lost = fmt.Sprintf(
			"the event %.60q is not stored: events before the next one may be missing",
			last,
		)
		for id := range strings.SplitSeq(last, ",") {
			seen, ok := s.resumeID(id)
			if ok && seen >= p.at {
				p.at, p.lost = seen, ""
			}
		}
	}
	p.id = p.at
	r.parts = append(r.parts, p)
}

// sendMissed sends the events that say what was missed. A client of all streams reads its data again anyway.
func (r *reader) sendMissed() bool {
	for _, p := range r.parts {
		if p.lost == "" || r.may != nil {
			continue
		}
		e := missedEvent(p.lost, r.o.Now(), 0)
		_, err := fmt.Fprintf(r.w, "data: %s\nid: %s\n\n", e.encode(r.form, r.sets), r.eventID())
		if err != nil {
			return false
		}
	}
	return true
}

// sendEvents sends events until the client leaves, a stream ends, or the user may not read one any more.
func (r *reader) sendEvents() {
	h := r.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-cache, no-store")
	r.w.WriteHeader(http.StatusOK)
	// An event wakes all readers at once: they must not take the places of other requests. Their
	// number is bounded by that of connections.
	defer r.o.Waiting(r.r.Context())()
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	var stop <-chan time.Time
	if !r.span.stop.IsZero() {
		t := time.NewTimer(time.Until(r.span.stop))
		defer t.Stop()
		stop = t.C
	}
	if !r.sendMissed() {
		return
	}
	for stopped := false; r.flush(); {
		wait := []reflect.SelectCase{receiveCase(r.r.Context().Done()), receiveCase(tick.C), receiveCase(stop)}
		sent := false
		for _, p := range r.parts {
			events, more, lost, ended := p.eventsAfter(p.at)
			switch {
			case lost:
				r.sendComment("cut: the reader is slower than the events come, and some are not kept any more")
				return
			case len(events) > 0:
				if !r.canContinue() {
					r.sendComment("end: the user may not read this any more")
					return
				}
				if !r.sendRecords(p, events) {
					return
				}
				sent = true
			case ended != "" || stopped:
				r.sendComment("end: " + cmp.Or(ended, "stop-time"))
				return
			}
			wait = append(wait, receiveCase(more))
		}
		if sent {
			continue
		}
		switch chosen, _, _ := reflect.Select(wait); chosen {
		case 0:
			return
		case 1:
			if !r.canContinue() {
				r.sendComment("end: the user may not read this any more")
				return
			}
			if !r.sendComment("still here") {
				return
			}
		case 2:
			stopped = true
		}
	}
}

// receiveCase is the case of a select that something comes from a channel.
func receiveCase[T any](from <-chan T) reflect.SelectCase {
	return reflect.SelectCase{
		Dir:  reflect.SelectRecv,
		Chan: reflect.ValueOf(from),
	}
}

// canContinue reports whether the client may go on.
func (r *reader) canContinue() bool {
	ctx, may := r.renew(r.r.Context())
	r.asked = ctx
	return may &&
		(r.may == nil || !slices.ContainsFunc(r.parts, func(p *part) bool {
			return !r.may(ctx, p.name)
		}))
}

// flush sends what is written. A client that does not read must not hold the goroutine for ever;
// not every ResponseWriter knows deadlines.
func (r *reader) flush() bool {
	_ = r.rc.SetWriteDeadline(time.Now().Add(2 * keepAlive))
	return r.rc.Flush() == nil
}

func (r *reader) sendComment(text string) bool {
	_, err := fmt.Fprintf(r.w, ": %s\n\n", strings.ReplaceAll(text, "\n", " "))
	return err == nil && r.flush()
}

// sendRecords writes events that the client wants; false when it wants no more.
func (r *reader) sendRecords(p *part, events []*record) bool {
	for _, e := range events {
		p.at, p.id = e.id, e.eventNumber()
		if !r.span.stop.IsZero() && e.event.Time.After(r.span.stop) {
			r.sendComment("end: stop-time")
			return false
		}
		if r.span.filter != nil && !passesFilter(r.span.filter, &e.event, r.sets) {
			continue
		}
		if r.o.Visible != nil && !r.o.Visible(r.asked, &e.event) {
			continue
		}
		text := e.encodedText(r.form, r.sets...)
		if text == nil {
			r.o.Log.WarnContext(
				r.r.Context(),
				"restconf: an event cannot be written and was left out",
				"event",
				e.event.Name,
			)
			continue
		}
		kind := ""
		if r.may != nil {
			kind = "event: " + p.name + "\n"
		}
		_, err := fmt.Fprintf(r.w, "%sdata: %s\nid: %s\n\n", kind, text, r.eventID())
		if err != nil {
			return false
		}
	}
	return true
}

// eventID says how far all streams were read.
func (r *reader) eventID() string {
	var ids []string
	for _, p := range r.parts {
		ids = append(ids, p.prefix+strconv.FormatUint(p.id, 10))
	}
	return strings.Join(ids, ",")
}

// Merged serves all event streams that the caller may read as one, so that a browser needs one connection: an event
// is as in its stream, with the stream's name as its type, and its id says how far all of them were read.
// may reports whether the caller of ctx may read a stream; it is asked again while the streams last.
func (h *Handler) Merged(may func(ctx context.Context, stream string) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", "GET")
			http.Error(w, "only GET is allowed here", http.StatusMethodNotAllowed)
			return
		}
		all := h.newReader(w, r)
		all.form, all.may = asJSON, may
		for _, s := range h.o.Catalog.Installed().Streams {
			if !may(r.Context(), s.Name) {
				continue
			}
			kept, release, err := h.streamsKept.holdHistory(s.Name, h.o.Now(), h.pluginSource(s.Name))
			if err != nil {
				h.o.Log.WarnContext(
					r.Context(),
					"restconf: a stream is left out of all events",
					"stream",
					s.Name,
					"error",
					err,
				)
				continue
			}
			defer release()
			all.addStream(s.Name, kept, time.Time{})
		}
		all.sendEvents()
	})
}
