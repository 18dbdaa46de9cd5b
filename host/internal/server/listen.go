package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/keystore"
	"ctl.internal/host/internal/restconf"
)

// listener is one open address with its HTTP server.
type listener struct {
	name string
	ln   net.Listener
	srv  *http.Server
	file string // where the address is written, "data/run/http.addr"
	done chan struct{}
}

// openListener opens addr and serves h on it. Port 0 takes any port; which one is
// written to runDir/NAME.addr, as it is for a fixed port.
func openListener(
	name, addr string,
	h http.Handler,
	tc *tls.Config,
	l home.Limits,
	runDir string,
	log *slog.Logger,
) (*listener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf(
			"the %s listener cannot open %s: %w (set listeners.%s in etc/ctl.yaml, or --%s)",
			name,
			addr,
			err,
			name,
			name,
		)
	}
	out := &listener{
		name: name,
		file: filepath.Join(runDir, name+".addr"),
		done: make(chan struct{}),
	}
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
	serveOn := newConnLimiter(ln, most, l.RequestTimeout) // answers may stream for ever
	out.srv = &http.Server{
		Handler:           h,
		MaxHeaderBytes:    int(l.Header),
		ReadHeaderTimeout: l.HeaderTimeout,
		ReadTimeout:       l.BodyTimeout,
		IdleTimeout:       l.IdleTimeout,
		TLSConfig:         tc,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnState:         serveOn.noteConnState,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if tc != nil {
				ctx = aaa.OverTLS(ctx)
			}
			return context.WithValue(ctx, connKey{}, limitedConn(c))
		},
	}
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

func (l *listener) address() string {
	return l.ln.Addr().String()
}

// shutdown lets requests in flight finish until ctx ends, then closes them.
func (l *listener) shutdown(ctx context.Context) {
	if err := l.srv.Shutdown(ctx); err != nil {
		l.srv.Close()
	}
	<-l.done
	os.Remove(l.file)
}

// buildFrontHandler is what all requests go through to the router, access control among it.
func (s *Server) buildFrontHandler(c home.Config, log *slog.Logger) (http.Handler, error) {
	var err error
	if s.browsers, err = newBrowsers(c, s.certs.coversHost, log); err != nil {
		return nil, err
	}
	limits := c.Limits
	checked := s.recordRequests(s.browsers.checkOrigin(askedLocally(s.aaa.Filter(s.serveReadHeaders(s.router)))))
	return outermostHandler(
		s.http.measureRequests(checked, s.router.subtreeOf),
		s.ids,
		int64(limits.Body),
		&s.inFlight,
		limits.InFlight,
		log,
	), nil
}

// openListeners opens what etc/ctl.yaml asks for; nothing is served before all
// rooms are there.
func (s *Server) openListeners(ctx context.Context) error {
	c := s.loaded.Config
	log := s.registry.Logger("org.ctl.server")
	front, err := s.buildFrontHandler(c, log)
	if err != nil {
		return err
	}
	if s.tracer != nil {
		front = s.tracer.Handler(front)
	}
	open := func(name string, address home.Address, h http.Handler, tc *tls.Config) error {
		if address.IsOff() {
			return nil
		}
		ln, err := openListener(name, string(address), h, tc, c.Limits, s.home.Run(), log)
		if err == nil {
			s.listeners = append(s.listeners, ln)
		}
		return err
	}
	plain := front
	if !c.Listeners.HTTPS.IsOff() {
		tc, err := s.serverTLS(ctx)
		if err != nil {
			return err
		}
		s.publishCertificate(tc)
		if err := open(
			"https",
			c.Listeners.HTTPS,
			withStrictTransport(front, c.TLS.HSTS),
			tc,
		); err != nil {
			return err
		}
		if c.TLS.Redirect {
			plain = toHTTPS(s.listeners[0].ln.Addr())
		}
	}
	if err := open("http", c.Listeners.HTTP, plain, nil); err != nil {
		return err
	}
	if err := open("restconf", c.Listeners.RESTCONF, restconf.Only(plain), nil); err != nil {
		return err
	}
	return open("admin", c.Listeners.Admin, s.adminHandler(), nil)
}

var (
	tlsVersions = map[string]uint16{
		"1.2": tls.VersionTLS12,
		"1.3": tls.VersionTLS13,
	}
	clientAuth = map[string]tls.ClientAuthType{
		"off":      tls.NoClientCert,
		"optional": tls.VerifyClientCertIfGiven,
		"required": tls.RequireAndVerifyClientCert,
	}
)

// serverTLS are the settings of the https listener: the controller keystore, or
// the files that etc/ctl.yaml names.
func (s *Server) serverTLS(ctx context.Context) (*tls.Config, error) {
	c := s.loaded.TLS
	o := keystore.TLSOptions{
		MinVersion: tlsVersions[c.MinVersion],
		Clients:    clientAuth[c.ClientCertificates],
	}
	if c.Certificate == "" {
		k, err := s.certs.ensureKeystores()
		if err != nil {
			return nil, fmt.Errorf(
				"listeners.https needs a certificate: %w (or set tls.certificate and tls.key in etc/ctl.yaml)",
				err,
			)
		}
		return k.ServerTLS(o), nil
	}
	var trust func() *x509.CertPool
	if o.Clients != tls.NoClientCert {
		k, err := s.certs.ensureKeystores()
		if err != nil {
			return nil, fmt.Errorf("tls.clientCertificates: %w", err)
		}
		trust = k.Pool
	}
	files, err := keystore.OpenFiles(
		s.home.Path(c.Certificate),
		s.home.Path(c.Key),
		o,
		trust,
		s.registry.Logger("org.ctl.keystore"),
	)
	if err != nil {
		return nil, fmt.Errorf("tls.certificate, tls.key: %w", err)
	}
	s.certs.setShown(files)
	s.runInBackground(ctx, "certificate files", files.Run)
	return files.ServerTLS(), nil
}

// certificateFile is the file in data/run of the certificate that clients are shown, for programs of this machine such as idmtool.
const certificateFile = "https.pem"

// publishCertificate has the certificate written to its file before a client is shown another one than that.
func (s *Server) publishCertificate(tc *tls.Config) {
	next := tc.GetConfigForClient
	var mu sync.Mutex
	var written []byte
	tc.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		c, err := next(hello)
		if err != nil {
			return nil, err
		}
		leaf := c.Certificates[0].Certificate[0]
		mu.Lock()
		defer mu.Unlock()
		if bytes.Equal(leaf, written) {
			return c, nil
		}
		text := pem.EncodeToMemory(&pem.Block{
			Type:  "CERTIFICATE",
			Bytes: leaf,
		})
		if err := home.WriteFile(s.home.Run(certificateFile), text, 0o600); err != nil {
			s.log.Warn(
				"the certificate could not be written for programs of this machine",
				"error",
				err,
			)
			return c, nil
		}
		written = leaf
		return c, nil
	}
	_, _ = tc.GetConfigForClient(&tls.ClientHelloInfo{}) // from the start on
}

// withStrictTransport makes browsers come over TLS only, for so long.
func withStrictTransport(next http.Handler, d time.Duration) http.Handler {
	if d < time.Second {
		return next
	}
	value := []string{"max-age=" + strconv.FormatInt(int64(d/time.Second), 10)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Strict-Transport-Security"] = value
		next.ServeHTTP(w, r)
	})
}

// toHTTPS sends everybody to the https listener at the name they used. 308 keeps
// method and body.
func toHTTPS(https net.Addr) http.Handler {
	_, port, _ := net.SplitHostPort(https.String())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if host == "" {
			http.Error(w, "this controller is served at https only", http.StatusMisdirectedRequest)
			return
		}
		w.Header().Set(
			"Location",
			"https://"+net.JoinHostPort(strings.Trim(host, "[]"), port)+r.URL.RequestURI(),
		)
		w.WriteHeader(http.StatusPermanentRedirect)
	})
}
