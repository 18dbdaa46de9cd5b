package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/home"
)

// limits of a listener.
type limits struct {
	HeaderBytes   int
	HeaderTimeout time.Duration // from accept to the end of the headers
	ReadTimeout   time.Duration // of the whole request
	StallTimeout  time.Duration // of a client that takes nothing of an answer; answers may stream for ever
	IdleTimeout   time.Duration
	Connections   int
}

// listener is one open address with its HTTP server.
type listener struct {
	name string
	ln   net.Listener
	srv  *http.Server
	file string // where the address is written, "data/run/http.addr"
	done chan struct{}
}

// listen opens addr and serves h on it. Port 0 takes any port; which one is
// written to runDir/NAME.addr, as it is for a fixed port.
func listen(name, addr string, h http.Handler, tc *tls.Config, l limits, runDir string, log *slog.Logger) (*listener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("the %s listener cannot open %s: %w (set listeners.%s in etc/ctl.yaml, or --%s)", name, addr, err, name, name)
	}
	out := &listener{name: name, file: filepath.Join(runDir, name+".addr"), done: make(chan struct{})}
	if err := home.WriteFile(out.file, []byte(ln.Addr().String()+"\n"), 0o600); err != nil {
		ln.Close()
		return nil, err
	}
	out.ln = ln
	most := connectionsFor(l.Connections)
	if most < l.Connections {
		log.Warn("the process may not open enough files for the connections of limits.connections; raise its limit (ulimit -n)",
			"listener", name, "limits.connections", l.Connections, "connections", most)
	}
	serveOn := newConnLimiter(ln, most, l.StallTimeout)
	out.srv = &http.Server{Handler: h, MaxHeaderBytes: l.HeaderBytes, ReadHeaderTimeout: l.HeaderTimeout, ReadTimeout: l.ReadTimeout,
		IdleTimeout: l.IdleTimeout, TLSConfig: tc, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), ConnState: serveOn.state,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if tc != nil {
				ctx = aaa.OverTLS(ctx)
			}
			return context.WithValue(ctx, connKey{}, limitedConn(c))
		}}
	if tc == nil { // over TLS it is negotiated; here clients know it beforehand (RFC 9113 section 3.3)
		out.srv.Protocols = new(http.Protocols)
		out.srv.Protocols.SetHTTP1(true)
		out.srv.Protocols.SetUnencryptedHTTP2(true)
	}
	go func() {
		defer close(out.done)
		var err error
		if tc != nil {
			err = out.srv.ServeTLS(serveOn, "", "")
		} else {
			err = out.srv.Serve(serveOn)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			log.Error("listener ended", "listener", name, "error", err)
		}
	}()
	log.Info("listening", "listener", name, "address", ln.Addr().String())
	return out, nil
}

func (l *listener) address() string { return l.ln.Addr().String() }

// shutdown lets requests in flight finish until ctx ends, then closes them.
func (l *listener) shutdown(ctx context.Context) {
	if err := l.srv.Shutdown(ctx); err != nil {
		l.srv.Close()
	}
	<-l.done
	os.Remove(l.file)
}
