package server

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
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
		strict(next, d).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if got := w.Header().Get("Strict-Transport-Security"); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
