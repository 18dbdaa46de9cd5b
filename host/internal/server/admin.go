package server

import (
	"encoding/json"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// reason says why the controller is not ready, and what to do about it.
type reason struct {
	What   string `json:"what"` // "store", "disk", "quorum" or "plugin NAME"
	Why    string `json:"why"`
	Remedy string `json:"remedy"`
}

// adminHandler serves /livez, /readyz and /metrics, for operators on loopback.
func adminHandler(ready func(*http.Request) []reason, metrics prometheus.Gatherer) http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	m.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		reasons := ready(r)
		w.Header().Set("Content-Type", "application/json")
		if len(reasons) > 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		} else {
			reasons = []reason{}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"ready": len(reasons) == 0, "reasons": reasons})
	})
	m.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	return m
}
