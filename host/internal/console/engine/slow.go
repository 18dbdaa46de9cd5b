package engine

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"ctl.internal/host/internal/console/syntax"
	"ctl.internal/sdk/commands"
)

// endless commands run until Ctrl-C, or are the user's own pace: that they last is no news.
var endless = []string{"watch", "sleep", "tail", "more", "less"}

// slow shows each second that a line goes on, and how long already: the progress that it shows itself, or, while it
// says nothing, its name. What it writes or asks ends that, until it shows progress again.
type slow struct {
	commands.Terminal
	mu    sync.Mutex
	quiet bool              // its name is not shown any more
	last  commands.Progress // what is shown; zero: nothing
}

// showSlow puts a slow between a line and its terminal; the function it returns ends it.
func showSlow(std *IO, p syntax.Pipeline) (end func()) {
	for _, stage := range p {
		name := stage[0].Text
		if slices.Contains(endless, name[strings.LastIndexByte(name, ':')+1:]) {
			return func() {}
		}
	}
	s := &slow{Terminal: std.Terminal}
	std.Terminal, std.Stdout, std.Stderr = s, output{std.Stdout, s}, output{std.Stderr, s}
	name := p[0][0].Text
	began := time.Now()
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case now := <-tick.C:
				s.showAgain(fmt.Sprintf("%s, %d s", name, int(now.Sub(began).Seconds())))
			}
		}
	})
	return func() {
		close(stop)
		done.Wait()
		s.hideStatus()
	}
}

func (s *slow) showAgain(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.quiet {
		s.last = commands.Progress{Text: name}
	}
	if s.last != (commands.Progress{}) {
		s.Terminal.Progress(s.last) // the terminal adds time and rate
	}
}

// hideStatus takes the status line away.
func (s *slow) hideStatus() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != (commands.Progress{}) {
		s.last = commands.Progress{}
		s.Terminal.Progress(s.last)
	}
	s.quiet = true
}

func (s *slow) Progress(p commands.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet && p == s.last {
		return // it is shown
	}
	s.quiet, s.last = true, p
	s.Terminal.Progress(p)
}

func (s *slow) Prompt(ctx context.Context, text string, echo bool) (string, error) {
	s.hideStatus()
	return s.Terminal.Prompt(ctx, text, echo)
}

// output is a stream of a line; what is written ends the status line.
type output struct {
	io.Writer
	slow *slow
}

func (o output) Write(p []byte) (int, error) {
	o.slow.hideStatus()
	return o.Writer.Write(p)
}
