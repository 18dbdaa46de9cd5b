package server

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"ctl.internal/host/internal/aaa/act"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/logs"
)

// Changes that are denied are in the audit, one a minute for each caller and subtree; reads are not.
func TestDeniedChangesAreInTheAudit(t *testing.T) {
	dir := t.TempDir()
	audit, err := logs.OpenAudit(dir, 1<<20, 3)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{audit: audit, log: slog.New(slog.DiscardHandler), router: newRouter(func(*mux.Router) {}, func(string) http.Handler { return nil })}
	for _, c := range []struct{ who, method, path string }{
		{"ann@sdn", "GET", "/rests/data/x"}, {"ann@sdn", "PUT", "/rests/data/x"}, {"ann@sdn", "PUT", "/rests/data/y"}, {"ben@sdn", "DELETE", "/rests/data/x"},
		{"ann@sdn", "POST", "/made/up"}, {"ann@sdn", "POST", "/made/up/too"},
	} {
		h := s.recordRequests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			act.Of(r.Context()).SentBy(act.Sender{User: c.who})
			w.WriteHeader(http.StatusUnauthorized)
		}))
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(c.method, c.path, nil))
	}
	if st := audit.Stats(); st.Refused != 3 || st.OK != 0 {
		t.Errorf("%+v", st)
	}
	if err := audit.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	if _, err := logs.VerifyAudit(dir, nil, func(r logs.AuditRecord) bool {
		got = append(got, r.Who+" "+r.Object+" "+r.Outcome)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if want := "ann@sdn PUT /rests/data/x refused, ben@sdn DELETE /rests/data/x refused, ann@sdn POST /made/up refused"; strings.Join(got, ", ") != want {
		t.Errorf("%s", got)
	}
}

// What is refused is summed, and who was refused long ago makes room for others.
func TestRefusalsAreSummedAndBounded(t *testing.T) {
	var r refusals
	now := time.Now()
	write := func(key string, at time.Time) string {
		_, w, before := r.countRefusal(key, logs.AuditRecord{Outcome: refused}, at, onlyFirst)
		return strings.Repeat("w", map[bool]int{true: 1}[w]) + strings.Repeat("b", before)
	}
	for i, want := range []string{"w", "", ""} {
		if got := write("a", now.Add(time.Duration(i)*time.Second)); got != want {
			t.Errorf("%d: %q", i, got)
		}
	}
	if got := write("a", now.Add(time.Minute)); got != "wbb" {
		t.Errorf("after a minute: %q", got)
	}
	for i := range maxRefusals {
		write(strings.Repeat("x", i+1), now)
	}
	if got := write("one more", now); got != "" {
		t.Errorf("more than the bound: %q", got)
	}
	// What is not reported yet stays: as one, all that found no room.
	if got := write("later", now.Add(2*time.Minute)); got != "w" || len(r.seen) > 2 {
		t.Errorf("later: %q, %d are counted", got, len(r.seen))
	}
}

func TestCallsOfTheStoreAreMeasured(t *testing.T) {
	m := newStoreMetrics()
	s := datastore.Bound(newStore(t), time.Minute, m.observeOperation)
	if _, err := s.Commit(t.Context(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", []byte("v"))}}); err != nil {
		t.Fatal(err)
	}
	absent := []datastore.Compare{{Namespace: "n", Key: "k", Revision: 0}}
	if _, err := s.Commit(t.Context(), datastore.Txn{Compares: absent, Ops: []datastore.Op{datastore.Put("n", "k", nil)}}); err == nil {
		t.Fatal("no conflict")
	}
	if _, err := s.Barrier(t.Context()); err != nil {
		t.Fatal(err)
	}
	var conflicts dto.Metric
	if err := m.errors.WithLabelValues("commit", "conflict").Write(&conflicts); err != nil || conflicts.Counter.GetValue() != 1 {
		t.Errorf("%v %v", &conflicts, err)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(m.seconds)
	fams, err := reg.Gather()
	if err != nil || len(fams) != 1 {
		t.Fatal(fams, err)
	}
	for _, one := range fams[0].Metric {
		want := map[string]uint64{"barrier": 1, "commit": 2}[one.Label[0].GetValue()]
		if one.Histogram.GetSampleCount() != want {
			t.Errorf("%v", one)
		}
	}
}
