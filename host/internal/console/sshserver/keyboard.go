package sshserver

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// maxTypeAhead bounds what is typed while a command runs, in bytes.
const maxTypeAhead = 16 << 10

const ctrlC = 0x03

// wipe makes the line editor give back an empty line: to the end, erase, enter.
var wipe = []byte{0x05, 0x15, '\r'}

// keyboard takes what the user types, also while a command runs, so that Ctrl-C is
// seen at once. The line editor reads from it.
type keyboard struct {
	onInput     func() // each time something arrives
	onInterrupt func() // Ctrl-C

	mu          sync.Mutex
	cond        *sync.Cond
	buf         []byte
	err         error
	reading     bool // the line editor waits for a line
	lines       int  // read so far, so that a late wake meets no other line
	ended       bool // endLine was there
	interrupted bool // by Ctrl-C since the line began
	searching   bool // keys are for the search in the history
}

func newKeyboard(onInput, onInterrupt func()) *keyboard {
	k := &keyboard{onInput: onInput, onInterrupt: onInterrupt}
	k.cond = sync.NewCond(&k.mu)
	return k
}

// pumpInput reads until the channel ends.
func (k *keyboard) pumpInput(r io.Reader) {
	b := make([]byte, 1024)
	for {
		n, err := r.Read(b)
		k.onInput()
		for _, c := range b[:n] {
			k.pushKey(c)
		}
		if err != nil {
			k.mu.Lock()
			k.err = err
			k.cond.Broadcast()
			k.mu.Unlock()
			return
		}
	}
}

func (k *keyboard) pushKey(c byte) {
	k.mu.Lock()
	if c != ctrlC {
		if len(k.buf) < maxTypeAhead {
			k.buf = append(k.buf, c)
		}
		k.cond.Broadcast()
		k.mu.Unlock()
		return
	}
	k.buf, k.interrupted = nil, true
	k.endLine()
	k.mu.Unlock()
	k.onInterrupt()
}

// endLine makes the editor give back the line that it reads, if it does.
func (k *keyboard) endLine() {
	if k.reading && !k.ended {
		k.buf, k.ended = append([]byte{}, wipe...), true
	}
	k.cond.Broadcast()
}

// Read gives the line editor what was typed.
func (k *keyboard) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.buf) == 0 {
		if k.err != nil {
			return 0, io.EOF
		}
		k.cond.Wait()
	}
	if k.searching {
		p[0] = k.searchKey()
		return 1, nil
	}
	next := k.buf
	if i := bytes.IndexByte(next, keyCtrlR); i >= 0 {
		next = next[:i+1] // what follows is for the search
	}
	n := copy(p, next)
	k.buf = k.buf[n:]
	return n, nil
}

// setSearching begins or ends the search in the history.
func (k *keyboard) setSearching(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.searching = on
}

// searchKey is the next byte of a search for the editor. A key that the editor acts on ends the search first.
func (k *keyboard) searchKey() byte {
	c := k.buf[0]
	switch {
	case c == 0x7f || c == 0x08:
		c = keyShorter
	case c != keyCtrlR && c != keyCtrlG && c < ' ':
		k.searching = false
		return keyTaken
	}
	k.buf = k.buf[1:]
	return c
}

// readLine brackets the reading of one line, which ctx ends too, and reports whether
// Ctrl-C ended it.
func (k *keyboard) readLine(
	ctx context.Context,
	read func() (string, error),
) (line string, interrupted bool, err error) {
	k.mu.Lock()
	k.lines++
	mine := k.lines
	k.reading, k.ended, k.interrupted = true, false, false
	k.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.lines == mine {
			k.endLine()
		}
	})
	defer stop()
	line, err = read()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reading = false
	return line, k.interrupted, err
}

// readKey waits for one key, for the pager.
func (k *keyboard) readKey(ctx context.Context) (byte, error) {
	stop := context.AfterFunc(ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.cond.Broadcast()
	})
	defer stop()
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.buf) == 0 {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if k.err != nil {
			return 0, io.EOF
		}
		k.cond.Wait()
	}
	c := k.buf[0]
	k.buf = k.buf[1:]
	return c, nil
}
