package review

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestServerIsVerifiedAgainstWhatTheControllerTrusts(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, ")]}'\n{}")
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	var pool atomic.Pointer[x509.CertPool]
	pool.Store(x509.NewCertPool())
	c, err := New(Options{URL: srv.URL, Tries: 1, TLS: func(_ context.Context, server string) (*tls.Config, error) {
		return &tls.Config{RootCAs: pool.Load(), ServerName: server}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ask := func() error { _, _, err := c.getPage(t.Context(), "projects/", true); return err }
	if err := ask(); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Fatalf("an untrusted server: %v", err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(srv.Certificate())
	pool.Store(trusted) // counts for the next connection
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	pool.Store(x509.NewCertPool())
	c.Close()
	c.cache = nil
	if err := ask(); err == nil {
		t.Fatal("a server that is no longer trusted answers")
	}
	// The certificate is for 127.0.0.1 and example.com, not for localhost.
	pool.Store(trusted)
	other, err := New(Options{URL: strings.Replace(srv.URL, "127.0.0.1", "localhost", 1), Tries: 1, TLS: c.o.TLS})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, _, err := other.getPage(t.Context(), "projects/", true); err == nil || !strings.Contains(err.Error(), "localhost") {
		t.Fatalf("a certificate for another name: %v", err)
	}
}
