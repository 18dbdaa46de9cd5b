package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// StatusLine shows the state of long work below the output, where Out is a terminal.
type StatusLine struct {
	Out io.Writer

	mu   sync.Mutex
	on   bool
	rate Rate
}

// Show replaces the line; the zero Progress takes it away.
func (s *StatusLine) Show(p Progress) {
	f, ok := s.Out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return
	}
	s.Clear()
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.rate.Text(p, time.Now())
	if text == "" {
		return
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil {
		if r := []rune(text); len(r) >= w {
			text = string(r[:max(w-1, 0)])
		}
	}
	fmt.Fprint(f, text)
	s.on = true
}

// Rate adds to the progress of one piece of work how fast it goes, or how long it lasts, once it has lasted a second.
type Rate struct {
	text  string
	first uint64 // done when the work began to be shown
	began time.Time
}

// Text is the line that shows the progress at a time; empty for the zero Progress.
func (r *Rate) Text(p Progress, now time.Time) string {
	if p.Text != r.text || p.Done < r.first {
		*r = Rate{p.Text, p.Done, now}
	}
	text, took := p.String(), now.Sub(r.began)
	switch {
	case text == "" || took < time.Second:
		return text
	case p.Done <= r.first:
		return fmt.Sprintf("%s, %d s", text, int(took.Seconds()))
	}
	rate := float64(p.Done-r.first) / took.Seconds()
	text += fmt.Sprintf(", %.3g/s", rate)
	if p.Total > p.Done {
		text += fmt.Sprintf(", %s left", time.Duration(float64(p.Total-p.Done)/rate*float64(time.Second)).Round(time.Second))
	}
	return text
}

// String is the line that shows the progress; empty for the zero Progress.
func (p Progress) String() string {
	text := Printable(p.Text)
	switch {
	case p.Total > 0:
		return fmt.Sprintf("%s %d/%d (%d%%)", text, p.Done, p.Total, 100*p.Done/p.Total)
	case p.Done > 0:
		return fmt.Sprintf("%s %d", text, p.Done)
	}
	return text
}

// Printable returns text that cannot move the cursor.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// Clear takes the line away.
func (s *StatusLine) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on {
		fmt.Fprint(s.Out, "\r\x1b[K")
		s.on = false
	}
}

// Write writes output of the command, above the line.
func (s *StatusLine) Write(p []byte) (int, error) {
	s.Clear()
	return s.Out.Write(p)
}
