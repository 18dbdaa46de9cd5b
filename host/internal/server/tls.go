package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ctl.internal/host/internal/keys/keystore"
)

var (
	tlsVersions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}
	clientAuth  = map[string]tls.ClientAuthType{"off": tls.NoClientCert, "optional": tls.VerifyClientCertIfGiven, "required": tls.RequireAndVerifyClientCert}
)

// serverTLS are the settings of the https listener: the controller keystore, or
// the files that etc/ctl.yaml names.
func (s *Server) serverTLS(ctx context.Context) (*tls.Config, error) {
	c := s.loaded.TLS
	o := keystore.TLSOptions{MinVersion: tlsVersions[c.MinVersion], Clients: clientAuth[c.ClientCertificates]}
	if c.Certificate == "" {
		k, err := s.certs.get()
		if err != nil {
			return nil, fmt.Errorf("listeners.https needs a certificate: %w (or set tls.certificate and tls.key in etc/ctl.yaml)", err)
		}
		return k.ServerTLS(o), nil
	}
	var trust func() *x509.CertPool
	if o.Clients != tls.NoClientCert {
		k, err := s.certs.get()
		if err != nil {
			return nil, fmt.Errorf("tls.clientCertificates: %w", err)
		}
		trust = k.Pool
	}
	files, err := keystore.OpenFiles(s.home.Path(c.Certificate), s.home.Path(c.Key), o, trust, s.registry.Logger("org.ctl.keystore"))
	if err != nil {
		return nil, fmt.Errorf("tls.certificate, tls.key: %w", err)
	}
	s.certs.show(files)
	s.background(ctx, "certificate files", files.Run)
	return files.ServerTLS(), nil
}

// strict makes browsers come over TLS only, for so long.
func strict(next http.Handler, d time.Duration) http.Handler {
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
		w.Header().Set("Location", "https://"+net.JoinHostPort(strings.Trim(host, "[]"), port)+r.URL.RequestURI())
		w.WriteHeader(http.StatusPermanentRedirect)
	})
}
