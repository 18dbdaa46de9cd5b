package restconf

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fed emits what a test puts into a channel, until that is closed.
func fed(ctx context.Context, events <-chan Event) func(func(Event)) error {
	return func(emit func(Event)) error {
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case e, open := <-events:
				if !open {
					return nil
				}
				emit(e)
			}
		}
	}
}

func TestEventStream(t *testing.T) {
	f := newFixture(t)
	events := make(chan Event)
	f.now.Streams = []Stream{{Name: "lab"}}
	f.o.Events = func(ctx context.Context, _ string) func(func(Event)) error { return fed(ctx, events) }
	var waiting atomic.Int64 // for an event
	told := make(chan int64, 100)
	f.o.Waiting = func(context.Context) func() {
		told <- waiting.Add(1)
		return func() { told <- waiting.Add(-1) }
	}
	srv := httptest.NewServer(f)
	defer srv.Close()
	for target, want := range map[string]string{
		"/rests/streams/stream/lab":    `data: {"ietf-restconf:notification":{"eventTime":"2024-05-06T07:08:09Z","lab:link-down":{"node-id":7}}}`,
		"/restconf/streams/stream/lab": `data: {"notification":{"eventTime":"2024-05-06T07:08:09Z","lab:link-down":{"node-id":7}}}`,
		"/restconf/streams/lab":        `data: {"notification":{"eventTime":"2024-05-06T07:08:09Z","lab:link-down":{"node-id":7}}}`,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		r, err := http.NewRequestWithContext(ctx, "GET", srv.URL+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/event-stream")
		res, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if c := res.Header.Get("Content-Type"); res.StatusCode != 200 || c != "text/event-stream" {
			t.Errorf("%s: %d %s", target, res.StatusCode, c)
		}
		if n := <-told; n != 1 {
			t.Errorf("%s: called with %d when it waits", target, n)
		}
		events <- Event{Time: f.clock, Name: "lab:link-down", Data: []byte(`{"node-id": 7}`)}
		line, err := bufio.NewReader(res.Body).ReadString('\n')
		if err != nil || strings.TrimSpace(line) != want {
			t.Errorf("%s: %q, %v", target, line, err)
		}
		cancel()
		if n := <-told; n != 0 {
			t.Errorf("%s: called with %d at the end", target, n)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	f.o.Still = func(context.Context) bool { return false } // its user was disabled meanwhile
	res, err := srv.Client().Get(srv.URL + "/rests/streams/stream/lab")
	if err != nil {
		t.Fatal(err)
	}
	events <- Event{Time: f.clock, Name: "lab:link-down", Data: []byte(`{"node-id": 8}`)}
	if sent, err := io.ReadAll(res.Body); err != nil || string(sent) != ": end: the user may not read this any more\n\n" {
		t.Errorf("who may not read it any more got %q, %v", sent, err)
	}
	res.Body.Close()
	f.want(404, "", "GET", "/rests/streams/stream/none", "")
	f.want(200, `{"streams":{"stream":[{"name":"lab","replay-support":false,"access":[{"encoding":"json","location":"/restconf/streams/stream/lab"}]}]}}`,
		"GET", "/restconf/streams", "")
	srv.Client().CloseIdleConnections()
}
