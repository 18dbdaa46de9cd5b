package restconf

import (
	"encoding/json"
	"net/http"
	"time"

	"ctl.internal/sdk/fault"
)

// streams serves …/streams, …/streams/stream/NAME and the form …/streams/NAME.
func (x *exchange) streams() {
	if !x.methods("GET, HEAD, OPTIONS", http.MethodGet) {
		return
	}
	name := x.shift()
	if name == "stream" {
		name = x.shift()
	}
	if len(x.path) > 0 {
		x.notFound()
		return
	}
	if name == "" {
		x.replyValue(map[string]any{"streams": x.streamList()})
		return
	}
	for _, s := range x.installed().Streams {
		if s.Name == name && x.o.Events != nil {
			x.follow(name)
			return
		}
	}
	x.fail(&statusError{fault.New(fault.NotFound, "there is no event stream %.100q", name), http.StatusNotFound, "invalid-value"})
}

// streamList is container streams of ietf-restconf-monitoring (RFC 8040 section 9.3).
func (x *exchange) streamList() map[string]any {
	type access struct {
		Encoding string `json:"encoding"`
		Location string `json:"location"`
	}
	type stream struct {
		Name        string   `json:"name"`
		Description string   `json:"description,omitempty"`
		Replay      bool     `json:"replay-support"`
		Access      []access `json:"access"`
	}
	list := []stream{}
	for _, s := range x.installed().Streams {
		list = append(list, stream{Name: s.Name, Description: s.Description,
			Access: []access{{Encoding: "json", Location: x.env.root + "/streams/stream/" + s.Name}}})
	}
	return map[string]any{"stream": list}
}

// keepAlive is how often an idle stream sends a comment, so that neither side
// takes the other for gone.
const keepAlive = 15 * time.Second

// follow sends events as server-sent events (RFC 8040 section 6.4) until the
// client leaves, the stream ends, or its user may not read it any more.
func (x *exchange) follow(name string) {
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream")
	if x.r.Method == http.MethodHead {
		x.w.WriteHeader(http.StatusOK)
		return
	}
	events, err := x.o.Events.Subscribe(x.r.Context(), name)
	if err != nil {
		x.fail(err)
		return
	}
	h.Set("Cache-Control", "no-cache, no-store")
	x.w.WriteHeader(http.StatusOK)
	rc := http.NewResponseController(x.w)
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		// A client that does not read must not hold the goroutine for ever; not every
		// ResponseWriter knows deadlines.
		_ = rc.SetWriteDeadline(time.Now().Add(2 * keepAlive))
		if err := rc.Flush(); err != nil {
			return
		}
		if !x.sendNext(events, tick.C) {
			return
		}
	}
}

// sendNext waits for an event and writes it, or that there was none for a while; false
// when the stream is over.
func (x *exchange) sendNext(events <-chan Event, idle <-chan time.Time) bool {
	arrived := x.o.Waiting(x.r.Context())
	select {
	case <-x.r.Context().Done():
		arrived()
		return false
	case e, open := <-events:
		arrived()
		return open && x.o.Still(x.r.Context()) && x.send(e) == nil
	case <-idle:
		arrived()
		if !x.o.Still(x.r.Context()) {
			return false
		}
		_, err := x.w.Write([]byte(": still here\n\n"))
		return err == nil
	}
}

// send writes one event.
func (x *exchange) send(e Event) error {
	body, err := json.Marshal(map[string]any{x.env.name("notification"): map[string]any{
		"eventTime": e.Time.UTC().Format(time.RFC3339Nano), e.Name: e.Data,
	}})
	if err != nil {
		x.o.Log.WarnContext(x.r.Context(), "restconf: an event is not JSON and was left out", "error", err)
		return nil
	}
	_, err = x.w.Write(append(append([]byte("data: "), body...), '\n', '\n'))
	return err
}
