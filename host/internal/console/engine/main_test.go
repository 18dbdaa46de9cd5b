package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/internal/console"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echoRun shows what a command was given, so that a test sees what was bound.
func echoRun(_ context.Context, in *commands.Invocation) error {
	in.Printf("%s", in.Name)
	for _, k := range slices.Sorted(maps.Keys(in.Options)) {
		in.Printf(" %s=%s", k, in.Options[k])
	}
	for _, k := range []string{"name", "level", "rest"} {
		if v, ok := in.Args[k]; ok {
			in.Printf(" %s=%q", k, v)
		}
	}
	in.Printf("\n")
	return nil
}

func testTable() []commands.Command {
	return []commands.Command{
		{Name: "feature:list", Summary: "list features", Options: []commands.Option{{Name: "installed", Short: "i", Type: commands.Bool, Help: "installed"}, {Name: "required", Short: "r", Type: commands.Bool, Help: "required"}}, Run: echoRun},
		{Name: "feature:install", Summary: "install features", Help: "Installs.", Arguments: []commands.Argument{{Name: "name", Help: "the features", Required: true, Repeated: true,
			Complete: func(_ context.Context, p string) []string { return []string{"ctl-bier", "ctl-switch", "with blank"} }}}, Run: echoRun},
		{Name: "feature:info", Summary: "show", Run: echoRun},
		{Name: "plugin:info", Summary: "show", Run: echoRun},
		{Name: "log:set", Summary: "set", Arguments: []commands.Argument{{Name: "level", Help: "the level", Required: true, Values: []string{"DEBUG", "INFO"}}, {Name: "name", Help: "logger"}}, Run: echoRun},
		{Name: "aaa:add-user", Summary: "add", Options: []commands.Option{
			{Name: "name", Help: "the name", Required: true, Aliases: []string{"userName"}}, {Name: "limit", Short: "n", Type: commands.Int, Help: "a number", Default: "5"},
			{Name: "password", Short: "pass", Help: "secret"}, {Name: "kind", Help: "kind", Values: []string{"red", "green"}, Complete: nil},
			{Name: "hidden-pwd-file", Short: "z", Type: commands.Bool, Help: "a switch"},
		}, Run: echoRun},
		{Name: "switch:PrintDB", Summary: "print", Run: echoRun},
		{Name: "test:set-key", Summary: "secret argument", Arguments: []commands.Argument{{Name: "name", Help: "n"}, {Name: "secret", Help: "s"}}, Run: echoRun},
		{Name: "test:pin", Summary: "marked as secret", Arguments: []commands.Argument{{Name: "name", Help: "n"}, {Name: "pin", Help: "p", Secret: true}},
			Options: []commands.Option{{Name: "code", Help: "c", Secret: true}}, Run: echoRun},
		{Name: "test:lines", Summary: "lines", Run: func(_ context.Context, in *commands.Invocation) error {
			in.Printf("b 2\na 10\nb 2\nc 1\n")
			return nil
		}},
		{Name: "test:endless", Summary: "lines", Run: func(ctx context.Context, in *commands.Invocation) error {
			for i := 0; ctx.Err() == nil; i++ {
				in.Printf("%d\n", i)
			}
			return ctx.Err()
		}},
		{Name: "test:rows", Summary: "a table", Safe: true, Run: func(_ context.Context, in *commands.Invocation) error {
			t := &commands.Table{Columns: []commands.Column{{Title: "Name", Key: "name"}, {Title: "Size", Key: "size", Right: true}}}
			t.Add("port 10", 7)
			t.Add("port 9", 30)
			return in.Emit(t, nil)
		}},
		{Name: "test:text", Summary: "text", Safe: true, Run: func(_ context.Context, in *commands.Invocation) error {
			in.Printf("a text\n")
			return nil
		}},
		{Name: "test:check", Summary: "a table and an error", Safe: true, Run: func(_ context.Context, in *commands.Invocation) error {
			t := &commands.Table{Columns: []commands.Column{{Title: "Name", Key: "name"}}}
			t.Add("bad")
			return errors.Join(in.Emit(t, nil), fault.New(fault.Invalid, "something is bad"))
		}},
		{Name: "test:cat", Summary: "cat", Run: func(_ context.Context, in *commands.Invocation) error {
			_, err := io.Copy(in.Stdout, in.Stdin)
			return err
		}},
		{Name: "test:fail", Summary: "fail", Run: func(context.Context, *commands.Invocation) error {
			return fault.At(fault.NotFound, "sw1", "no such switch\x1b[1m")
		}},
		{Name: "test:panic", Summary: "panic", Run: func(context.Context, *commands.Invocation) error { panic("oh") }},
		{Name: "test:wait", Summary: "wait", Run: func(ctx context.Context, in *commands.Invocation) error {
			in.Printf("waiting\n")
			<-ctx.Done()
			return ctx.Err()
		}},
		{Name: "test:who", Summary: "who", Run: func(ctx context.Context, in *commands.Invocation) error {
			c, _ := caller.From(ctx)
			in.Printf("%s %t %s\n", c.User, c.RequestID != "" && c.RequestID == in.Caller.RequestID, in.Format)
			return nil
		}},
		{Name: "test:ask", Summary: "ask", Run: func(ctx context.Context, in *commands.Invocation) error {
			_, err := in.Prompt(ctx, "name: ", true)
			return err
		}},
	}
}

type testHistory struct{ lines []string }

func (h *testHistory) Lines() []string { return h.lines }
func (h *testHistory) Clear() error    { h.lines = nil; return nil }

func newTestSession(change func(*Config)) *Session {
	cfg := Config{Sources: []Source{Static(testTable())}}
	if change != nil {
		change(&cfg)
	}
	return New(cfg).Session(caller.Caller{User: "admin", Roles: []string{"admin"}}, &testHistory{lines: []string{"first", "second"}}, "")
}

func run(t *testing.T, s *Session, line, stdin string) (string, string, console.Code) {
	t.Helper()
	var out, errs bytes.Buffer
	code := s.Run(context.Background(), line, IO{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs})
	return out.String(), errs.String(), code
}

func names(c Completion) string {
	var out []string
	for _, x := range c.Candidates {
		out = append(out, x.Text)
	}
	return fmt.Sprint(out)
}
