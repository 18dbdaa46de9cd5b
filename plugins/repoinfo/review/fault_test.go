package review

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/sdk/fault"
)

const good = ")]}'\n{\"netconf\":{\"id\":\"netconf\"}}\n"

func TestServerFaults(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	for _, row := range []struct {
		name   string
		answer func(n int64, w http.ResponseWriter, r *http.Request)
		kind   fault.Kind
		text   string
		asked  int64
	}{
		{"web page", func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=UTF-8")
			_, _ = io.WriteString(w, "<html>please log in</html>")
		}, fault.Downstream, "web page", 1},
		{"truncated JSON", func(_ int64, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, good[:20]) }, fault.Downstream, "not JSON", 1},
		{"an array where a map belongs", func(_ int64, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, ")]}'\n[1]") }, fault.Downstream, "another shape", 1},
		{"broken off", func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, good[:20])
		}, fault.Downstream, "was interrupted", 2},
		{"no access", func(_ int64, w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
		}, fault.Downstream, "review.username", 1},
		{"bad request", func(_ int64, w http.ResponseWriter, _ *http.Request) { http.Error(w, "limit too large", 400) }, fault.Downstream, "limit too large", 1},
		{"always too many requests", func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "0")
			http.Error(w, "slow down", http.StatusTooManyRequests)
		}, fault.Unavailable, "answered 429 and wants to be asked again after 0s", 2},
		{"too many requests for longer than the budget", func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1800")
			http.Error(w, "slow down", http.StatusTooManyRequests)
		}, fault.Unavailable, "after 30m0s", 1},
		{"away until a date", func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", time.Now().Add(10*time.Minute+time.Second/2).UTC().Format(http.TimeFormat))
			http.Error(w, "maintenance", http.StatusServiceUnavailable)
		}, fault.Unavailable, "answered 503", 1},
		{"null", func(_ int64, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, ")]}'\nnull\n") }, fault.Downstream, "another shape", 1},
		{"internal error", func(_ int64, w http.ResponseWriter, _ *http.Request) { http.Error(w, "oops", 500) }, fault.Downstream, "500", 2},
		{"too long", func(_ int64, w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"`+strings.Repeat("x", 2<<20)+`":{}}`)
		}, fault.Downstream, "longer than", 1},
		{"silent", func(_ int64, w http.ResponseWriter, r *http.Request) {
			select {
			case <-gate:
			case <-r.Context().Done():
			}
		}, fault.Timeout, "in time", 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			var asked atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { row.answer(asked.Add(1), w, r) }))
			defer srv.Close()
			timeout := time.Minute
			if row.kind == fault.Timeout { // silence is to be short, but the request must come
				timeout = 2 * time.Second
			}
			c := client(t, Options{URL: srv.URL, Username: "u", Password: "s3cret", Timeout: timeout, Tries: 2, MaxBytes: 1 << 20})
			_, err := c.Projects(t.Context())
			if err == nil || fault.KindOf(err) != row.kind || !strings.Contains(err.Error(), row.text) {
				t.Errorf("got %v (kind %v), want %v with %q", err, fault.KindOf(err), row.kind, row.text)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Error("the password is in the error")
			}
			if n := asked.Load(); n != row.asked {
				t.Errorf("asked %d times, want %d", n, row.asked)
			}
		})
	}
}

func TestAMomentOfWeaknessIsBridged(t *testing.T) {
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 {
			w.Header().Set("Retry-After", "0")
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, good)
	}))
	defer srv.Close()
	if names, err := client(t, Options{URL: srv.URL}).Projects(t.Context()); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

func TestRetriesOfAllCallersHaveOneBudget(t *testing.T) {
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "0")
		http.Error(w, "busy", http.StatusServiceUnavailable)
	}))
	defer srv.Close()
	c := client(t, Options{URL: srv.URL})
	for range 20 {
		if _, err := c.Projects(t.Context()); fault.KindOf(err) != fault.Downstream {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n > 20+12 {
		t.Errorf("20 questions were put %d times", n)
	}
}

func TestAProjectThatFailsTakesNoRetriesFromOthers(t *testing.T) {
	var good atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "0")
		if strings.Contains(r.URL.Path, "/bad/") || good.Add(1)%2 == 1 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "[]")
	}))
	defer srv.Close()
	c := client(t, Options{URL: srv.URL})
	for range 20 {
		if _, err := c.Tags(t.Context(), "bad"); fault.KindOf(err) != fault.Downstream {
			t.Fatal(err)
		}
	}
	for range 5 {
		if _, err := c.Tags(t.Context(), "good"); err != nil {
			t.Errorf("a question that one retry cures: %v", err)
		}
	}
}

func TestCredentialsStayWithTheirServer(t *testing.T) {
	var leaked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked.Add(1)
		_, _ = io.WriteString(w, good)
	}))
	defer other.Close()
	for name, to := range map[string]string{"another port": other.URL, "another name": strings.Replace(other.URL, "127.0.0.1", "localhost", 1)} {
		srv := httptest.NewServer(http.RedirectHandler(to+"/projects/", http.StatusFound))
		_, err := client(t, Options{URL: srv.URL, Username: "u", Password: "s3cret"}).Projects(t.Context())
		if fault.KindOf(err) != fault.Downstream || !strings.Contains(err.Error(), "set review_url") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
		srv.Close()
	}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+r.Host+r.URL.Path, http.StatusFound)
	}))
	defer srv.Close()
	c := client(t, Options{URL: srv.URL, Username: "u", Password: "s3cret"})
	c.http.Transport = srv.Client().Transport
	if _, err := c.Projects(t.Context()); fault.KindOf(err) != fault.Downstream || !strings.Contains(err.Error(), "http://") {
		t.Errorf("without encryption: %v", err)
	}
	if leaked.Load() != 0 {
		t.Error("the other server was asked")
	}
	same := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/") {
			http.Redirect(w, r, r.URL.Path+"/", http.StatusFound)
			return
		}
		if user, _, _ := r.BasicAuth(); user != "u" {
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, good)
	}))
	defer same.Close()
	if _, err := client(t, Options{URL: same.URL, Username: "u", Password: "s3cret"}).Projects(t.Context()); err != nil {
		t.Errorf("the same server: %v", err)
	}
}

func TestAnswersAreRevalidated(t *testing.T) {
	var asked, changed atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		changed.Add(1)
		w.Header().Set("ETag", `"1"`)
		_, _ = io.WriteString(w, good)
	}))
	defer srv.Close()
	c := client(t, Options{URL: srv.URL})
	for range 3 {
		if names, err := c.Projects(t.Context()); err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
	}
	if asked.Load() != 3 || changed.Load() != 1 {
		t.Errorf("asked %d times, sent %d times", asked.Load(), changed.Load())
	}
	c = client(t, Options{URL: srv.URL, Fresh: time.Hour})
	for range 3 {
		if _, err := c.Projects(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if asked.Load() != 4 {
		t.Errorf("a fresh answer was asked for again: %d", asked.Load())
	}
}

func TestTheCallerGivesUp(t *testing.T) {
	began := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	c := client(t, Options{URL: srv.URL})
	done := make(chan error)
	go func() { _, err := c.Projects(ctx); done <- err }()
	<-began
	cancel()
	if err := <-done; err == nil || fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
}

// Names that are not UTF-8 are passed on as JSON that clients can read.
func TestNamesThatAreNotUTF8(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, ")]}'\n[{\"ref\":\"refs/heads/J\xf6rg\",\"revision\":null}]")
	}))
	defer srv.Close()
	got, err := client(t, Options{URL: srv.URL}).Branches(t.Context(), "p")
	if err != nil || len(got) != 1 || string(got[0]) != "{\"ref\":\"refs/heads/J\uFFFDrg\",\"revision\":null}" {
		t.Errorf("%s %v", got, err)
	}
}
