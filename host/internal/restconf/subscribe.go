package restconf

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// subscriptionInput is the input of the operations of ietf-subscribed-notifications.
type subscriptionInput struct {
	ID       uint32          `json:"id"`
	Stream   string          `json:"stream"`
	XPath    string          `json:"stream-xpath-filter"`
	Subtree  json.RawMessage `json:"stream-subtree-filter"`
	Encoding string          `json:"encoding"`
	Replay   time.Time       `json:"replay-start-time"`
	Stop     time.Time       `json:"stop-time"`
}

// callOwn answers the operations of the server's own modules.
func (x *exchange) callOwn(rpc string) func(input []byte) ([]byte, error) {
	if rpc == "create-data-change-event-subscription" {
		return x.createSubscription
	}
	return func(input []byte) ([]byte, error) {
		var in subscriptionInput
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, fault.New(fault.Invalid, "the input cannot be read: %v", err)
		}
		switch rpc {
		case "establish-subscription":
			return x.establish(&in)
		case "modify-subscription":
			return nil, x.modify(&in)
		case "delete-subscription":
			if x.subscribed.find(in.ID, x.asker(), x.o.Now()) == nil {
				return nil, noSubscription(in.ID)
			}
		}
		if !x.subscribed.end(in.ID, noSuchSubscription) {
			return nil, noSubscription(in.ID)
		}
		return nil, nil
	}
}

func noSubscription(id uint32) error {
	return fault.New(fault.NotFound, "you have no subscription %d; establish-subscription makes one", id)
}

// asker is who asks, as the owner of subscriptions.
func (x *exchange) asker() string {
	who, _ := caller.From(x.r.Context())
	return who.ID()
}

// establish answers establish-subscription.
func (x *exchange) establish(in *subscriptionInput) ([]byte, error) {
	now := x.o.Now()
	t, err := in.terms(now)
	if err != nil {
		return nil, err
	}
	if len(x.streamsOf(in.Stream)) == 0 && in.Stream != allStreams {
		return nil, fault.New(fault.Invalid, "stream: there is no event stream %.100q", in.Stream)
	}
	ctx, may := x.renew(x.r.Context())
	if may && x.o.MayFollow != nil && in.Stream != allStreams {
		may = x.o.MayFollow(ctx, in.Stream)
	}
	if !may {
		return nil, fault.New(fault.Denied, "you may not read the event stream %.100q", in.Stream)
	}
	if in.Replay.After(now) {
		return nil, fault.New(fault.Invalid, "replay-start-time is in the future")
	}
	s := &subscription{
		owner:  x.asker(),
		stream: in.Stream,
		form:   asJSON,
		since:  now,
		replay: in.Replay,
		terms:  t,
		idle:   now,
	}
	if strings.HasSuffix(in.Encoding, "xml") || in.Encoding == "" && x.xml {
		s.form = asXML
	}
	if err := x.subscribed.add(s, now); err != nil {
		return nil, err
	}
	return x.established(s, in)
}

// established is the output of establish-subscription.
func (x *exchange) established(s *subscription, in *subscriptionInput) ([]byte, error) {
	id := strconv.FormatUint(uint64(s.id), 10)
	out := map[string]any{
		"id": s.id,
		"ietf-restconf-subscribed-notifications:uri": x.env.root + "/subscriptions/" + id,
	}
	if x.env == legacy || in.Encoding == "json" || in.Encoding == "xml" {
		out["subscription-id"] = id
	}
	if !s.replay.IsZero() {
		for _, name := range x.streamsOf(s.stream) {
			if began, kept := x.streamsKept.keptSince(name); kept && began.After(s.replay) {
				out["replay-start-time-revision"] = began.UTC().Format(time.RFC3339Nano)
			}
		}
	}
	return json.Marshal(out)
}

// terms reads what a subscription asks for.
func (in *subscriptionInput) terms(now time.Time) (t terms, err error) {
	t.text, t.stop = in.XPath, in.Stop
	if in.XPath != "" {
		if t.filter, err = parseWhere(in.XPath); err != nil {
			return t, err
		}
	}
	if len(in.Subtree) > 0 {
		if err := json.Unmarshal(in.Subtree, &t.subtree); err != nil {
			return t, fault.New(fault.Invalid, "stream-subtree-filter: it must name notifications")
		}
		if t.subtree == nil {
			t.subtree = map[string]any{}
		}
	}
	if !t.stop.IsZero() && !t.stop.After(now) {
		return t, fault.New(fault.Invalid, "stop-time is not in the future")
	}
	return t, nil
}

// modify answers modify-subscription.
func (x *exchange) modify(in *subscriptionInput) error {
	s := x.subscribed.find(in.ID, x.asker(), x.o.Now())
	if s == nil {
		return noSubscription(in.ID)
	}
	t, err := in.terms(x.o.Now())
	if err != nil {
		return err
	}
	old, _, _ := s.current()
	if t.filter == nil && t.subtree == nil {
		t.filter, t.text, t.subtree = old.filter, old.text, old.subtree
	}
	if t.stop.IsZero() {
		t.stop = old.stop
	}
	s.modify(t)
	return nil
}

// streamsOf are the installed streams that a name means.
func (x *exchange) streamsOf(name string) (out []string) {
	for _, s := range x.installed().Streams {
		if s.Name == name {
			return []string{name}
		}
		out = append(out, s.Name)
	}
	if name != allStreams {
		return nil
	}
	return out
}

// listSubscriptions is container subscriptions.
func (x *exchange) listSubscriptions() map[string]any {
	list := []map[string]any{}
	for _, s := range x.subscribed.ofOwner(x.asker(), x.o.Now()) {
		t, _, _ := s.current()
		e := map[string]any{
			"id":       s.id,
			"stream":   s.stream,
			"encoding": "encode-json",
		}
		if s.form == asXML {
			e["encoding"] = "encode-xml"
		}
		if t.text != "" {
			e["stream-xpath-filter"] = t.text
		}
		if !t.stop.IsZero() {
			e["stop-time"] = t.stop.UTC().Format(time.RFC3339Nano)
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b map[string]any) int {
		return int(int64(a["id"].(uint32)) - int64(b["id"].(uint32)))
	})
	return map[string]any{"subscription": list}
}

// serveSubscription serves …/subscriptions/ID, the events of a subscription (RFC 8650 section 3.3).
func (x *exchange) serveSubscription() error {
	text := x.shiftSegment()
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil || len(x.path) > 0 {
		return x.notFound()
	}
	s := x.subscribed.find(uint32(id), x.asker(), x.o.Now())
	if s == nil {
		return noSubscription(uint32(id))
	}
	if x.r.Method == http.MethodHead {
		x.w.Header().Set("Content-Type", eventStream)
		x.w.WriteHeader(http.StatusOK)
		return nil
	}
	if !s.enter() {
		return fault.New(fault.Exists, "subscription %d is read by another request; establish one more", id)
	}
	defer func() { s.leave(x.o.Now()) }()
	return x.followSubscription(s)
}
