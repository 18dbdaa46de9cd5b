package sshserver

import (
	"bufio"
	"io"
	"strings"
	"sync"

	"ctl.internal/host/internal/console/syntax"
)

// input is what is piped into a session without a terminal. A command of a plugin
// is fed with it before anybody knows whether it wants it; when it asks a question
// instead, the answers are still taken from the beginning.
type input struct {
	r     io.Reader
	lines *bufio.Reader // of answers

	mu      sync.Mutex
	cond    *sync.Cond
	kept    []byte // from the offset base on
	base    int64
	read    int64 // how far the command was fed
	asked   int64 // how far lines has read for answers
	filling bool
	err     error
}

func newInput(r io.Reader) *input {
	in := &input{r: r}
	in.cond = sync.NewCond(&in.mu)
	in.lines = bufio.NewReaderSize(answers{in}, syntax.MaxLine)
	return in
}

// fillLocked waits until there is more after an offset, or the end. One reader
// fills for both.
func (in *input) fillLocked(at *int64) {
	for in.base+int64(len(in.kept)) <= *at && in.err == nil {
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

// from reads from an offset on, which it advances.
func (in *input) from(at *int64, p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.fillLocked(at)
	n := copy(p, in.kept[min(*at-in.base, int64(len(in.kept))):])
	*at += int64(n)
	in.trimLocked()
	if n == 0 && len(p) > 0 {
		return 0, in.err
	}
	return n, nil
}

// Read feeds the command.
func (in *input) Read(p []byte) (int, error) { return in.from(&in.read, p) }

// answers reads what answers are taken from.
type answers struct{ *input }

func (a answers) Read(p []byte) (int, error) { return a.from(&a.asked, p) }

// answer takes a line as the answer to a question.
func (in *input) answer() (string, error) {
	line, _ := in.lines.ReadSlice('\n') // an error with text: the last line, or one that is too long
	if len(line) == 0 {
		return "", io.EOF
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), nil
}
