package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/mux"

	ctl "ctl.internal"
	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/plugin/events"
	"ctl.internal/host/internal/restconf"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// BenchmarkChain is what a request costs from its first byte to the last of the
// answer, without the kernel: net/http, the chain and the handler; beside it the same
// of bare gorilla/mux.
func BenchmarkChain(b *testing.B) {
	ini, err := ctl.Templates.ReadFile("etc/sec.ini")
	if err != nil {
		b.Fatal(err)
	}
	closed := chain(b, string(ini))
	token := closed.token(b)
	open := chain(b, strings.Replace(string(ini), "/** = authcBasic, dynamicAuthorization", "/** = anon", 1))
	bare := mux.NewRouter()
	bare.HandleFunc("/restconf/yang-library-version", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"yang-library-version":"2016-06-21"}`)
	})
	for _, c := range []struct {
		name          string
		handler       http.Handler
		authorization string
	}{
		{"mux", bare, "-"},
		{"open", open.front, "-"},
		{"basic", closed.front, "Basic YWRtaW46YWRtaW4="},
		{"bearer", closed.front, "Bearer " + token},
	} {
		b.Run(c.name, func(b *testing.B) {
			header := "Authorization: " + c.authorization + "\r\n"
			if c.authorization == "-" {
				header = ""
			}
			client := serveOne(b, c.handler)
			request := []byte("GET /restconf/yang-library-version HTTP/1.1\r\nHost: 127.0.0.1:8181\r\n" + header + "\r\n")
			client.ask(b, request) // the first is verified
			b.ReportAllocs()
			before := processorTime(b)
			for b.Loop() {
				client.ask(b, request)
			}
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// processorTime is what this process has used so far; other load blurs it less than
// the time that passes.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

type chained struct {
	*Server
	front http.Handler
	dir   string // of the audit
}

func chain(b testing.TB, ini string) chained {
	store := storetest.New(storetest.Options{})
	b.Cleanup(func() { store.Close() })
	return chainOn(b, ini, store)
}

// chainOn is a chain on a store.
func chainOn(b testing.TB, ini string, store datastore.Store) chained {
	s := &Server{store: store, ids: newIDs(), http: newHTTPMetrics(), bus: events.New(), log: slog.New(slog.DiscardHandler), certs: &certificates{}, loaded: &home.Loaded{Config: home.Default()}, registry: logs.New(logs.Options{})}
	var err error
	dir := filepath.Join(b.TempDir(), "audit")
	if s.audit, err = logs.OpenAudit(dir, auditSize, auditKeep); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.audit.Close() })
	s.aaa, err = aaa.New(context.Background(), aaa.Options{Store: store, SecINI: []byte(ini), First: identity.First{Admin: "admin", User: "user"},
		RequestID: requestID, Names: s.otherNames, MadeOf: s.madeOf, Logger: s.loggerFor, Passwords: password.Params{MemoryKiB: 64, Time: 1, Threads: 1}})
	if err != nil {
		b.Fatal(err)
	}
	s.aaa.Accounting().Listen(func() bool { return s.bus.Wanted(accountingStream) }, s.publishAccounting)
	own, err := hostModules()
	if err != nil {
		b.Fatal(err)
	}
	if s.catalog, err = newCatalog(own, s.log); err != nil {
		b.Fatal(err)
	}
	s.restconf = restconf.New(restconf.Options{Catalog: s.catalog, Store: store, Readable: aaa.Readable, Still: aaa.Still})
	s.router = newRouter(s.hostRoutes, s.pluginRoutes)
	s.router.updateRoutes([]*pluginv1.Manifest{{Name: "repoinfo", Routes: []*pluginv1.Route{{Path: "/repoinfo"}}}})
	front, err := s.buildFrontHandler(home.Config{Limits: home.Limits{Body: 4 << 20, InFlight: 1024}}, s.log)
	if err != nil {
		b.Fatal(err)
	}
	return chained{s, front, dir}
}

func (c chained) token(b *testing.B) string {
	form := "grant_type=password&username=admin&password=admin&scope=sdn"
	r, err := http.NewRequest(http.MethodPost, "/oauth2/token", strings.NewReader(form))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := serveOne(b, c.front)
	var buf strings.Builder
	if err := r.Write(&buf); err != nil {
		b.Fatal(err)
	}
	text := client.ask(b, []byte(strings.Replace(buf.String(), "Host: \r\n", "Host: h\r\n", 1)))
	_, text, _ = strings.Cut(text, `"access_token":"`)
	token, _, found := strings.Cut(text, `"`)
	if !found {
		b.Fatal(text)
	}
	return token
}

// memConn is both ends of a connection in memory: the server's, on which a request is
// there as soon as it was asked, and the answer as soon as it is written.
type memConn struct {
	mu       sync.Mutex
	change   sync.Cond
	in       []byte
	past     bool // the read deadline is in the past
	closed   bool
	answered chan string
}

// serveOne starts a server of h with one connection.
func serveOne(b *testing.B, h http.Handler) *memConn {
	w := &memConn{answered: make(chan string, 1)}
	w.change.L = &w.mu
	ln := &once{conn: w, end: make(chan struct{})}
	g := newConnLimiter(ln, 16, time.Minute)
	srv := &http.Server{Handler: h, ConnState: g.noteConnState, ConnContext: func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, limitedConn(c))
	}}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(g) }()
	b.Cleanup(func() { srv.Close(); w.Close(); <-done })
	return w
}

// ask sends a request and waits for the answer, which must be a good one.
func (w *memConn) ask(b *testing.B, request []byte) string {
	w.mu.Lock()
	w.in = request
	w.change.Broadcast()
	w.mu.Unlock()
	text := <-w.answered
	if !strings.HasPrefix(text, "HTTP/1.1 200 ") {
		b.Fatal(text)
	}
	return text
}

func (w *memConn) Read(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.in) == 0 && !w.closed && !w.past {
		w.change.Wait()
	}
	switch {
	case w.closed:
		return 0, io.EOF
	case w.past:
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, w.in)
	w.in = w.in[n:]
	return n, nil
}

func (w *memConn) Write(p []byte) (int, error) {
	w.answered <- string(p)
	return len(p), nil
}

func (w *memConn) SetReadDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.past = !t.IsZero() && t.Before(time.Now())
	w.change.Broadcast()
	return nil
}

func (w *memConn) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.change.Broadcast()
	return nil
}

func (w *memConn) SetDeadline(t time.Time) error      { return w.SetReadDeadline(t) }
func (w *memConn) SetWriteDeadline(t time.Time) error { return nil }
func (w *memConn) LocalAddr() net.Addr                { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8181} }
func (w *memConn) RemoteAddr() net.Addr               { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 40000} }

// once is a listener with one connection.
type once struct {
	conn net.Conn
	mu   sync.Mutex
	end  chan struct{}
}

func (o *once) Accept() (net.Conn, error) {
	o.mu.Lock()
	c := o.conn
	o.conn = nil
	o.mu.Unlock()
	if c != nil {
		return c, nil
	}
	<-o.end
	return nil, errors.New("ended")
}

func (o *once) Close() error   { close(o.end); return nil }
func (o *once) Addr() net.Addr { return &net.TCPAddr{} }
