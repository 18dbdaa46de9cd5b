package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Requests are counted by subtree and status, and what clients make up makes no series of its own.
func TestRequestsAreMeasuredBySubtree(t *testing.T) {
	router := newRouter(func(*mux.Router) {}, func(string) http.Handler { return http.NotFoundHandler() })
	router.updateRoutes([]*pluginv1.Manifest{{Name: "own", Routes: []*pluginv1.Route{{Path: "/own"}}}})
	m := newHTTPMetrics()
	h := m.measureRequests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).Flush(); err != nil { // event streams do
			t.Errorf("Flush: %v", err)
		}
	}), router.subtreeOf)
	for _, path := range []string{"/rests/data/x", "/rests", "/rests/made-up", "/rests/operations/m:r", "/own/a/b", "/", "/made-up/1", "/made-up-2", "/ownx"} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(m.seconds)
	families, err := reg.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%v, %v", families, err)
	}
	got := map[string]uint64{}
	for _, s := range families[0].Metric {
		for _, l := range s.Label {
			if l.GetName() == "subtree" {
				got[l.GetValue()] += s.Histogram.GetSampleCount()
			}
		}
	}
	for subtree, n := range map[string]uint64{"/rests": 2, "/rests/data": 1, "/rests/operations": 1, "/own": 1, "/": 1, "other": 3} {
		if got[subtree] != n {
			t.Errorf("%s: %d, want %d", subtree, got[subtree], n)
		}
	}
	if len(got) != 6 {
		t.Errorf("%v", got)
	}
}
