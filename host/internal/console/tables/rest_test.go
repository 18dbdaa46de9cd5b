package tables

import (
	"context"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
	"ctl.internal/internal/console"
)

func newLogs() *logs.Registry { return logs.New(logs.Options{}) }

func TestLogCommands(t *testing.T) {
	r := newLogs()
	defer r.Close()
	s := session(LogCommands(r))
	got := transcript(s, "", "log:set debug org.ctl.aaa", "log:set WARN", "log:get org.ctl.aaa.sec", "log:get", "log:get ALL --format json", "log:set DEFAULT org.ctl.aaa",
		"log:set LOUD", "log:set INFO ALL", "log:log -l ERROR 'two  words' more", "log:log -l INFO not shown", "log:display", "log:display -l error -p words console | grep -c words",
		"log:display --format json | grep -c '\"user\": \"admin\"'", "log:display -r console | grep -c logger", "log:display nothing", "log:display -p '('", "log:display -n -1", "log:clear; log:display")
	golden(t, "log", regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(Z|[+-]\d\d:\d\d)?`).ReplaceAllString(got, "TIME"))
}

func TestAttributes(t *testing.T) {
	for in, want := range map[string]string{
		`{"time":"x","level":"INFO","msg":"m","logger":"l"}`:                         "",
		`{"msg":"m","user":"ann","n":3,"text":"two words","none":"","in":{"a":[1]}}`: ` user=ann n=3 text="two words" none="" in={"a":[1]}`,
		`{"msg":"m","a":"b=c","cut`:                                                  ` a="b=c"`,
		`no record`:                                                                  "",
		``:                                                                           "",
	} {
		if got := formatAttributes(in); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

// lineWriter hands out what is written, a line at a time.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

func TestLogTail(t *testing.T) {
	r := newLogs()
	defer r.Close()
	log := r.Logger("plugin.switch")
	log.Warn("before")
	w := make(lineWriter)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan console.Code)
	go func() {
		done <- session(LogCommands(r)).Run(ctx, "log:tail -l WARN plugin", engine.IO{Stdout: w, Stderr: w})
	}()
	if l := <-w; !strings.Contains(l, "before") {
		t.Errorf("first line %q", l)
	}
	for waiting := true; waiting; { // until the command follows the log, records pass it by
		log.Info("too low")
		log.Error("while it runs")
		select {
		case l := <-w:
			waiting = false
			if !strings.Contains(l, "while it runs") {
				t.Errorf("second line %q", l)
			}
		default:
			runtime.Gosched()
		}
	}
	cancel()
	for {
		select {
		case <-w:
			continue
		case code := <-done:
			if code != console.Interrupted {
				t.Errorf("code %d", code)
			}
			return
		}
	}
}

func fakeConfig(problems ...home.Problem) Config {
	return Config{Home: "/nonexistent", Validate: func(context.Context) []home.Problem { return problems }, Effective: func() []home.Effective {
		return []home.Effective{{Key: "limits.body", Value: "8MiB", Origin: "default"}, {Key: "listeners.http", Value: ":0", Origin: "flag --http"}}
	}}
}

func TestConfigCommands(t *testing.T) {
	bad := session(ConfigCommands(fakeConfig(
		home.Problem{File: "etc/ctl.yaml", Line: 3, Key: "limits.bdy", Text: `unknown setting (did you mean "body"?)`},
		home.Problem{File: "etc/sec.ini", Text: "group can read it", Warning: true},
	)))
	golden(t, "config", transcript(session(ConfigCommands(fakeConfig())), "", "config:validate", "config:validate --format json", "config:show", "config:show --effective", "config:show -e limits",
		"config:list", "config:get limits.body", "config:get limits.bdy")+
		transcript(bad, "", "config:validate"))
}

func TestSystemCommands(t *testing.T) {
	stopped := 0
	s := session(SystemCommands(System{Version: "1.2.3", Commit: "abc", Home: "/srv/ctl", Started: time.Now(), Shutdown: func() { stopped++ },
		Addresses: func() map[string]string { return map[string]string{"http": "127.0.0.1:8181"} }}))
	out := transcript(s, "no", "system:version", "system:info | grep -c 'Http.*8181'", "system:shutdown")
	if out != "> system:version\n1.2.3\n> system:info | grep -c 'Http.*8181'\n1\n> system:shutdown\nerror: the controller stays\n= the command ran and failed; a grep found nothing\n" || stopped != 0 {
		t.Errorf("%s, stopped %d", out, stopped)
	}
	transcript(s, "yes", "system:shutdown")
	transcript(s, "", "system:shutdown -f")
	if stopped != 2 {
		t.Errorf("stopped %d times", stopped)
	}
}

// On a terminal records have colours by level; one's own commands and other plugins are left out.
func TestLogIsFilteredAndColoured(t *testing.T) {
	r := newLogs()
	defer r.Close()
	r.Logger("plugin.switch").Error("broken")
	r.Logger("plugin.switch.snmp").Warn("silent")
	r.Logger("plugin.bier").Error("other")
	audit := r.Logger("org.ctl.console.audit")
	audit.Info("command", "user", "admin")
	audit.Info("command", "user", "ann")
	s := session(LogCommands(r))
	show := func(line string, width int) string {
		var out strings.Builder
		if code := s.Run(t.Context(), line, engine.IO{Stdout: &out, Stderr: &out, Width: width}); code != console.OK {
			t.Errorf("%s: exit code %d", line, code)
		}
		return out.String()
	}
	if got := show("log:display --plugin switch", 80); !strings.Contains(got, "\x1b[31m") || !strings.Contains(got, "\x1b[33m") || !strings.Contains(got, "silent\x1b[0m") || strings.Contains(got, "other") {
		t.Errorf("of one plugin: %q", got)
	}
	for _, line := range []string{"log:display --no-color", "log:display | grep -v nothing"} {
		if got := show(line, 80); strings.Contains(got, "\x1b") || !strings.Contains(got, "broken") {
			t.Errorf("%s: %q", line, got)
		}
	}
	if got := show("log:display", 0); strings.Contains(got, "user=admin") || !strings.Contains(got, "user=ann") {
		t.Errorf("without one's own commands: %q", got)
	}
	for _, line := range []string{"log:display --own", "log:display org.ctl.console.audit"} {
		if got := show(line, 0); !strings.Contains(got, "user=admin") {
			t.Errorf("%s: %q", line, got)
		}
	}
}
