package sshserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"ctl.internal/internal/console"
)

// screen is what commands write to in a terminal. It keeps the status line of long
// work below the output and knows whether the cursor stands at a line's beginning.
type screen struct {
	w     io.Writer // the line editor, which turns \n into \r\n
	width func() int

	mu     sync.Mutex
	rate   console.Rate
	status bool // a status line stands where the cursor is
	inLine bool // the last output did not end its line
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	s.clearLocked()
	s.inLine = p[len(p)-1] != '\n'
	return s.w.Write(p)
}

func (s *screen) clearLocked() {
	if s.status {
		io.WriteString(s.w, "\r\x1b[K")
		s.status = false
	}
}

// show puts up the state of long work; the zero Progress takes it away.
func (s *screen) show(p console.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inLine { // not into the middle of somebody's line
		return
	}
	s.clearLocked()
	if text := s.rate.Text(p, time.Now()); text != "" {
		if r := []rune(text); len(r) >= s.width() {
			text = string(r[:max(s.width()-1, 0)])
		}
		io.WriteString(s.w, text)
		s.status = true
	}
}

// finish takes the status line away and ends an unfinished line, before a prompt.
func (s *screen) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clearLocked()
	if s.inLine {
		io.WriteString(s.w, "\n")
		s.inLine = false
	}
}

// erase clears the line the cursor is in.
func (s *screen) erase() {
	s.mu.Lock()
	defer s.mu.Unlock()
	io.WriteString(s.w, "\r\x1b[K")
	s.inLine, s.status = false, false
}

const moreMark = "--More--"

// Page shows text a screen at a time: blank the next screen, Enter the next line,
// q the end.
func (t *terminal) Page(ctx context.Context, r io.Reader) error {
	t.asking.Lock()
	defer t.asking.Unlock()
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 4096), 1<<20)
	width, height := t.size()
	left := height - 1
	for sc.Scan() {
		rows := 1 + max(utf8.RuneCount(sc.Bytes())-1, 0)/max(width, 1)
		if left < rows {
			more, err := t.askMore(ctx)
			if err != nil || more == 0 {
				return err
			}
			width, height = t.size()
			if left = more; more > 1 {
				left = height - 1
			}
		}
		left -= rows
		if _, err := fmt.Fprintln(t.screen, sc.Text()); err != nil {
			return err
		}
	}
	return sc.Err()
}

// askMore returns how many lines to go on: 0 = none, 1 = one, more = a screen.
func (t *terminal) askMore(ctx context.Context) (int, error) {
	io.WriteString(t.screen, moreMark)
	defer t.screen.erase()
	for {
		c, err := t.keys.one(ctx)
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		switch c {
		case ' ':
			return 2, nil
		case '\r', '\n':
			return 1, nil
		case 'q', 'Q', 0x04:
			return 0, nil
		}
	}
}
