package server

import (
	"net/http"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"ctl.internal/host/internal/aaa/accounting"
)

// httpMetrics measure what is answered, by the subtree that was asked for.
type httpMetrics struct {
	seconds *prometheus.HistogramVec
	by      sync.Map // http.Handler by subtree
}

func newHTTPMetrics() *httpMetrics {
	return &httpMetrics{seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "ctl_http_request_seconds", Help: "Duration of HTTP requests by subtree and status; event streams count when they end.",
		Buckets: []float64{.005, .025, .1, .5, 2.5, 10},
	}, []string{"subtree", "code"})}
}

// handler measures the requests that next serves; subtree names that of a path, from a bounded set.
func (m *httpMetrics) handler(next http.Handler, subtree func(path string) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := subtree(r.URL.Path)
		h, ok := m.by.Load(name)
		if !ok {
			h, _ = m.by.LoadOrStore(name, promhttp.InstrumentHandlerDuration(m.seconds.MustCurryWith(prometheus.Labels{"subtree": name}), next))
		}
		h.(http.Handler).ServeHTTP(w, r)
	})
}

// subtreeOf is the first segment of a path where the controller or a plugin serves something below it, else "other".
func (r *router) subtreeOf(path string) string {
	if path == "/" {
		return path
	}
	name := path
	if end := strings.IndexByte(path[min(1, len(path)):], '/'); end >= 0 {
		name = path[:end+1]
	}
	if r.now.Load().subtrees[name] {
		return name
	}
	return "other"
}

// loginCounters count logins, each request with credentials being one.
func loginCounters(of *accounting.Recorder) []prometheus.Collector {
	var out []prometheus.Collector
	for result, n := range map[string]func() uint64{"ok": of.Accepted, "refused": of.Refused} {
		out = append(out, prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "ctl_logins_total",
			Help: "Logins, each request with credentials being one.", ConstLabels: prometheus.Labels{"result": result}}, func() float64 { return float64(n()) }))
	}
	return out
}
