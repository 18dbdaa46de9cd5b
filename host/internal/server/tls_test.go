package server

import (
	"crypto/tls"
	"encoding/pem"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"ctl.internal/host/internal/home"
)

func TestRedirectKeepsNameAndPath(t *testing.T) {
	h := toHTTPS(&net.TCPAddr{Port: 8443})
	for host, want := range map[string]string{
		"lab.example:8181": "https://lab.example:8443/rests/data?depth=1", "lab.example": "https://lab.example:8443/rests/data?depth=1",
		"[::1]:8181": "https://[::1]:8443/rests/data?depth=1", "[::1]": "https://[::1]:8443/rests/data?depth=1",
	} {
		r := httptest.NewRequest("POST", "/rests/data?depth=1", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusPermanentRedirect || w.Header().Get("Location") != want {
			t.Errorf("%s: %d %s", host, w.Code, w.Header().Get("Location"))
		}
	}
}

func TestStrictTransportSecurity(t *testing.T) {
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for d, want := range map[time.Duration]string{0: "", 24 * time.Hour: "max-age=86400"} {
		w := httptest.NewRecorder()
		withStrictTransport(next, d).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if got := w.Header().Get("Strict-Transport-Security"); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

// Programs of this machine find the certificate that clients are shown, from the start on and after each change.
func TestTheCertificateThatIsShownIsInAFile(t *testing.T) {
	dir := home.Dir(t.TempDir())
	if err := os.MkdirAll(dir.Run(), 0o700); err != nil {
		t.Fatal(err)
	}
	shown := []byte("first")
	config := &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{shown}}}}, nil
	}}
	s := &Server{home: dir, log: slog.New(slog.DiscardHandler)}
	published := func() string {
		t.Helper()
		text, err := os.ReadFile(dir.Run(certificateFile))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(text)
		return string(block.Bytes)
	}
	s.publishCertificate(config)
	if got := published(); got != "first" {
		t.Errorf("at the start: %q", got)
	}
	shown = []byte("second")
	if _, err := config.GetConfigForClient(nil); err != nil {
		t.Fatal(err)
	}
	if got := published(); got != "second" {
		t.Errorf("after a change: %q", got)
	}
}
