package routes_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/internal/pair"
	"ctl.internal/sdk/routes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// front serves a handler through a real plugin connection, as the host does.
func front(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	c := routes.NewClient(pair.New(t, func(s *grpc.Server) { routes.Register(s, "demo", func() (http.Handler, error) { return h, nil }) }))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(caller.With(r.Context(), caller.Caller{User: "eve", Roles: []string{"admin"}, Address: r.RemoteAddr}))
		if begun, err := c.Forward(w, r); err != nil && !begun {
			http.Error(w, err.Error(), cmp.Or(map[fault.Kind]int{fault.Internal: 500}[fault.KindOf(err)], 503))
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

func get(t *testing.T, req *http.Request) (*http.Response, string) {
	t.Helper()
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

func TestRequestArrivesWhole(t *testing.T) {
	srv := front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, _ := caller.From(r.Context())
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Seen", strings.Join(r.Header["X-Twice"], "+"))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "%s %s %s %s auth=%q %d", r.Method, r.URL.EscapedPath(), r.URL.RawQuery, who.User, r.Header.Get("Authorization"), len(body))
	}))
	big := make([]byte, 300_000)
	_, _ = rand.Read(big)
	req, _ := http.NewRequest("PUT", srv.URL+"/x/a%2Fb?q=1", bytes.NewReader(big))
	req.Header["X-Twice"] = []string{"a", "b"}
	req.SetBasicAuth("eve", "secret")
	res, body := get(t, req)
	if want := `PUT /x/a%2Fb q=1 eve auth="" 300000`; res.StatusCode != 201 || body != want || res.Header.Get("X-Seen") != "a+b" {
		t.Fatalf("got %d %q %q, want 201 %q a+b", res.StatusCode, body, res.Header.Get("X-Seen"), want)
	}
}

func TestAnswerStreams(t *testing.T) {
	next := make(chan struct{})
	srv := front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range 3 {
			fmt.Fprintf(w, "line %d\n", i)
			w.(http.Flusher).Flush()
			<-next
		}
	}))
	res, err := http.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	buf := make([]byte, 7)
	for i := range 3 {
		if _, err := io.ReadFull(res.Body, buf); err != nil || string(buf) != fmt.Sprintf("line %d\n", i) {
			t.Fatalf("line %d: %q %v", i, buf, err)
		}
		next <- struct{}{}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestPanicIsAnErrorOfThisRequestOnly(t *testing.T) {
	srv := front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic("boom")
		}
		fmt.Fprint(w, "fine")
	}))
	req, _ := http.NewRequest("GET", srv.URL+"/panic", nil)
	if res, body := get(t, req); res.StatusCode != 500 || strings.Contains(body, "boom") {
		t.Fatalf("panic: %d %q", res.StatusCode, body)
	}
	req, _ = http.NewRequest("GET", srv.URL+"/", nil)
	if res, body := get(t, req); res.StatusCode != 200 || body != "fine" {
		t.Fatalf("after the panic: %d %q", res.StatusCode, body)
	}
}

// A client that sends its body slowly must not hold the request after the answer.
func TestAnswerBeforeTheBodyEnds(t *testing.T) {
	srv := front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	pr, pw := io.Pipe()
	defer pw.Close()
	req, _ := http.NewRequest("POST", srv.URL, pr)
	res, _ := get(t, req)
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Fatalf("status %d", res.StatusCode)
	}
}

// What one request leaves of its connection must not harm the next one on it.
func TestConnectionServesTheNextRequest(t *testing.T) {
	srv := front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/read" {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, r.URL.Path)
	}))
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for i := range 800 {
		method, path, body := "GET", "/", io.Reader(nil)
		switch i % 40 {
		case 3:
			method, path, body = "POST", "/read", strings.NewReader("a body")
		case 6:
			method, path, body = "POST", "/unread", bytes.NewReader(make([]byte, 20_000))
		}
		req, _ := http.NewRequest(method, srv.URL+path, body)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(i, method, path, err)
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusTeapot || string(b) != path {
			t.Fatalf("request %d, %s %s: %d %q %v", i, method, path, res.StatusCode, b, err)
		}
	}
}

func TestCancelReachesTheHandler(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	srv := front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(ended)
	}))
	ctx, cancel := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "GET", srv.URL, nil)
	done := make(chan error, 1)
	go func() {
		_, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		done <- err
	}()
	<-began
	cancel()
	<-ended
	if err := <-done; err == nil {
		t.Fatal("the cancelled request succeeded")
	}
}
