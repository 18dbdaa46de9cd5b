package restconf

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

// recheck is how often a subscription without events looks whether its user may still read it.
const recheck = time.Second

// subscriber is the request that reads a subscription.
type subscriber struct {
	*reader
	s      *subscription
	number int  // of the terms that were sent to it
	replay bool // and the end of the replay was not sent
	quiet  int  // looks without an event
}

// followSubscription sends the events of a subscription until it ends or the client leaves.
func (x *exchange) followSubscription(s *subscription) error {
	r := &subscriber{
		reader: x.newReader(x.w, x.r),
		s:      s,
		replay: !s.replay.IsZero(),
	}
	r.form = s.form
	start := s.since
	if r.replay {
		start = s.replay
	}
	for _, name := range x.streamsOf(s.stream) {
		if s.stream == allStreams && !r.mayFollow(name) {
			continue
		}
		kept, release, err := x.streamsKept.holdHistory(name, x.o.Now(), x.pluginSource(name))
		if err != nil {
			return err
		}
		defer release()
		r.addStream(name, kept, start)
	}
	t, _, _ := s.current()
	r.number = t.number
	defer x.o.Waiting(x.r.Context())()
	r.run()
	return nil
}

// run sends events, and looks after rights and changes between them.
func (r *subscriber) run() {
	h := r.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-cache, no-store")
	r.w.WriteHeader(http.StatusOK)
	tick := time.NewTicker(recheck)
	defer tick.Stop()
	if len(r.parts) == 0 && r.s.stream != allStreams { // it went before it was read
		r.terminate(streamUnavailable)
		return
	}
	if !r.sendMissed() {
		return
	}
	for r.flush() {
		t, ended, changed := r.s.current()
		if !r.checkState(&t, ended) {
			return
		}
		wait := []reflect.SelectCase{receiveCase(r.r.Context().Done()), receiveCase(tick.C), receiveCase(changed)}
		sent := false
		for _, p := range r.parts {
			events, more, lost, ended := p.eventsAfter(p.at)
			switch {
			case lost:
				r.terminate(readerTooSlow)
				return
			case len(events) > 0:
				if !r.sendAll(p, &t, events) {
					return
				}
				sent = true
			case ended != "":
				r.terminate(streamUnavailable)
				return
			}
			wait = append(wait, receiveCase(more))
		}
		if sent {
			continue
		}
		if r.replay {
			r.replay = false
			r.tell("replay-completed", nil)
			continue
		}
		chosen, _, _ := reflect.Select(wait)
		if chosen == 0 || chosen == 1 && !r.keepAlive() {
			return
		}
	}
}

// checkState reports changes to the client; false at the end.
func (r *subscriber) checkState(t *terms, ended string) bool {
	switch {
	case ended != "":
		r.terminate(ended)
		return false
	case !r.mayGoOn():
		r.terminate(streamUnavailable)
		return false
	case !t.stop.IsZero() && !r.o.Now().Before(t.stop):
		r.complete()
		return false
	case t.number != r.number:
		r.number = t.number
		members := map[string]any{"stream": r.s.stream}
		if t.text != "" {
			members["stream-xpath-filter"] = t.text
		}
		if !t.stop.IsZero() {
			members["stop-time"] = t.stop.UTC().Format(time.RFC3339Nano)
		}
		r.tell("subscription-modified", members)
	}
	return true
}

// keepAlive sends a comment now and then; false when the client is gone.
func (r *subscriber) keepAlive() bool {
	r.quiet++
	if r.quiet%int(keepAlive/recheck) != 0 {
		return true
	}
	return r.sendComment("still here")
}

// mayGoOn asks with the roles of now: whether the user may read the subscription, and its stream.
func (r *subscriber) mayGoOn() bool {
	ctx, may := r.renew(r.r.Context())
	r.asked = ctx
	if !may || r.o.MayFollow == nil {
		return may
	}
	if r.s.stream != allStreams {
		return r.o.MayFollow(ctx, r.s.stream)
	}
	return len(r.parts) == 0 || slices.ContainsFunc(r.parts, func(p *part) bool {
		return r.o.MayFollow(ctx, p.name)
	})
}

// mayFollow asks the same about one of all streams.
func (r *subscriber) mayFollow(stream string) bool {
	ctx, may := r.renew(r.r.Context())
	return may && (r.o.MayFollow == nil || r.o.MayFollow(ctx, stream))
}

// sendAll sends events, asking before each; false at the end.
func (r *subscriber) sendAll(p *part, t *terms, events []*record) bool {
	for _, e := range events {
		switch {
		case !r.mayGoOn():
			r.terminate(streamUnavailable)
			return false
		case !t.stop.IsZero() && e.event.Time.After(t.stop):
			r.complete()
			return false
		}
		p.at, p.id = e.id, e.eventNumber()
		if r.sees(p, t, e) && !r.send(e.encodedText(r.form, r.sets...)) {
			return false
		}
	}
	return true
}

// sees reports whether the client wants an event and may have it, as mayGoOn found its roles.
func (r *subscriber) sees(p *part, t *terms, e *record) bool {
	if r.s.stream == allStreams && r.o.MayFollow != nil && !r.o.MayFollow(r.asked, p.name) {
		return false
	}
	return t.passes(&e.event, r.sets) && (r.o.Visible == nil || r.o.Visible(r.asked, &e.event))
}

func (r *subscriber) send(text []byte) bool {
	if text == nil {
		r.o.Log.WarnContext(r.r.Context(), "restconf: an event cannot be written and was left out", "stream", r.s.stream)
		return true
	}
	_, err := fmt.Fprintf(r.w, "data: %s\nid: %s\n\n", text, r.eventID())
	return err == nil
}

// tell sends a notification about the subscription itself.
func (r *subscriber) tell(name string, members map[string]any) {
	all := map[string]any{"id": r.s.id}
	for k, v := range members {
		all[k] = v
	}
	data, err := json.Marshal(all)
	if err != nil {
		return
	}
	e := Event{
		Time: r.o.Now(),
		Name: "ietf-subscribed-notifications:" + name,
		Data: data,
	}
	r.send(e.encode(r.form, r.sets))
}

// terminate ends the subscription with its reason.
func (r *subscriber) terminate(reason string) {
	r.subscribed.end(r.s.id, reason)
	r.tell("subscription-terminated", map[string]any{"reason": reason})
	r.sendComment("end: " + strings.ReplaceAll(reason, "-", " "))
}

// complete ends the subscription at its stop-time.
func (r *subscriber) complete() {
	r.subscribed.end(r.s.id, noSuchSubscription)
	r.tell("subscription-completed", nil)
	r.sendComment("end: stop-time")
}
