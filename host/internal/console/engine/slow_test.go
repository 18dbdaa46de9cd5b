package engine

import (
	"context"
	"io"
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

// A command that says nothing for longer than a second is seen to run, until it writes.
func TestWhatTakesLongIsSeen(t *testing.T) {
	goOn := make(chan struct{})
	table := Static{{Name: "test:slow", Summary: "waits", Run: func(ctx context.Context, in *commands.Invocation) error {
		select {
		case <-goOn:
			in.Printf("done\n")
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}}
	s := New(Config{Sources: []Source{table}}).Session(caller.Caller{User: "admin"}, nil, "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shown := make(seen, 100)
	var out strings.Builder
	code := make(chan console.Code)
	go func() { code <- s.Run(ctx, "test:slow", IO{Stdout: &out, Stderr: &out, Terminal: shown}) }()
	if p := <-shown; !strings.HasPrefix(p.Text, "test:slow, ") {
		t.Errorf("shown: %+v", p)
	}
	close(goOn)
	if c := <-code; c != console.OK || out.String() != "done\n" {
		t.Errorf("exit code %d, %q", c, out.String())
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
	still, goOn := commands.Progress{Text: "asking", Done: 2, Total: 5}, make(chan struct{})
	table := Static{{Name: "test:still", Summary: "waits", Run: func(ctx context.Context, in *commands.Invocation) error {
		in.Progress(still)
		select {
		case <-goOn:
			in.Progress(commands.Progress{})
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}}
	s := New(Config{Sources: []Source{table}}).Session(caller.Caller{User: "admin"}, nil, "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shown := make(seen, 100)
	code := make(chan console.Code)
	go func() { code <- s.Run(ctx, "test:still", IO{Stdout: io.Discard, Stderr: io.Discard, Terminal: shown}) }()
	for range 2 {
		if p := <-shown; p != still {
			t.Errorf("shown: %+v", p)
		}
	}
	close(goOn)
	if c := <-code; c != console.OK {
		t.Errorf("exit code %d", c)
	}
}
