package restconf

import (
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
		m := merged{Handler: h, w: w, r: r, may: may, rc: http.NewResponseController(w)}
		defer m.release()
		m.hold(r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-cache, no-store")
		w.WriteHeader(http.StatusOK)
		m.run()
	})
}

type merged struct {
	*Handler
	w     http.ResponseWriter
	r     *http.Request
	rc    *http.ResponseController
	may   func(context.Context, string) bool
	parts []*part
	sets  []*yang.Set
}

// part is one of the streams, and how far it was read.
type part struct {
	*history
	name    string
	at      uint64
	release func()
}

// hold begins to read the streams that are installed, each after what last names of it.
func (m *merged) hold(last string) {
	seen := strings.Split(last, ",")
	m.sets = []*yang.Set{m.o.Catalog.Installed().Schema}
	for _, s := range m.o.Catalog.Installed().Streams {
		if m.o.Events == nil || !m.may(m.r.Context(), s.Name) {
			continue
		}
		k, release, err := m.streamsKept.hold(s.Name, m.o.Now(), m.plugin(s.Name))
		if err != nil {
			m.o.Log.WarnContext(m.r.Context(), "restconf: a stream is left out of all events", "stream", s.Name, "error", err)
			continue
		}
		p := &part{history: k, name: s.Name, at: k.newest(), release: release}
		if last != "" {
			p.at = k.from(time.Time{}) // it missed all that is kept, unless it says otherwise
			for _, one := range seen {
				if id, ok := k.resume(one); ok {
					p.at = id
				}
			}
		}
		m.parts = append(m.parts, p)
	}
}

func (m *merged) release() {
	for _, p := range m.parts {
		p.release()
	}
}

// id says how far all streams were read.
func (m *merged) id() string {
	var ids []string
	for _, p := range m.parts {
		ids = append(ids, p.prefix+strconv.FormatUint(p.at, 10))
	}
	return strings.Join(ids, ",")
}

func (m *merged) run() {
	defer m.o.Waiting(m.r.Context())()
	ctx := m.r.Context()
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for m.write(": here\n\n") {
		wait := []reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ctx.Done())}, {Dir: reflect.SelectRecv, Chan: reflect.ValueOf(tick.C)}}
		sent := false
		for _, p := range m.parts {
			events, more, lost, ended := p.after(p.at)
			if lost || ended != "" {
				return // the browser connects again, and gets what is kept
			}
			for _, e := range events {
				p.at = e.id
				text := e.text(asJSON, m.sets...)
				if text == nil {
					continue
				}
				if sent = true; !m.write(fmt.Sprintf("event: %s\ndata: %s\nid: %s\n\n", p.name, text, m.id())) {
					return
				}
			}
			wait = append(wait, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(more)})
		}
		if sent {
			continue
		}
		if chosen, _, _ := reflect.Select(wait); chosen == 0 {
			return
		}
		if !m.o.Still(ctx) || slices.ContainsFunc(m.parts, func(p *part) bool { return !m.may(ctx, p.name) }) {
			return
		}
	}
}

// write sends text now. A client that does not read must not hold the goroutine for ever.
func (m *merged) write(text string) bool {
	_ = m.rc.SetWriteDeadline(time.Now().Add(2 * keepAlive))
	_, err := fmt.Fprint(m.w, text)
	return err == nil && m.rc.Flush() == nil
}
