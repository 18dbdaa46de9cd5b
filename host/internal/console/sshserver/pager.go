package sshserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const moreMark = "--More--"

// Page shows text a screen at a time: blank the next screen, Enter the next line,
// q the end.
func (t *terminal) Page(ctx context.Context, r io.Reader) error {
	t.asking.Lock()
	defer t.asking.Unlock()
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 4096), 1<<20)
	width, height := t.terminalSize()
	left := height - 1
	for sc.Scan() {
		rows := 1 + max(utf8.RuneCount(sc.Bytes())-1, 0)/max(width, 1)
		if left < rows {
			more, err := t.askMore(ctx)
			if err != nil || more == 0 {
				return err
			}
			width, height = t.terminalSize()
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
	defer t.screen.Erase()
	for {
		c, err := t.keys.readKey(ctx)
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
