package ctlclient

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// status is the line that shows the state of long work, when somebody looks.
type status struct {
	out io.Writer

	mu sync.Mutex
	on bool
}

func (s *status) show(p progressPayload) {
	f, ok := s.out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return
	}
	s.clear()
	if p.Text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text := printable(p.Text)
	if p.Total > 0 {
		text = fmt.Sprintf("%s %d/%d", text, p.Done, p.Total)
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil {
		if r := []rune(text); len(r) >= w {
			text = string(r[:max(w-1, 0)])
		}
	}
	fmt.Fprint(f, text)
	s.on = true
}

func (s *status) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on {
		fmt.Fprint(s.out, "\r\x1b[K")
		s.on = false
	}
}

func (s *status) Write(p []byte) (int, error) { // output of the command goes above it
	s.clear()
	return s.out.Write(p)
}
