package restconf

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/internal/yang"
)

// The bounds of what is kept of one stream: for replay, and for readers that are slower than the
// events come. Who falls off the end is cut.
const (
	keptEvents = 4096
	keptBytes  = 8 << 20
)

// histories are the streams that are recorded now, by name. One goroutine a stream takes its events
// and encodes each once, however many read it.
type histories struct {
	mu  sync.Mutex
	all map[string]*history
}

// history is the recent events of one stream. It lives as long as somebody holds it.
type history struct {
	mu      sync.Mutex
	kept    []*record
	size    int
	next    uint64
	ended   string // why no more events come
	changed together.Signal
	began   time.Time
	prefix  string // of the ids of this history: those of an earlier run are not of it
	holders int
	cancel  context.CancelFunc
	done    chan struct{}
}

// record is an event with its texts, made at the first reader that needs them.
type record struct {
	id    uint64
	event Event
	texts [3]struct {
		once sync.Once
		text []byte
	}
}

// eventNumber is what the id of the event ends with.
func (r *record) eventNumber() uint64 {
	if r.event.Number > 0 {
		return r.event.Number
	}
	return r.id
}

// source begins a stream: what happens after it has returned is delivered by run, until ctx ends. The
// error of run says why no more come.
type source func(ctx context.Context) (run func(emit func(Event)) error, err error)

// holdHistory returns the history of a stream, beginning to record it if no other caller holds it, and the
// function that gives it back.
func (h *histories) holdHistory(name string, now time.Time, from source) (*history, func(), error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.all[name]
	if s == nil {
		ctx, cancel := context.WithCancel(context.Background())
		run, err := from(ctx)
		if err != nil {
			cancel()
			return nil, nil, err
		}
		s = &history{
			began:  now,
			cancel: cancel,
			done:   make(chan struct{}),
			prefix: strconv.FormatInt(now.UnixMicro(), 36) + "-",
		}
		if h.all == nil {
			h.all = map[string]*history{}
		}
		h.all[name] = s
		go func() {
			defer close(s.done)
			why := "the stream has ended"
			if err := run(s.addEvent); err != nil {
				why = err.Error()
			}
			s.end(why)
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.all[name] == s { // the next reader begins again
				delete(h.all, name)
			}
		}()
	}
	s.holders++
	return s, sync.OnceFunc(func() { h.releaseHistory(name, s) }), nil
}

func (h *histories) releaseHistory(name string, s *history) {
	h.mu.Lock()
	s.holders--
	last := s.holders == 0
	if last && h.all[name] == s {
		delete(h.all, name)
	}
	h.mu.Unlock()
	if last {
		s.cancel()
		<-s.done
	}
}

// began says since when the events of a stream are kept; false when they are not.
func (h *histories) keptSince(name string) (time.Time, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.all[name]
	if s == nil {
		return time.Time{}, false
	}
	return s.began, true
}

func (s *history) addEvent(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.kept = append(s.kept, &record{id: s.next, event: e})
	s.size += len(e.Data)
	for len(s.kept) > keptEvents || s.size > keptBytes && len(s.kept) > 1 {
		s.size -= len(s.kept[0].event.Data)
		s.kept[0] = nil
		s.kept = s.kept[1:]
	}
	s.changed.Fire()
}

func (s *history) end(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = why
	s.changed.Fire()
}

// newestID is the id of the last event.
func (s *history) newestID() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// beganAfter reports whether events from a time on may be missing.
func (s *history) beganAfter(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept) > 0 && !s.kept[0].event.Time.After(t) {
		return false
	}
	return s.began.After(t) || s.next > uint64(len(s.kept))
}

// oldestTime is since when events are kept.
func (s *history) oldestTime() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next > uint64(len(s.kept)) && len(s.kept) > 0 {
		return s.kept[0].event.Time
	}
	return s.began
}

// idBefore is the id before the first event at or after a time.
func (s *history) idBefore(t time.Time) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.kept {
		if !r.event.Time.Before(t) {
			return r.id - 1
		}
	}
	return s.next
}

// eventsAfter returns the events after an id, at most a few at once, and what is closed when there are
// more. lost says that events after id are not kept any more, ended why none will come.
func (s *history) eventsAfter(id uint64) (events []*record, more <-chan struct{}, lost bool, ended string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.next - uint64(len(s.kept))
	if id < first {
		return nil, nil, true, ""
	}
	events = s.kept[min(id-first, uint64(len(s.kept))):]
	if len(events) > 64 {
		events = events[:64]
	}
	return append([]*record(nil), events...), s.changed.Wait(), false, s.ended
}

// resumeID is the id that a client saw last, as it was sent with the event; false when it is not of
// this history.
func (s *history) resumeID(lastEventID string) (uint64, bool) {
	rest, ok := strings.CutPrefix(lastEventID, s.prefix)
	id, err := strconv.ParseUint(rest, 10, 64)
	return id, ok && err == nil && id <= s.newestID()
}

// The forms of an event.
const (
	asDraft = iota // JSON of the older controllers
	asJSON
	asXML
)

// encodedText is the event in a form. Set says which modules there are.
func (r *record) encodedText(form int, sets ...*yang.Set) []byte {
	t := &r.texts[form]
	t.once.Do(func() { t.text = r.event.encode(form, sets) })
	return t.text
}

// netconfNotification is the XML namespace of notifications (RFC 8040 section 6.4).
const netconfNotification = "urn:ietf:params:xml:ns:netconf:notification:1.0"

// encode writes the event, without line ends; nil when it cannot be written.
func (e *Event) encode(form int, sets []*yang.Set) []byte {
	when := e.Time.UTC().Format(time.RFC3339Nano)
	if form != asXML {
		name := "notification"
		if form == asJSON {
			name = "ietf-restconf:notification"
		}
		text, err := json.Marshal(map[string]any{name: map[string]any{
			"eventTime": when,
			e.Name:      e.Data,
		}})
		if err != nil {
			return nil
		}
		return text
	}
	text, err := e.encodeXML(sets)
	if err != nil {
		return nil
	}
	out := `<notification xmlns="` + netconfNotification + `"><eventTime>` + when + `</eventTime>` + string(text) + `</notification>`
	return []byte(strings.ReplaceAll(out, "\n", "&#10;")) // a line end would end the data
}

// hideSecrets takes the secrets out of an event. Of one without a schema, or of another form than its schema says, those
// are hidden that have the name of a secret.
func (e *Event) hideSecrets(set *yang.Set) error {
	module, name, _ := strings.Cut(e.Name, ":")
	n := cmp.Or(set.Notification(module, name), set.Data(module, name))
	switch {
	case n != nil && !n.HasSecrets(), n == nil && !yang.TextLooksSecret(e.Data):
		return nil
	case n == nil:
		d, err := yang.DecodeAny(e.Data)
		if err != nil {
			return err
		}
		d.HideGuessed()
		e.Data = d.Append(nil, yang.Canonical)
		return nil
	}
	notice, err := set.DecodeNotification(module, name, e.Data)
	if err != nil {
		return err
	}
	notice.Top.HideSecrets()
	e.Data = notice.Top.Append(nil, yang.Canonical)
	return nil
}

// encodeXML writes the notification's element by its schema, or as data without one.
func (e *Event) encodeXML(sets []*yang.Set) ([]byte, error) {
	if e.XML != nil {
		return e.XML()
	}
	if n, _ := e.decodeBySet(sets); n != nil {
		return n.Top.AppendXML(nil), nil
	}
	text, err := json.Marshal(map[string]json.RawMessage{e.Name: e.Data})
	if err != nil {
		return nil, err
	}
	return yang.XMLOf(text, "ietf-restconf", nil, sets...)
}

// decodeBySet reads the event by the set that has its schema; nil when none has, or the event does not fit it.
func (e *Event) decodeBySet(sets []*yang.Set) (*yang.Notice, *yang.Set) {
	module, name, _ := strings.Cut(e.Name, ":")
	for _, s := range sets {
		if n, err := s.DecodeNotification(module, name, e.Data); err == nil {
			return n, s
		}
	}
	return nil, nil
}
