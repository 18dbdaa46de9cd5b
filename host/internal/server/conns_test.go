package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/home"
)

// limitedServer serves with room for so many connections.
func limitedServer(t *testing.T, connections int, stall time.Duration, h http.HandlerFunc) string {
	t.Helper()
	l := home.Limits{Header: 64 << 10, HeaderTimeout: time.Minute, BodyTimeout: time.Minute, IdleTimeout: time.Minute,
		RequestTimeout: stall, Connections: connections}
	out, err := openListener("http", "127.0.0.1:0", h, nil, l, t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		out.srv.Close()
		<-out.done
	})
	return out.address()
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c
}

func get(t *testing.T, c net.Conn) string {
	t.Helper()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Whoever holds a connection without using it makes room for one who comes; who is
// being served stays.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	address := limitedServer(t, 4, 0, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/busy" {
			entered <- struct{}{}
			<-leave
		}
		_, _ = io.WriteString(w, "served")
	})
	busy := dial(t, address)
	fmt.Fprint(busy, "GET /busy HTTP/1.1\r\nHost: h\r\n\r\n")
	<-entered
	var idle []net.Conn
	for i := range 12 {
		c := dial(t, address)
		switch i % 3 {
		case 0: // used once
			get(t, c)
		case 1: // sends its headers slowly
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHos")
		}
		idle = append(idle, c)
		if got := get(t, dial(t, address)); got != "served" {
			t.Errorf("beside %d idle connections: %q", i, got)
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := idle[0].Read(make([]byte, 1))
		ended <- err
	}()
	for closed := false; !closed; { // until the server has noted that it had answered on that one
		select {
		case err := <-ended:
			if closed = true; errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("the connection that was idle longest is still open")
			}
		default:
			get(t, dial(t, address))
		}
	}
	close(leave)
	r, err := http.ReadResponse(bufio.NewReader(busy), nil)
	if err != nil {
		t.Fatalf("a connection in use was closed: %v", err)
	}
	r.Body.Close()
}

// While all connections are in use the next one waits for the end of one.
func TestConnectionsInUseStay(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	address := limitedServer(t, 2, 0, func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-leave
		_, _ = io.WriteString(w, "served")
	})
	answers := make(chan string, 3)
	ask := func() {
		c := dial(t, address)
		go func() {
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
			b, _ := io.ReadAll(c)
			answers <- string(b)
		}()
	}
	for range 2 {
		ask()
		<-entered
	}
	ask()
	select {
	case <-entered:
		t.Fatal("three requests are served over two connections")
	case leave <- struct{}{}:
	}
	<-entered
	leave <- struct{}{}
	leave <- struct{}{}
	for range 3 {
		if a := <-answers; !strings.HasSuffix(a, "served") {
			t.Errorf("answer %q", a)
		}
	}
}

// A client that takes nothing of its answer is given up.
func TestClientsThatTakeNothingAreGivenUp(t *testing.T) {
	ended := make(chan error, 1)
	address := limitedServer(t, 4, 50*time.Millisecond, func(w http.ResponseWriter, _ *http.Request) {
		piece := make([]byte, 1<<20)
		for {
			if _, err := w.Write(piece); err != nil {
				ended <- err
				return
			}
		}
	})
	c := dial(t, address)
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the answer is still being written")
	}
}

// Requests that wait for the rest of their bodies leave the places in flight to others.
func TestSlowBodiesHoldNoPlace(t *testing.T) {
	const places = 2
	handler := outermostHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "got %d", len(b))
	}), newIDs(), 1<<20, &inFlight{}, places, slog.New(slog.DiscardHandler))
	address := limitedServer(t, 100, 0, handler.ServeHTTP)
	var slow []net.Conn
	for range 20 {
		c := dial(t, address)
		fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n12345")
		slow = append(slow, c)
	}
	for i := range 20 {
		// Those that came at the same moment may find the places taken for as long as
		// it takes to look at them.
		for deadline := time.Now().Add(time.Minute); ; {
			if got := get(t, dial(t, address)); got == "got 0" {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("request %d beside slow bodies: %q", i, got)
			}
		}
	}
	served := 0
	for _, c := range slow {
		fmt.Fprint(c, "67890")
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if string(b) == "got 10" {
			served++
		} else if r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("a slow body: %d %q", r.StatusCode, b)
		}
	}
	if served < places {
		t.Errorf("%d slow bodies were served", served)
	}
}

// Requests that wait for the verification of a password leave the places in flight to
// those who have logged in, and their connections to those who come.
func TestWaitingLoginsHoldNoPlace(t *testing.T) {
	const places, connections = 2, 20
	waiting, verified := make(chan struct{}), make(chan struct{})
	var now inFlight
	handler := outermostHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			func() {
				defer now.releaseWhileWaiting(r.Context())()
				waiting <- struct{}{}
				<-verified
			}()
		}
		fmt.Fprint(w, "served")
	}), newIDs(), 1<<20, &now, places, slog.New(slog.DiscardHandler))
	address := limitedServer(t, connections, 0, handler.ServeHTTP)
	var logins []net.Conn
	for range connections {
		c := dial(t, address)
		fmt.Fprint(c, "GET /login HTTP/1.1\r\nHost: h\r\n\r\n")
		<-waiting
		logins = append(logins, c)
	}
	c := dial(t, address) // instead of the one that has waited longest
	for i := range 20 {
		if got := get(t, c); got != "served" {
			t.Fatalf("request %d beside waiting logins: %q", i, got)
		}
	}
	close(verified)
	for i, c := range logins[1:] {
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("login %d: %v", i, err)
		}
		if r.Body.Close(); r.StatusCode != http.StatusOK {
			t.Errorf("login %d: %d", i, r.StatusCode)
		}
	}
}

func TestConnectionsFitTheFiles(t *testing.T) {
	if n := connectionsFor(16); n != 16 {
		t.Errorf("16 wanted: %d", n)
	}
	if n := connectionsFor(0); n < 64 || n > 1<<20 {
		t.Errorf("no bound wanted: %d", n)
	}
}
