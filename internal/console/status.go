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

// StatusLine is what commands write to: it keeps the state of long work in a line below their output, where that is a
// terminal, and knows whether the cursor is at the beginning of a line.
type StatusLine struct {
	Out   io.Writer
	Width func() int // columns of the terminal, 0 = there is none; nil: of Out

	mu     sync.Mutex
	on     bool // the status line is where the cursor is
	inLine bool // the last output did not end its line
	rate   Rate
}

// Show replaces the line; the zero Progress takes it away.
func (s *StatusLine) Show(p Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	width := s.width()
	if width == 0 || s.inLine { // not into the middle of somebody's line
		return
	}
	s.clear()
	if text := s.rate.Text(p, time.Now()); text != "" {
		if r := []rune(text); len(r) >= width {
			text = string(r[:width-1])
		}
		io.WriteString(s.Out, text)
		s.on = true
	}
}

func (s *StatusLine) width() int {
	if s.Width != nil {
		return s.Width()
	}
	f, ok := s.Out.(*os.File)
	if !ok {
		return 0
	}
	width, _, _ := term.GetSize(int(f.Fd())) // 0 when it is not a terminal
	return width
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
		text += fmt.Sprintf(
			", %s left",
			time.Duration(float64(p.Total-p.Done)/rate*float64(time.Second)).Round(time.Second),
		)
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
	s.clear()
}

func (s *StatusLine) clear() {
	if s.on {
		s.erase()
	}
}

func (s *StatusLine) erase() {
	io.WriteString(s.Out, "\r\x1b[K")
	s.on, s.inLine = false, false
}

// Erase clears the line that the cursor is in.
func (s *StatusLine) Erase() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

// Finish takes the line away and ends an unfinished line of output, before a prompt.
func (s *StatusLine) Finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	if s.inLine {
		io.WriteString(s.Out, "\n")
		s.inLine = false
	}
}

// Write writes output of the command, above the line.
func (s *StatusLine) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p) > 0 {
		s.clear()
		s.inLine = p[len(p)-1] != '\n'
	}
	return s.Out.Write(p)
}
