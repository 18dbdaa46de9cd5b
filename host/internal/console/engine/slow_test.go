package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"ctl.internal/internal/console"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
)

// seen passes on what is shown.
type seen chan commands.Progress

func (seen) Prompt(context.Context, string, bool) (string, error) { return "", nil }
func (s seen) Progress(p commands.Progress)                       { s <- p }

// waiting runs a command that does something before it waits for a signal, which ends it, and something after.
func waiting(t *testing.T, before, after func(in *commands.Invocation)) (shown seen, out *strings.Builder, end func()) {
	t.Helper()
	goOn := make(chan struct{})
	table := []commands.Command{{Name: "test:slow", Summary: "waits", Run: func(ctx context.Context, in *commands.Invocation) error {
		before(in)
		select {
		case <-goOn:
			after(in)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}}
	s := New(Config{Sources: []Source{Static(table)}}).Session(caller.Caller{User: "admin"}, nil, "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	shown, out = make(seen, 100), &strings.Builder{}
	code := make(chan console.Code)
	go func() { code <- s.Run(ctx, "test:slow", IO{Stdout: out, Stderr: out, Terminal: shown}) }()
	return shown, out, func() {
		t.Helper()
		defer cancel()
		close(goOn)
		if c := <-code; c != console.OK {
			t.Errorf("exit code %d, %q", c, out)
		}
	}
}

// A command that says nothing for longer than a second is seen to run, until it writes.
func TestWhatTakesLongIsSeen(t *testing.T) {
	shown, out, end := waiting(t, func(*commands.Invocation) {}, func(in *commands.Invocation) { in.Printf("done\n") })
	if p := <-shown; !strings.HasPrefix(p.Text, "test:slow, ") {
		t.Errorf("shown: %+v", p)
	}
	end()
	if out.String() != "done\n" {
		t.Errorf("it wrote %q", out)
	}
	close(shown)
	last := commands.Progress{Text: "none"}
	for p := range shown {
		last = p
	}
	if last != (commands.Progress{}) {
		t.Errorf("the status line stays: %+v", last)
	}
}

// Progress that stands still is shown again, so that its time goes on.
func TestProgressThatStandsStillIsShownAgain(t *testing.T) {
	still := commands.Progress{Text: "asking", Done: 2, Total: 5}
	shown, _, end := waiting(t, func(in *commands.Invocation) { in.Progress(still) }, func(in *commands.Invocation) { in.Progress(commands.Progress{}) })
	for range 2 {
		if p := <-shown; p != still {
			t.Errorf("shown: %+v", p)
		}
	}
	end()
}
