package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// What shows is run and answers JSON; what changes something, pipes and chains are not.
func TestShow(t *testing.T) {
	shell := New(Config{Sources: []Source{Static(testTable()), Static([]commands.Command{
		{Name: "look:table", Safe: true, Run: func(_ context.Context, in *commands.Invocation) error {
			out := &commands.Table{Columns: []commands.Column{{Title: "A", Key: "a"}}}
			out.Add("one")
			return in.Emit(out, nil)
		}},
		{Name: "look:wrong", Safe: true, Run: func(_ context.Context, in *commands.Invocation) error {
			_ = in.Emit(map[string]string{"found": "x"}, nil)
			return errors.New("1 error")
		}},
		{Name: "look:none", Safe: true, Run: func(context.Context, *commands.Invocation) error { return fault.New(fault.NotFound, "no such thing") }},
		{Name: "look:much", Safe: true, Run: func(_ context.Context, in *commands.Invocation) error {
			_, err := in.Stdout.Write(make([]byte, maxShown+1))
			return err
		}},
	})}})
	for _, c := range []struct {
		line, content, failure string
		kind                   fault.Kind
	}{
		{"look:table", `"one"`, "", 0},
		{"look:wrong", `"found"`, "1 error", fault.Downstream},
		{"look:none", "", "no such thing", fault.NotFound},
		{"look:much", "", "more than", fault.Invalid},
		{"test:fail", "", "test:fail changes data", fault.Denied},
		{"look:table | wc -l", "", "not a single command", fault.Invalid},
		{"look:table; test:fail", "", "not a single command", fault.Invalid},
		{"look:nothing", "", "no command look:nothing", fault.NotFound},
		{"'", "", "", fault.Malformed},
	} {
		content, err := shell.Show(t.Context(), c.line)
		if !strings.Contains(content, c.content) || (c.content == "") != (content == "") {
			t.Errorf("%s: %q, want %q", c.line, content, c.content)
		}
		if (err == nil) != (c.failure == "" && c.kind == 0) || err != nil && (!strings.Contains(err.Error(), c.failure) || fault.KindOf(err) != c.kind) {
			t.Errorf("%s: %v (%v), want %q", c.line, err, fault.KindOf(err), c.failure)
		}
	}
}
