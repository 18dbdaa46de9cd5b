package restconf

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// sse is a client of an event stream.
type sse struct {
	t      *testing.T
	res    *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
}

func openStream(t *testing.T, srv *httptest.Server, target string, headers ...string) *sse {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	r, err := http.NewRequestWithContext(ctx, "GET", srv.URL+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 {
		t.Fatalf("%s: %s", target, res.Status)
	}
	s := &sse{t, res, bufio.NewReader(res.Body), cancel}
	t.Cleanup(func() { cancel(); res.Body.Close() })
	return s
}

// next returns the data and the id of the next event.
func (s *sse) next() (data, id string) {
	s.t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the stream ended: %v", err)
		}
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "data: "); ok {
			data = rest
		}
		if rest, ok := strings.CutPrefix(line, "id: "); ok {
			id = rest
		}
		if line == "" && data != "" {
			return data, id
		}
	}
}

func (f *fixture) feed() (chan<- Event, func()) {
	subscribed := make(chan chan<- Event, 1)
	f.now.Streams = []Stream{{Name: "lab"}}
	f.o.Events = func(ctx context.Context, _ string) func(func(Event)) error {
		c := make(chan Event, 16)
		select {
		case subscribed <- c:
		case <-ctx.Done():
		}
		return fed(ctx, c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = f.Record(ctx, func() <-chan struct{} { return nil })
	}()
	return <-subscribed, func() { cancel(); <-done }
}

func TestStreamsAreReplayed(t *testing.T) {
	f := newFixture(t)
	events, stop := f.feed()
	defer stop()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close) // after the streams
	live := openStream(t, srv, "/rests/streams/json/lab")
	for i := range 3 {
		events <- Event{Time: f.clock.Add(time.Duration(i-10) * time.Second), Name: "lab:link-down", Data: fmt.Appendf(nil, `{"node-id":%d}`, i)}
	}
	_, first := live.next()
	live.next()
	live.next() // all three are kept now
	at := f.clock.Add(-9 * time.Second).Format(time.RFC3339)
	if d, _ := openStream(t, srv, "/rests/streams/json/lab?start-time="+at).next(); !strings.Contains(d, `"node-id":1`) {
		t.Errorf("from start-time: %s", d)
	}
	d, _ := openStream(t, srv, "/rests/streams/xml/lab?start-time="+at).next()
	if want := `<notification xmlns="urn:ietf:params:xml:ns:netconf:notification:1.0"><eventTime>2024-05-06T07:08:00Z</eventTime><link-down xmlns="urn:test:lab"><node-id>1</node-id></link-down></notification>`; d != want {
		t.Errorf("in XML: %s", d)
	}
	if d, _ := openStream(t, srv, "/rests/streams/json/lab", "Last-Event-ID: "+first).next(); !strings.Contains(d, `"node-id":1`) {
		t.Errorf("after the first: %s", d)
	}
	if d, _ := openStream(t, srv, "/rests/streams/json/lab?start-time="+at+"&filter=/lab:link-down/node-id%3E1").next(); !strings.Contains(d, `"node-id":2`) {
		t.Errorf("filtered: %s", d)
	}
	if d, _ := openStream(t, srv, "/rests/streams/json/lab?start-time="+at+"&stop-time="+at).next(); !strings.Contains(d, `"node-id":1`) {
		t.Errorf("to stop-time: %s", d)
	}
	a := f.want(200, "", "GET", "/rests/data/ietf-restconf-monitoring:restconf-state/streams/stream=lab", "")
	if !strings.Contains(a.body, `"replay-support":true,"replay-log-creation-time":"2024-05-06T07:08:09Z"`) {
		t.Error(a.body)
	}
	for _, q := range []string{"start-time=yesterday", "stop-time=" + at, "start-time=2999-01-01T00:00:00Z", "start-time=" + at + "&stop-time=2000-01-01T00:00:00Z", "filter=((", "nosuch=1"} {
		f.want(400, "", "GET", "/rests/streams/json/lab?"+q, "")
	}
	srv.Client().CloseIdleConnections()
}

// A browser reads all streams that its user may read over one connection, and goes on where it was cut.
func TestAllStreamsAsOne(t *testing.T) {
	f := newFixture(t)
	events, stop := f.feed()
	defer stop()
	f.now.Streams = append(f.now.Streams, Stream{Name: "secret"})
	srv := httptest.NewServer(f.Merged(func(_ context.Context, stream string) bool { return stream == "lab" }))
	t.Cleanup(srv.Close) // after the streams
	all := openStream(t, srv, "/")
	events <- Event{Time: f.clock, Name: "lab:link-down", Data: []byte(`{"node-id":1}`)}
	if kind, err := all.lines.ReadString('\n'); kind != "event: lab\n" {
		t.Errorf("the type of the event: %q, %v", kind, err)
	}
	d, id := all.next()
	if !strings.Contains(d, `"node-id":1`) {
		t.Errorf("the first event: %s", d)
	}
	events <- Event{Time: f.clock, Name: "lab:link-down", Data: []byte(`{"node-id":2}`)}
	if d, _ := openStream(t, srv, "/", "Last-Event-ID: other-7,"+id).next(); !strings.Contains(d, `"node-id":2`) {
		t.Errorf("after the first event: %s", d)
	}
	res, err := srv.Client().Post(srv.URL, "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", res.Status)
	}
	srv.Client().CloseIdleConnections()
}

func TestHistoryIsBounded(t *testing.T) {
	s := &history{}
	for range keptEvents + 10 {
		s.addEvent(Event{Name: "a:b", Data: []byte("{}")})
	}
	if _, _, lost, _ := s.eventsAfter(9); !lost {
		t.Error("a reader that is too slow for the stored events goes on")
	}
	if events, _, lost, _ := s.eventsAfter(10); lost || len(events) == 0 || events[0].id != 11 {
		t.Errorf("the oldest kept event is %v, lost %v", events, lost)
	}
	big := &history{}
	for range 40 {
		big.addEvent(Event{Data: make([]byte, 1<<20)})
	}
	if len(big.kept) > 8 {
		t.Errorf("%d MiB are kept", len(big.kept))
	}
}

func TestChangesOfData(t *testing.T) { engines(t, changesOfData) }

func changesOfData(t *testing.T, f *fixture) {
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close) // after the streams
	f.want(201, "", "PUT", lab, `{"inventory":{"note":"n","device":[{"name":"old"}]}}`)
	a := f.want(200, "", "POST", "/rests/operations/sal-remote:create-data-change-event-subscription",
		`{"input":{"path":"/lab:inventory","sal-remote-augment:datastore":"CONFIGURATION","sal-remote-augment:scope":"SUBTREE"}}`)
	var out struct {
		Output struct {
			Name string `json:"stream-name"`
		} `json:"sal-remote:output"`
	}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatal(err)
	}
	const mon = "/rests/data/ietf-restconf-monitoring:restconf-state/streams/stream="
	f.want(200, `{"ietf-restconf-monitoring:location":"/rests/streams/json/data-change/running/lab:inventory"}`, "GET", mon+out.Output.Name+"/access=json/location", "")
	tree := openStream(t, srv, "/rests/streams/json/data-change/running/lab:inventory")
	inXML := openStream(t, srv, "/rests/streams/xml/data-change/running/lab:inventory/device=a")
	leaf := openStream(t, srv, "/rests/streams/json/data-change/running/lab:inventory/device=a/port")
	f.want(201, "", "PUT", lab+"/device=a", `{"device":[{"name":"a"}]}`)
	check := func(s *sse, want string) string {
		t.Helper()
		d, id := s.next()
		if !strings.Contains(d, want) {
			t.Errorf("got %s\nwant %s", d, want)
		}
		return id
	}
	first := check(tree, `"sal-remote:data-changed-notification":{"data-change-event":[{"path":"/lab:inventory/device[name='a']","operation":"created","data":{"lab:device":[{"name":"a"}]}}]}`)
	check(inXML, `<data-change-event><path xmlns:lab="urn:test:lab">/lab:inventory/lab:device[lab:name='a']</path><operation>created</operation><data><device xmlns="urn:test:lab"><name>a</name></device></data></data-change-event>`)
	f.want(204, "", "PATCH", lab+"/device=a", `{"device":[{"name":"a","port":5}]}`)
	check(tree, `[{"path":"/lab:inventory/device[name='a']/port","operation":"created","data":{"lab:port":5}}]`)
	check(leaf, `{"path":"/lab:inventory/device[name='a']/port","operation":"created","data":{"lab:port":5}}`)
	f.want(204, "", "PATCH", lab+"/device=a", `{"device":[{"name":"a","address":"x"}]}`)
	f.want(204, "", "DELETE", lab+"/device=a", "")
	check(tree, `[{"path":"/lab:inventory/device[name='a']/address","operation":"created","data":{"lab:address":"x"}}]`)
	check(tree, `"operation":"deleted"`)
	check(leaf, `"operation":"deleted"`)
	check(openStream(t, srv, "/rests/streams/json/data-change/running/lab:inventory", "Last-Event-ID: "+first), `"lab:port":5`)
	f.want(400, "", "GET", "/rests/streams/json/data-change/running", "")
	f.want(400, "", "GET", "/rests/streams/json/data-change/running/lab:nothing", "")
	f.want(404, "", "GET", "/rests/streams/json/data-change/candidate/lab:inventory", "")
	f.want(400, "", "POST", "/rests/operations/sal-remote:create-data-change-event-subscription", `{"input":{"path":"/lab:nothing"}}`)
	srv.Client().CloseIdleConnections()
}

// A client that comes back gets the events that it missed, as they were; where they are not stored, an event says so.
func TestChangesAreReplayed(t *testing.T) { engines(t, changesAreReplayed) }

func changesAreReplayed(t *testing.T, f *fixture) {
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close) // after the streams
	f.o.Now = time.Now
	hourAgo := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	f.want(201, "", "PUT", lab, `{"inventory":{"note":"n"}}`)
	f.want(201, "", "PUT", lab+"/device=a", `{"device":[{"name":"a","port":4}]}`)
	f.want(204, "", "PATCH", lab+"/device=a", `{"device":[{"name":"a","port":5,"address":"x"}]}`)
	f.want(201, "", "PUT", lab+"/tag", `{"tag":["one","two"]}`)
	f.want(204, "", "PUT", lab+"/tag", `{"tag":["two","three"]}`)
	f.want(204, "", "DELETE", lab+"/device=a", "")
	const stream = "/rests/streams/json/data-change/running/lab:inventory"
	check := func(s *sse, want ...string) (first string) {
		t.Helper()
		for _, w := range want {
			d, id := s.next()
			if !strings.Contains(d, w) {
				t.Errorf("got %s\nwant %s", d, w)
			}
			if first == "" {
				first = id
			}
		}
		return first
	}
	all := []string{
		`{"path":"/lab:inventory","operation":"created"`,
		`{"path":"/lab:inventory/device[name='a']","operation":"created","data":{"lab:device":[{"name":"a","port":4}]}}`,
		`[{"path":"/lab:inventory/device[name='a']/port","operation":"updated","data":{"lab:port":5}},{"path":"/lab:inventory/device[name='a']/address","operation":"created"`,
		`[{"path":"/lab:inventory/tag","operation":"created","data":{"lab:tag":["one","two"]}}]`,
		`[{"path":"/lab:inventory/tag[.='three']","operation":"created","data":{"lab:tag":["three"]}},{"path":"/lab:inventory/tag[.='one']","operation":"deleted"}]`,
		`{"path":"/lab:inventory/device[name='a']","operation":"deleted"}`,
	}
	first := check(openStream(t, srv, stream+"?start-time="+hourAgo), all...)
	check(openStream(t, srv, stream, "Last-Event-ID: "+first), all[1:]...)
	check(openStream(t, srv, stream+"/device=a/port?start-time="+hourAgo), `"operation":"created","data":{"lab:port":4}`, `"operation":"updated","data":{"lab:port":5}`, `"operation":"deleted"`)
	check(openStream(t, srv, stream+"?scope=one&start-time="+hourAgo), all[0], all[1], `{"path":"/lab:inventory/device[name='a']","operation":"updated","data":{"lab:device":[{"name":"a","port":5,"address":"x"}]}}`, all[3])
	for id, want := range map[string]string{"abc": "the event \\\"abc\\\" is not one of this stream", "x-999999999": "the event is not one of this datastore"} {
		lost := openStream(t, srv, stream, "Last-Event-ID: "+id)
		check(lost, `"ctl-system:events-missed":{"reason":"`+want)
		f.want(204, "", "PUT", lab+"/note", `{"note":"`+id+`"}`)
		check(lost, `{"path":"/lab:inventory/note","operation":"updated","data":{"lab:note":"`+id+`"}}`)
	}
	srv.Client().CloseIdleConnections()
}

// A client of a plugin's stream also gets an event when those that it missed are not stored.
func TestMissedEventsAreTold(t *testing.T) {
	f := newFixture(t)
	events, stop := f.feed()
	defer stop()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close) // after the streams
	live := openStream(t, srv, "/rests/streams/json/lab")
	events <- Event{Time: f.clock, Name: "lab:link-down", Data: []byte(`{"node-id":1}`)}
	_, id := live.next()
	const missed = `"ctl-system:events-missed":{"reason":`
	for _, c := range []struct{ query, header, want string }{
		{"", "Last-Event-ID: abc", missed},
		{"", "Last-Event-ID: 1-1", missed},
		{"?start-time=2001-01-01T00:00:00Z", "X-None: 1", missed},
		{"?start-time=" + f.clock.Format(time.RFC3339), "X-None: 1", `"node-id":1`},
	} {
		s := openStream(t, srv, "/rests/streams/json/lab"+c.query, c.header)
		if d, _ := s.next(); !strings.Contains(d, c.want) {
			t.Errorf("%+v: %s", c, d)
		}
		if c.want == missed {
			if d, _ := s.next(); !strings.Contains(d, `"node-id":1`) {
				t.Errorf("%+v, then %s", c, d)
			}
		}
	}
	again := openStream(t, srv, "/rests/streams/xml/lab", "Last-Event-ID: "+id)
	events <- Event{Time: f.clock, Name: "lab:link-down", Data: []byte(`{"node-id":2}`)}
	if d, _ := again.next(); !strings.Contains(d, "<node-id>2<") {
		t.Errorf("after the last event: %s", d)
	}
	srv.Client().CloseIdleConnections()
}
