package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// StatusLine shows the state of long work below the output, where Out is a terminal.
type StatusLine struct {
	Out io.Writer

	mu sync.Mutex
	on bool
}

// Show replaces the line; the zero Progress takes it away.
func (s *StatusLine) Show(p Progress) {
	f, ok := s.Out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return
	}
	s.Clear()
	text := p.String()
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, _, err := term.GetSize(int(f.Fd())); err == nil {
		if r := []rune(text); len(r) >= w {
			text = string(r[:max(w-1, 0)])
		}
	}
	fmt.Fprint(f, text)
	s.on = true
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
