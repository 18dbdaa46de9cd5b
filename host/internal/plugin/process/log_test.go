package process

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A plugin chooses neither the time of its lines nor who they seem to be of.
func TestTheHostSaysWhenAndOfWhomALineIs(t *testing.T) {
	var out bytes.Buffer
	s := newLogSink(Spec{Logger: slog.New(slog.NewJSONHandler(&out, nil)).With("logger", "plugin.x", "plugin", "x"), LogRate: 100})
	began := time.Now()
	for _, line := range []string{
		`{"time":"1999-01-01T00:00:00Z","@timestamp":"1999-01-01T00:00:00Z","level":"INFO","msg":"m","logger":"a","@module":"b","plugin":"y","pid":1}`,
		`{"@timestamp":"1999-01-01T00:00:00.000000Z","@level":"info","@message":"m","TIME":"1999-01-01T00:00:00Z","LOGGER":"org.ctl.aaa"}`,
		"1999-01-01T00:00:00Z | ERROR | org.ctl.aaa | nobody\r\n{\"logger\":\"org.ctl.aaa\"}",
	} {
		out.Reset()
		s.logStderr([]byte(line), 0)
		var got struct {
			Time   time.Time
			Plugin string
		}
		text := out.String()
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Time.Before(began) || got.Plugin != "x" {
			t.Errorf("%q is logged as %s %v", line, text, err)
		}
		for _, key := range []string{"time", "level", "msg", "logger", "plugin", "pid"} {
			if n := strings.Count(strings.ToLower(text), `"`+key+`":`); n > 1 {
				t.Errorf("%q is logged with %d members %s: %s", line, n, key, text)
			}
		}
		if strings.Count(text, "\n") != 1 {
			t.Errorf("%q is logged as %d lines", line, strings.Count(text, "\n"))
		}
	}
}

// What is dropped for its number costs no memory, and the last words of a program are not among it.
func TestAFloodOfLinesIsNotDecoded(t *testing.T) {
	var lost atomic.Uint64
	s := newLogSink(Spec{Logger: slog.New(slog.DiscardHandler), LogRate: 1, LogLost: &lost})
	line := []byte(`{"msg":"` + strings.Repeat("x", 4000) + `"}`)
	for range 1000 {
		s.logStderr(line, 0)
	}
	if n := testing.AllocsPerRun(100, func() { s.logStderr(line, 0) }); n > 0 {
		t.Errorf("a line that is dropped is worth %v allocations", n)
	}
	if lost.Load() < 1000 {
		t.Errorf("%d lines are counted as lost", lost.Load())
	}
	s.logStderr([]byte("panic: no"), 0)
	s.logStderr([]byte("goroutine 1 [running]:"), 0)
	if words := s.lastLines(); words[len(words)-2] != "panic: no" {
		t.Errorf("the last words are %q", words[len(words)-2:])
	}
}
