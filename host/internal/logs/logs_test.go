package logs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// lumberjack keeps one goroutine for each file for the life of the process.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}

func lines(t *testing.T, path string) []map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []map[string]any
	for s := bufio.NewScanner(f); s.Scan(); {
		var m map[string]any
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			t.Fatalf("not one JSON object a line: %q: %v", s.Text(), err)
		}
		out = append(out, m)
	}
	return out
}

func TestFileHasOneJSONObjectALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctl.log")
	r := New(Options{File: path})
	r.Logger("org.ctl.aaa").With("request", 7).Warn("user \"x\"\n{\"level\":\"INFO\"}\x1b[2J", "name", "a\nb", "password", "hunter2",
		slog.Group("device", "snmpCommunity", "private"))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got := lines(t, path)
	if len(got) != 1 {
		t.Fatalf("%d lines for one record", len(got))
	}
	delete(got[0], "time")
	want := map[string]any{"level": "WARN", "logger": "org.ctl.aaa", "request": 7.0, "msg": "user \"x\"\n{\"level\":\"INFO\"}\x1b[2J",
		"name": "a\nb", "password": Redacted, "device": map[string]any{"snmpCommunity": Redacted}}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Fatal(diff)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
}

func TestLevelsAreInheritedAndChangeAtRunTime(t *testing.T) {
	r := New(Options{Levels: map[string]slog.Level{"org.ctl.aaa": slog.LevelWarn}})
	filter := r.Logger("org.ctl.aaa.sec.filters.AuthenticationListener")
	set := func(name, level string) {
		t.Helper()
		if err := r.Set(name, level); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	if filter.Enabled(ctx, slog.LevelInfo) {
		t.Fatal("INFO passes though org.ctl.aaa is at WARN")
	}
	set("org.ctl.aaa", "trace")
	if !filter.Enabled(ctx, Trace) || r.Get("org.ctl.aaa.sec") != "TRACE" {
		t.Fatal("a logger that exists does not follow log:set")
	}
	set("org.ctl.aaa.sec", "OFF")
	if filter.Enabled(ctx, Fatal) {
		t.Fatal("FATAL passes though the logger is OFF")
	}
	set("org.ctl.aaa.sec", "DEFAULT")
	if !filter.Enabled(ctx, Trace) {
		t.Fatal("DEFAULT does not give the inherited level back")
	}
	set("", "ERROR")
	if r.Logger("org.ctlx").Enabled(ctx, slog.LevelWarn) || r.Get("org.ctlx") != "ERROR" {
		t.Fatal("ROOT is not inherited")
	}
	want := []Setting{{"ROOT", "ERROR"}, {"org.ctl.aaa", "TRACE"}}
	if diff := cmp.Diff(want, r.List()); diff != "" {
		t.Fatal(diff)
	}
	if !slices.Contains(r.Names(), "org.ctl.aaa.sec.filters.AuthenticationListener") {
		t.Fatalf("names %v", r.Names())
	}
	for _, c := range []struct{ name, level, says string }{
		{"ROOT", "LOUD", "TRACE DEBUG INFO"}, {"a b", "INFO", "name"}, {"a..b", "INFO", "name"}, {"\x1b", "INFO", "name"}} {
		if err := r.Set(c.name, c.level); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Set(%q, %q) = %v, want %q", c.name, c.level, err, c.says)
		}
	}
	set("ROOT", "default")
	if r.Get("x") != "INFO" {
		t.Fatalf("ROOT at %s", r.Get("x"))
	}
}

func TestNewestRecordsAreKeptInMemory(t *testing.T) {
	r := New(Options{Buffer: 3})
	log := r.Logger("plugin.switch")
	for _, m := range []string{"a", "b", "c", "d\x1b[2J"} {
		log.Info(m)
	}
	var got []string
	for _, e := range r.Recent(2) {
		got = append(got, e.Text()[len("2006-01-02T15:04:05.000"):])
	}
	if diff := cmp.Diff([]string{" | INFO  | plugin.switch | c", ` | INFO  | plugin.switch | d\x1b[2J`}, got); diff != "" {
		t.Fatal(diff)
	}
	if n := len(r.Recent(0)); n != 3 {
		t.Fatalf("%d kept, want 3", n)
	}
	r.Clear()
	if n := len(r.Recent(0)); n != 0 {
		t.Fatalf("%d after clear", n)
	}
}

func TestFollowTellsWhatItLost(t *testing.T) {
	r := New(Options{Buffer: 2})
	log := r.Logger("x")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started, flooded, enough := make(chan struct{}), make(chan struct{}), errors.New("enough")
	var once sync.Once
	type seen struct {
		Message string
		Lost    uint64
	}
	var got []seen
	ended := make(chan error, 1)
	go func() {
		ended <- r.Follow(ctx, func(e Entry, lost uint64) error {
			if e.Message == "begin" {
				once.Do(func() { close(started) })
				<-flooded
				return nil
			}
			got = append(got, seen{e.Message, lost})
			if e.Message == "5" {
				return enough
			}
			return nil
		})
	}()
	for { // until the follower, which begins at its own moment, is there
		log.Info("begin")
		select {
		case <-started:
		default:
			continue
		}
		break
	}
	for _, m := range []string{"1", "2", "3", "4", "5"} {
		log.Info(m)
	}
	close(flooded)
	if err := <-ended; !errors.Is(err, enough) {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Message != "4" || got[0].Lost < 3 || got[1] != (seen{"5", 0}) {
		t.Fatalf("saw %+v; want 4 with a loss of at least 3, then 5", got)
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	r := New(Options{File: filepath.Join(dir, "ctl.log"), MaxSize: 1, Keep: 2})
	defer r.Close()
	for range 25 {
		r.Logger("x").Info(strings.Repeat("m", 50_000))
	}
	files, err := filepath.Glob(filepath.Join(dir, "ctl*.log"))
	if err != nil || len(files) < 2 {
		t.Fatalf("files %v, %v: not rotated", files, err)
	}
}

func TestLoggingFromManyIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctl.log")
	r := New(Options{File: path})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				r.Logger("x").Info("m", "k", "v")
			}
		})
	}
	wg.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(lines(t, path)); n != 400 {
		t.Fatalf("%d lines, want 400", n)
	}
}

// A file that takes no records, as in a directory of root, is reported once, and the
// records go to the fallback until it does.
func TestRecordsThatTheFileDoesNotTake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the directory should be
		t.Fatal(err)
	}
	var said strings.Builder
	r := New(Options{File: filepath.Join(dir, "ctl.log"), Fallback: &said})
	defer r.Close()
	r.Logger("a").Info("first")
	r.Logger("a").Info("second")
	if got := said.String(); strings.Count(got, "takes no more records") != 1 || !strings.Contains(got, dir) ||
		!strings.Contains(got, `"msg":"first"`) || !strings.Contains(got, `"msg":"second"`) {
		t.Errorf("the fallback got %q", got)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	before := said.Len()
	r.Logger("a").Info("third")
	if got := lines(t, filepath.Join(dir, "ctl.log")); len(got) != 1 || got[0]["msg"] != "third" || said.Len() != before {
		t.Errorf("the file has %v, the fallback %q", got, said.String()[before:])
	}
}

func TestTheNewestRecordsAreBoundedInBytes(t *testing.T) {
	r := New(Options{})
	for range 3000 {
		r.Logger("plugin.p").Info(strings.Repeat("x", 8<<10))
	}
	size := 0
	for _, e := range r.Recent(0) {
		size += len(e.JSON) + len(e.Message)
	}
	if size > ringBytes || size < ringBytes/2 {
		t.Errorf("%d bytes are kept", size)
	}
}
