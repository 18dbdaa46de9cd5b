package sshserver

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"ctl.internal/host/internal/console/syntax"
)

// input is what is piped into a session without a terminal. A command of a plugin
// is fed with it before anybody knows whether it wants it; when it asks a question
// instead, the answers are still taken from the beginning.
type input struct {
	r io.Reader

	mu      sync.Mutex
	cond    *sync.Cond
	kept    []byte // from the offset base on
	base    int64
	read    int64 // how far the command was fed
	asked   int64 // how far answers were taken
	filling bool
	err     error
}

func newInput(r io.Reader) *input {
	in := &input{r: r}
	in.cond = sync.NewCond(&in.mu)
	return in
}

// fillLocked waits until there is more after an offset, or the end. One reader
// fills for all.
func (in *input) fillLocked(at int64) {
	for in.base+int64(len(in.kept)) <= at && in.err == nil {
		if in.filling {
			in.cond.Wait()
			continue
		}
		in.filling = true
		in.mu.Unlock()
		b := make([]byte, 32<<10)
		n, err := in.r.Read(b)
		in.mu.Lock()
		in.filling = false
		in.kept = append(in.kept, b[:n]...)
		in.err = err
		in.cond.Broadcast()
	}
}

// trimLocked forgets what was fed, but for the length of an answer.
func (in *input) trimLocked() {
	in.asked = max(in.asked, in.read-syntax.MaxLine)
	if cut := min(in.asked, in.read) - in.base; cut > 0 {
		in.kept = append(in.kept[:0], in.kept[cut:]...)
		in.base += cut
	}
}

// Read feeds the command.
func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.fillLocked(in.read)
	n := copy(p, in.kept[min(in.read-in.base, int64(len(in.kept))):])
	in.read += int64(n)
	in.trimLocked()
	if n == 0 && len(p) > 0 {
		return 0, in.err
	}
	return n, nil
}

// answer takes a line as the answer to a question.
func (in *input) answer() (string, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for at := in.asked; ; at = in.base + int64(len(in.kept)) {
		in.fillLocked(at)
		rest := in.kept[in.asked-in.base:]
		i := bytes.IndexByte(rest, '\n')
		if i < 0 && in.err == nil && len(rest) < syntax.MaxLine {
			continue
		}
		if len(rest) == 0 {
			return "", io.EOF
		}
		line := rest
		if i >= 0 {
			line = rest[:i]
			i++
		} else {
			i = len(rest)
		}
		text := strings.TrimSuffix(string(line), "\r")
		in.asked += int64(i)
		return text, nil
	}
}
