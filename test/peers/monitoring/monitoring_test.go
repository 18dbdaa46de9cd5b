//go:build peers

// Package monitoring runs a Prometheus that scrapes a running controller, and an rsyslogd that takes its audit.
package monitoring

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

var bin string

func TestMain(m *testing.M) { os.Exit(harness.Main(m, "../../..", &bin)) }

const patience = 5 * time.Minute

func peer(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh)", name)
	}
	return path
}

// The rules are such as promtool takes.
func TestAlertRulesAreValid(t *testing.T) {
	promtool := peer(t, "promtool")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, promtool, "check", "rules", "../../../docs/monitoring/ctl-alerts.yaml").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "SUCCESS") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Every expression of the dashboard has a result from a Prometheus that scraped a controller, but for those named here, whose
// cause does not occur in a quiet one.
func TestDashboardShowsAController(t *testing.T) {
	program := peer(t, "prometheus")
	c := harness.Run(t, harness.Options{Bin: bin, Args: []string{"--https", "127.0.0.1:0"}, Files: map[string]string{"switch.yaml": "counters: {interval: 2s}\n"}})
	c.Ctl("feature:install ctl-switch-all ctl-bier-all")
	dir := t.TempDir()
	list := filepath.Join(dir, "switches.csv") // of a switch whose ports are in the metrics
	harness.Lab(t, bin, "single:1", list)
	c.Ctl("switch:ReadDB " + list)
	c.Ctl("switch:TopoDiscover")
	rules, err := filepath.Abs("../../../docs/monitoring/ctl-alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%s]\nscrape_configs:\n- job_name: ctl\n  static_configs: [{targets: [%q]}]\n", rules, c.Address("admin"))
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	p := prometheus{t, "http://" + address, time.Now().Add(patience)}
	p.until("the controller was scraped three times", func() bool { return p.count(`count_over_time(up{job="ctl"}[1m]) >= 3`) > 0 })

	for _, e := range expressions(t) {
		e := e
		p.until(e, func() bool {
			for _, password := range []string{"admin", "wrong"} { // one is answered 404, one 401
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.HTTP+"/rests/data/absent", nil)
				if err != nil {
					t.Fatal(err)
				}
				r.SetBasicAuth("admin", password)
				if answer, err := http.DefaultClient.Do(r); err == nil {
					answer.Body.Close()
				}
			}
			return p.count(e) > 0
		})
	}
	var groups struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	p.until("all rules were evaluated", func() bool {
		p.get("/api/v1/rules", &groups)
		for _, g := range groups.Groups {
			for _, r := range g.Rules {
				if r.Health == "unknown" {
					return false
				}
			}
		}
		return len(groups.Groups) > 0
	})
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			if r.Health != "ok" {
				t.Errorf("rule %s: %s %s", r.Name, r.Health, r.LastError)
			}
		}
	}
}

// expressions are those of the dashboard, its variables filled in as Grafana does.
func expressions(t *testing.T) []string {
	b, err := os.ReadFile("../../../docs/monitoring/ctl-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range d.Panels {
		for _, x := range p.Targets {
			out = append(out, strings.NewReplacer("$__rate_interval", "1m", "$instance", ".*").Replace(x.Expr))
		}
	}
	if len(out) < 15 {
		t.Fatalf("the dashboard has %d expressions", len(out))
	}
	return out
}

type prometheus struct {
	t    *testing.T
	base string
	end  time.Time
}

// until asks again until something holds.
func (p prometheus) until(what string, holds func() bool) {
	p.t.Helper()
	for tick := time.NewTicker(200 * time.Millisecond); !holds(); <-tick.C {
		if time.Now().After(p.end) {
			p.t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

func (p prometheus) count(expr string) int {
	var v struct{ Result []any }
	p.get("/api/v1/query?query="+url.QueryEscape(expr), &v)
	return len(v.Result)
}

// get decodes the data of an answer; none while the server begins.
func (p prometheus) get(path string, data any) {
	p.t.Helper()
	r, err := http.Get(p.base + path)
	if err != nil {
		return
	}
	defer r.Body.Close()
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if json.NewDecoder(r.Body).Decode(&answer) != nil {
		return
	}
	if answer.Status != "success" {
		p.t.Fatalf("%s: %s", path, answer.Error)
	}
	if err := json.Unmarshal(answer.Data, data); err != nil {
		p.t.Fatal(err)
	}
}
