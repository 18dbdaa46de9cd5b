package plugin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestFault10LogLinesKeepTheirMeaning(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	i, _ := r.Info("faulty")
	for _, c := range []struct{ line, level, msg string }{
		{`{"time":"2026-01-02T03:04:05Z","level":"WARN","msg":"by slog","port":7}`, "WARN", "by slog"},
		{`{"@level":"error","@message":"by hclog","@module":"sub"}`, "ERROR", "by hclog"},
		{`[WARN] by hand`, "WARN", "by hand"},
		{`plain words`, "INFO", "plain words"},
	} {
		in, _ := json.Marshal(map[string]string{"text": c.line})
		r.must("log", string(in))
		rec := r.find(c.msg)
		if rec["level"] != c.level || rec["plugin"] != "faulty" || rec["version"] != "1.0.0" || rec["pid"] != float64(i.PID) || rec["logger"] != "plugin.faulty" {
			t.Errorf("%s: %v", c.line, rec)
		}
	}
	r.must("print", `{"text":"a stray print"}`)
	if rec := r.find("a stray print"); rec["level"] != "WARN" {
		t.Errorf("a stray print: %v", rec)
	}
}

// find waits for a record of the log and returns it.
func (r *rig) find(msg string) map[string]any {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		for line := range strings.Lines(r.log.String()) {
			var rec map[string]any
			if json.Unmarshal([]byte(line), &rec) == nil && strings.Contains(fmt.Sprint(rec["msg"]), msg) {
				return rec
			}
		}
		r.must("echo", "{}") // gives the log time
	}
	r.t.Fatalf("no record %q in the log", msg)
	return nil
}

func TestFault10LongLinesAndFloodsAreBounded(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Limits.LogRate = 50 })
	r.ensure(faulty())
	r.must("huge-line", `{"bytes":3000000}`)
	rec := r.find("xxxx")
	if n := len(rec["msg"].(string)); n > 64<<10 || rec["bytes_cut"] == nil {
		t.Errorf("a line of %d bytes, cut %v", n, rec["bytes_cut"])
	}
	r.must("flood", `{"lines":20000}`)
	if err := r.Stop(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Info("faulty"); err != nil { // reading the tail reports what was dropped
		t.Fatal(err)
	}
	if n := r.log.count(`"msg":"flood"`); n > 2000 {
		t.Errorf("%d lines of a flood came through", n)
	}
	if r.log.count("lines were dropped") == 0 {
		t.Error("the log does not say that lines were dropped")
	}
}
