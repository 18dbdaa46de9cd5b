package review

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// record is a server that answers requests by files under testdata. The keys are
// the path as sent (escaped) and the query as sent.
type record struct {
	*httptest.Server
	answers map[string]string
	asked   atomic.Int64
}

func play(t *testing.T, version string, answers map[string]string) *record {
	t.Helper()
	r := &record{answers: answers}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.asked.Add(1)
		name, ok := r.answers[req.URL.EscapedPath()+"?"+req.URL.RawQuery]
		if !ok {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			http.Error(w, "Not found: "+req.URL.EscapedPath()+"?"+req.URL.RawQuery, http.StatusNotFound)
			return
		}
		body, err := os.ReadFile(filepath.Join("testdata", version, name))
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(body)
	}))
	t.Cleanup(r.Close)
	return r
}

func client(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Budget == 0 {
		o.Budget = time.Minute
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
