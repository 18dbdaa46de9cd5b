package e2e

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"ctl.internal/test/harness"
)

// TestTraceOfARequest: a traceparent sent over HTTP reaches the handler in a plugin,
// and through the Switchboard the one that the plugin calls; all log lines tell it.
func TestTraceOfARequest(t *testing.T) {
	c := start(t, harness.NewHome(t))
	installFaulty(t, c)
	c.Ctl("log:set DEBUG org.ctl.aaa.sec.filters.AuthenticationListener")
	const trace = "0af7651916cd43dd8448eb211c80319c"
	relay(t, c, "00-"+trace+"-b7ad6b7169203331-01")
	wanted := []string{`"msg":"relaying"`, `"msg":"reading ports"`, "Successful authentication attempt by admin"}
	missing := func() (left []string) {
		log, _ := os.ReadFile(filepath.Join(c.Home, "log", "ctl.log"))
	next:
		for _, w := range wanted {
			for line := range strings.Lines(string(log)) {
				if strings.Contains(line, w) && strings.Contains(line, `"trace_id":"`+trace+`"`) {
					continue next
				}
			}
			left = append(left, w)
		}
		return left
	}
	// Log lines of plugins come on another way than answers.
	for end := time.Now().Add(3 * time.Minute); len(missing()) > 0; {
		if time.Now().After(end) {
			t.Fatalf("not in the log under the trace: %v", missing())
		}
		c.Ctl("plugin:list")
	}
}

// installFaulty installs the plugin that misbehaves on request.
func installFaulty(t *testing.T, c *controller) { install(t, c, "faulty") }

// install installs a plugin that is in no catalogue.
func install(t *testing.T, c *controller, plugin string, facets ...string) {
	t.Helper()
	repo := filepath.Join(filepath.Dir(c.Home), plugin+".yaml")
	text := strings.ReplaceAll("name: test\nfeatures:\n- name: PLUGIN\n  version: 1.0.0\n  description: for a test\n  depends: [ctl-restconf]\n"+
		"  plugins: [{name: PLUGIN}]\n  facets: [{facet: rest, plugin: PLUGIN}]\n", "PLUGIN", plugin)
	for _, facet := range facets {
		text = strings.Replace(text, "facets: [", "facets: [{facet: "+facet+", plugin: "+plugin+"}, ", 1)
	}
	if err := os.WriteFile(repo, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Ctl("feature:repo-add --unsigned " + repo)
	c.Ctl("feature:install --grant " + plugin)
}

// relay calls an RPC of which the plugin calls another plugin, itself.
func relay(t *testing.T, c *controller, traceparent string) {
	t.Helper()
	req, err := http.NewRequest("POST", c.HTTP+"/restconf/operations/faulty:relay", strings.NewReader(`{"input":{"provider":"faulty"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("admin", "admin")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", traceparent)
	if a := c.Send(req); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
}

// TestSpansOfARequest: of one request the collector gets one trace: the client's span,
// below it that of the host, of the handler in the plugin, of the handler in the plugin
// that this one calls. Of a trace that its client does not keep it gets nothing.
func TestSpansOfARequest(t *testing.T) {
	type span struct{ service, id, parent, trace string }
	var mu sync.Mutex
	got := map[string]span{} // by name
	arrived := make(chan struct{}, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var m collectorpb.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &m)
		}
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, rs := range m.ResourceSpans {
			service := ""
			for _, a := range rs.GetResource().GetAttributes() {
				if a.Key == "service.name" {
					service = a.Value.GetStringValue()
				}
			}
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					got[s.Name] = span{service, hex.EncodeToString(s.SpanId), hex.EncodeToString(s.ParentSpanId), hex.EncodeToString(s.TraceId)}
				}
			}
		}
		select {
		case arrived <- struct{}{}:
		default:
		}
	}))
	defer collector.Close()
	c := run(t, harness.Options{Environ: []string{"CTL_TRACING_ENDPOINT=" + collector.URL + "/v1/traces"}})
	installFaulty(t, c)
	const trace, client = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	relay(t, c, "00-11111111111111111111111111111111-"+client+"-00") // not kept
	relay(t, c, "00-"+trace+"-"+client+"-01")
	const host, first, second = "POST /restconf", "faulty:relay", "SwitchDriver/ReadPorts"
	for end := time.After(time.Minute); ; {
		mu.Lock()
		h, f, s := got[host], got[first], got[second]
		mu.Unlock()
		if h.id != "" && f.id != "" && s.id != "" {
			if h.service != "ctld" || f.service != "faulty" || s.service != "faulty" {
				t.Errorf("services: %+v %+v %+v", h, f, s)
			}
			if h.parent != client || f.parent != h.id || s.parent != f.id {
				t.Errorf("parents: %+v %+v %+v", h, f, s)
			}
			if h.trace != trace || f.trace != trace || s.trace != trace {
				t.Errorf("traces: %+v %+v %+v", h, f, s)
			}
			break
		}
		select {
		case <-arrived:
		case <-end:
			t.Fatalf("spans after a minute: %+v", got)
		}
	}
	if code := c.Stop(); code != 0 {
		t.Errorf("ctld stopped with exit code %d: %s", code, c.Said())
	}
	mu.Lock()
	defer mu.Unlock()
	for name, s := range got {
		if s.trace == "11111111111111111111111111111111" {
			t.Errorf("a span of a trace that is not kept: %s %+v", name, s)
		}
	}
}
