package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, line, stdin, out, errs string
		code                         console.Code
	}{
		{"nothing", " # x", "", "", "", 0},
		{"bare name", "list -i", "", "feature:list installed=true\n", "", 0},
		{"case", "switch:printdb; printdb", "", "switch:PrintDB\nswitch:PrintDB\n", "", 0},
		{"ambiguous", "info", "", "", "info can mean feature:info or plugin:info; write the whole name", 2},
		{"unknown", "feature:lst", "", "", "there is no command feature:lst; did you mean feature:list?", 3},
		{"the scope is no likeness", "shell:logoff-now", "", "", "there is no command shell:logoff-now; help lists the commands", 3},
		{"a redirection", "feature:list > /tmp/x", "", "", `">" is one argument too many (files are for your own shell: ctl 'COMMAND' > FILE); usage:`, 2},
		{"and", "feature:list && echo no", "", "", `(write a; b: b runs only when a has succeeded)`, 2},
		{"logout ends a chain", "feature; logout; echo no", "", "", "", 0},
		{"quit too", "quit; echo no", "", "", "", 0},
		{"grep -E", "test:lines | grep -E 'b|c' | wc -l", "", "3\n", "", 0},
		{"unknown scope", "bgp:show", "", "", "no installed feature has the scope bgp", 3},
		{"empty name", "''", "", "", "the name of the command is empty", 2},
		{"chain", "echo a; echo -n b; echo", "", "a\nb\n", "", 0},
		{"chain stops", "echo a; test:fail; echo b", "", "a\n", "error: sw1: no such switch [1m\n", 3},
		{"pipeline", "test:lines | grep b | wc -l", "", "2\n", "", 0},
		{"a fault in the last stage runs nothing", "echo a | grpe", "", "", "there is no command grpe; did you mean grep?", 3},
		{"first failure counts", "test:fail | wc -l", "", "0\n", "no such switch", 3},
		{"head ends what feeds it", "test:endless | head -n 2", "", "0\n1\n", "", 0},
		{"grep without a hit", "test:lines | grep zzz", "", "", "", 1},
		{"stdin", "test:cat | grep -v x", "x\ny\n", "y\n", "", 0},
		{"panic", "test:panic", "", "", "error: test:panic: the command broke down", 1},
		{"caller", "test:who", "", "admin true text\n", "", 0},
		{"format", "test:who --format json", "", "admin true json\n", "", 0},
		{"json error", "test:fail --format json", "", "", `{"code":3,"errors":[{"kind":"not-found","text":"no such switch\u001b[1m","path":"sw1"}]}`, 3},
		{"no terminal", "test:ask", "", "", "needs a terminal", 5},
		{"subshell", "feature; list; exit; test:who", "", "feature:list\nadmin true text\n", "", 0},
		{"exit ends a chain", "exit; echo no", "", "", "", 0},
		{"alias", "alias fl='feature:list -i'; fl -r", "", "feature:list installed=true required=true\n", "", 0},
		{"alias with args", "alias find='test:lines | grep $args | head -1'; find a", "", "a 10\n", "", 0},
		{"alias of itself", "alias list='list -r'; list -i", "", "feature:list installed=true required=true\n", "", 0},
		{"alias loop", "alias a=b; alias b=a; a", "", "", "the alias", 2},
		{"unalias", "alias a='echo 1'; unalias a; unalias a", "", "", "there is no alias a", 3},
		{"watch", "watch -n 0.1 -c 2 echo -n x", "", "xx", "", 0},
		{"watch a line", "watch -c 1 'test:lines | head -1'", "", "b 2\n", "", 0},
		{"watch ends when it fails", "watch test:fail", "", "", "no such switch", 3},
		{"history", "history", "", "    1  first\n    2  second\n", "", 0},
		{"history cleared", "history -c; history", "", "", "", 0},
		{"more writes through", "test:lines | more | tac | head -1", "", "c 1\n", "", 0},
		{"complete", "complete 'feature:in'", "", "feature:info\tshow\nfeature:install\tinstall features\n", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, code := run(t, newTestSession(nil), c.line, c.stdin)
			if code != c.code || out != c.out || !strings.Contains(errs, c.errs) || c.errs == "" && errs != "" {
				t.Errorf("got code %d, out %q, err %q", code, out, errs)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan console.Code)
	go func() {
		done <- newTestSession(nil).Run(ctx, "test:wait | test:cat; echo no", IO{Stdout: w, Stderr: io.Discard})
		w.Close()
	}()
	b := make([]byte, 8)
	io.ReadFull(r, b)
	cancel()
	if code := <-done; code != console.Interrupted {
		t.Errorf("code %d, want %d", code, console.Interrupted)
	}
	if rest, _ := io.ReadAll(r); string(b)+string(rest) != "waiting\n" {
		t.Errorf("output %q", string(b)+string(rest))
	}
}

// A plugin's commands come and go with its feature, in the middle of a session.
func TestSourcesAreAskedEachTime(t *testing.T) {
	var table []commands.Command
	s := newTestSession(func(c *Config) { c.Sources = append(c.Sources, func() []commands.Command { return table }) })
	if _, _, code := run(t, s, "late:run", ""); code != console.NotFound {
		t.Fatalf("code %d before the plugin came", code)
	}
	table = []commands.Command{{Name: "late:run", Run: echoRun}, {Name: "feature:list", Run: nil}}
	if out, _, code := run(t, s, "late:run; feature:list", ""); code != console.OK || out != "late:run\nfeature:list\n" {
		t.Fatalf("code %d, out %q: a plugin must add commands and not replace the host's", code, out)
	}
}

func TestAuditMasksSecrets(t *testing.T) {
	var got []Audited
	s := newTestSession(func(c *Config) { c.Audit = func(_ context.Context, a Audited) { got = append(got, a) } })
	run(t, s, "aaa:add-user --name x --password geheim | wc -l; test:fail; nothing -secret=geheim", "")
	if len(got) != 2 || got[0].Line != "aaa:add-user --name x --password *** | wc -l" || got[1].Code != console.NotFound || got[0].Caller.User != "admin" {
		t.Errorf("audited %+v", got)
	}
	run(t, s, "nothing -secret=geheim", "")
	if len(got) != 3 || strings.Contains(got[2].Line, "geheim") {
		t.Errorf("audited %+v", got)
	}
}

func TestAuditIsNotSilencedByLevels(t *testing.T) {
	var log bytes.Buffer
	h := slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError})
	s := newTestSession(func(c *Config) { c.Audit = func(ctx context.Context, a Audited) { _ = h.Handle(ctx, a.Record()) } })
	run(t, s, "test:fail", "")
	if got := log.String(); !strings.Contains(got, "user=admin") || !strings.Contains(got, "line=test:fail code=3") {
		t.Errorf("logged %q", got)
	}
}

func TestHelpIsOneText(t *testing.T) {
	var texts []string
	for _, line := range []string{"help feature:install", "feature:install --help", "feature:install -h", "help install"} {
		out, _, code := run(t, newTestSession(nil), line, "")
		if code != console.OK || !strings.Contains(out, "Usage: feature:install name...") || !strings.Contains(out, "--format text|json") {
			t.Errorf("%s: code %d, %q", line, code, out)
		}
		texts = append(texts, out)
	}
	for _, x := range texts[1:] {
		if x != texts[0] {
			t.Errorf("help differs:\n%s\n%s", x, texts[0])
		}
	}
	out, _, _ := run(t, newTestSession(nil), "feature:install --help --format json", "")
	var data struct{ Name, Usage string }
	if err := json.Unmarshal([]byte(out), &data); err != nil || data.Usage != "feature:install name..." {
		t.Errorf("%v %q", err, out)
	}
	out, _, _ = run(t, newTestSession(nil), "help; help feature", "")
	if strings.Count(out, "feature:list") != 2 || strings.Contains(out, "shell:complete") {
		t.Errorf("overview %q", out)
	}
}

func TestWidthIsForTheScreenOnly(t *testing.T) {
	var widths []int
	probe := []commands.Command{{Name: "test:width", Run: func(_ context.Context, in *commands.Invocation) error {
		widths = append(widths, in.Width)
		return nil
	}}}
	s := newTestSession(func(c *Config) { c.Sources = []Source{Static(probe)} })
	var out bytes.Buffer
	s.Run(context.Background(), "test:width; test:width | wc", IO{Stdout: &out, Stderr: &out, Width: 90})
	if len(widths) != 2 || widths[0] != 90 || widths[1] != 0 {
		t.Errorf("widths %v", widths)
	}
}
