package restconf

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/sdk/caller"
)

// The operations of subscriptions, as the list of operations has them.
const (
	subscriptionOperations = `"ietf-subscribed-notifications:delete-subscription":[null],"ietf-subscribed-notifications:establish-subscription":[null],` +
		`"ietf-subscribed-notifications:kill-subscription":[null],"ietf-subscribed-notifications:modify-subscription":[null],`
	subscriptionElements = `<delete-subscription xmlns="urn:ietf:params:xml:ns:yang:ietf-subscribed-notifications"/>` +
		`<establish-subscription xmlns="urn:ietf:params:xml:ns:yang:ietf-subscribed-notifications"/>` +
		`<kill-subscription xmlns="urn:ietf:params:xml:ns:yang:ietf-subscribed-notifications"/>` +
		`<modify-subscription xmlns="urn:ietf:params:xml:ns:yang:ietf-subscribed-notifications"/>`
)

// subscribing is a fixture whose stream lab is kept as the controller keeps it.
type subscribing struct {
	*fixture
	events chan<- Event
	srv    *httptest.Server
}

func newSubscribing(t *testing.T) *subscribing {
	t.Helper()
	f := newFixture(t)
	events, stop := f.feed()
	srv := httptest.NewServer(f)
	t.Cleanup(func() {
		srv.Client().CloseIdleConnections()
		srv.Close()
		stop()
	})
	return &subscribing{f, events, srv}
}

// establish makes a subscription and returns its id and the address of its events.
func (s *subscribing) establish(root, input string) (id int, uri string) {
	s.t.Helper()
	a := s.want(200, "", "POST", root+"/operations/ietf-subscribed-notifications:establish-subscription", `{"ietf-subscribed-notifications:input":`+input+`}`)
	var out map[string]struct {
		ID  int    `json:"id"`
		URI string `json:"ietf-restconf-subscribed-notifications:uri"`
	}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		s.t.Fatal(err, a.body)
	}
	for _, o := range out {
		id, uri = o.ID, o.URI
	}
	if id == 0 || !strings.HasPrefix(uri, root+"/subscriptions/") {
		s.t.Fatalf("no subscription: %s", a.body)
	}
	return id, uri
}

func (s *subscribing) emit(node int, at time.Time) {
	s.events <- Event{Time: at, Name: "lab:link-down", Data: fmt.Appendf(nil, `{"node-id": %d}`, node)}
}

func (s *subscribing) operation(code int, name, input string) {
	s.t.Helper()
	s.want(code, "", "POST", "/rests/operations/ietf-subscribed-notifications:"+name, `{"ietf-subscribed-notifications:input":`+input+`}`)
}

func (c *sse) says(want string) {
	c.t.Helper()
	if data, _ := c.next(); !strings.Contains(data, want) {
		c.t.Errorf("the event is %s, want %s", data, want)
	}
}

// A subscription has the events since it was established, by its filters, and reports what happens to it.
func TestSubscriptionFromItsBeginningToItsEnd(t *testing.T) {
	s := newSubscribing(t)
	s.o.Opens = func(_ context.Context, _, _, _, _ string) bool { return false }
	id, uri := s.establish("/rests", `{"stream":"lab","stream-xpath-filter":"/lab:link-down[node-id > 5]"}`)
	s.emit(3, s.clock)
	s.emit(7, s.clock)
	c := openStream(t, s.srv, uri)
	c.says(`"node-id":7`)
	s.want(409, "", "GET", uri, "")
	s.operation(403, "kill-subscription", fmt.Sprintf(`{"id":%d}`, id))
	s.operation(204, "modify-subscription", fmt.Sprintf(`{"id":%d,"stream-subtree-filter":{"lab:link-down":{"node-id":4}}}`, id))
	c.says(`ietf-subscribed-notifications:subscription-modified`)
	s.emit(8, s.clock)
	s.emit(4, s.clock)
	c.says(`"node-id":4`)
	s.operation(204, "delete-subscription", fmt.Sprintf(`{"id":%d}`, id))
	c.says(fmt.Sprintf(`"ietf-subscribed-notifications:subscription-terminated":{"id":%d,"reason":"no-such-subscription"}`, id))
	s.operation(404, "delete-subscription", fmt.Sprintf(`{"id":%d}`, id))
	s.want(404, "", "GET", uri, "")
}

// All forms of the guide and of the RFC are answered.
func TestSubscriptionForms(t *testing.T) {
	s := newSubscribing(t)
	live := openStream(t, s.srv, "/rests/streams/json/lab")
	s.emit(1, s.clock.Add(-time.Second))
	live.says(`"node-id":1`) // it is kept now
	_, uri := s.establish("/restconf", `{"stream":"NETCONF","encoding":"json","replay-start-time":"2024-05-06T07:00:00Z"}`)
	c := openStream(t, s.srv, uri[len("/restconf"):])
	c.says("events before")
	c.says(`"node-id":1`)
	c.says("replay-completed")
	a := s.want(200, "", "POST", "/restconf/operations/ietf-subscribed-notifications:establish-subscription",
		`<input xmlns="urn:ietf:params:xml:ns:yang:ietf-subscribed-notifications"><stream>NETCONF</stream><encoding>encode-xml</encoding></input>`,
		"Content-Type: application/xml", "Accept: application/xml")
	if !strings.Contains(a.body, "<id>") || !strings.Contains(a.body, "<subscription-id>") {
		t.Error(a.body)
	}
	a = s.want(200, "", "GET", "/rests/data/ietf-subscribed-notifications:subscriptions", "")
	if strings.Count(a.body, `"stream":"NETCONF"`) != 2 || !strings.Contains(a.body, "encode-xml") {
		t.Error(a.body)
	}
	for name, input := range map[string]string{
		"a stream that is not":     `{"stream":"none"}`,
		"a filter that is none":    `{"stream":"lab","stream-xpath-filter":"["}`,
		"an end in the past":       `{"stream":"lab","stop-time":"2024-05-06T07:08:09Z"}`,
		"a replay from the future": `{"stream":"lab","replay-start-time":"2034-05-06T07:08:09Z"}`,
		"an encoding that is none": `{"stream":"lab","encoding":"cbor"}`,
	} {
		t.Run(name, func(t *testing.T) { s.operation(400, "establish-subscription", input) })
	}
}

func TestSubscriptionEndsAtItsStopTime(t *testing.T) {
	s := newSubscribing(t)
	_, uri := s.establish("/rests", `{"stream":"lab","encoding":"encode-xml","stop-time":"2024-05-06T08:00:00Z"}`)
	c := openStream(t, s.srv, uri)
	s.emit(1, s.clock)
	c.says("<node-id>1</node-id>")
	s.emit(2, s.clock.Add(2*time.Hour))
	c.says("subscription-completed")
}

// The right is asked before each event with the roles of now, and the subscription is gone with it.
func TestSubscriptionEndsWithTheRole(t *testing.T) {
	for _, stream := range []string{"lab", "NETCONF"} {
		t.Run(stream, func(t *testing.T) {
			s := newSubscribing(t)
			var role atomic.Value
			role.Store("user")
			s.o.Renew = func(ctx context.Context) (context.Context, bool) {
				now := role.Load().(string)
				return caller.With(ctx, caller.Caller{User: "ann", Roles: []string{now}}), now != "none"
			}
			s.o.MayFollow = func(ctx context.Context, _ string) bool {
				who, _ := caller.From(ctx)
				return who.HasRole("user")
			}
			_, uri := s.establish("/rests", `{"stream":"`+stream+`"}`)
			c := openStream(t, s.srv, uri)
			s.emit(1, s.clock)
			c.says(`"node-id":1`)
			if stream == "lab" {
				role.Store("other")
			} else {
				role.Store("none")
			}
			s.emit(2, s.clock)
			c.says(`"reason":"stream-unavailable"`)
			s.want(404, "", "GET", uri, "")
		})
	}
}

// A stream that goes after the subscription was established and before it is read ends it at once.
func TestSubscriptionEndsWithTheStream(t *testing.T) {
	s := newSubscribing(t)
	_, uri := s.establish("/rests", `{"stream":"lab"}`)
	s.now.Streams = nil
	openStream(t, s.srv, uri).says(`"reason":"stream-unavailable"`)
	s.want(404, "", "GET", uri, "")
}

// Others cannot read, change or delete a subscription; nobody can hold more than a bounded number; unread ones end.
func TestSubscriptionsOfUsers(t *testing.T) {
	var l subscriptions
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	add := func(owner string) (*subscription, error) {
		s := &subscription{owner: owner, idle: now}
		return s, l.add(s, now)
	}
	first, err := add("ann")
	if err != nil {
		t.Fatal(err)
	}
	for range maxSubscriptionsOfUser - 1 {
		if _, err := add("ann"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := add("ann"); err == nil || !strings.Contains(err.Error(), "delete one") {
		t.Errorf("one too many: %v", err)
	}
	if l.find(first.id, "bob", now) != nil || l.find(first.id, "ann", now) != first {
		t.Error("a subscription is its owner's")
	}
	first.enter()
	later := now.Add(2 * maxUnread)
	if left := l.ofOwner("ann", later); len(left) != 1 || left[0] != first {
		t.Errorf("%d are left, want the one that is read", len(left))
	}
	first.leave(later)
	if len(l.ofOwner("ann", later.Add(2*maxUnread))) != 0 {
		t.Error("one that is not read any more is left")
	}
}
