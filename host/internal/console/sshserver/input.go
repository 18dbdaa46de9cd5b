package sshserver

import (
	"bufio"
	"io"
	"strings"
	"sync"

	"ctl.internal/sdk/fault"
)

// maxAnswers bounds in bytes what may wait in the input when a question is answered from it: more than that is data.
// Programs write into pipes at least twice as much at once when they have more.
const maxAnswers = 2 << 10

// input is what is piped into a session without a terminal. It holds data for the command or answers to its
// questions, never both: the first use of it decides.
type input struct {
	r io.Reader

	mu    sync.Mutex // held while the use is decided
	use   use
	lines *bufio.Reader // of answers
}

// use is what an input holds.
type use int

const (
	unused use = iota
	data
	answers
)

func newInput(r io.Reader) *input {
	return &input{
		r:     r,
		lines: bufio.NewReaderSize(r, 4*maxAnswers),
	}
}

// claimUse reports whether the input may be used as asked.
func (in *input) claimUse(want use) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.use == unused {
		in.use = want
	}
	return in.use == want
}

// Read feeds the command.
func (in *input) Read(p []byte) (int, error) {
	if !in.claimUse(data) {
		return 0, fault.New(fault.Unavailable, "the input was read for the answer to a question, so it is no data: "+
			"run the command in a terminal, where questions are asked, or give it the data as a file")
	}
	return in.r.Read(p)
}

// readAnswer takes a line as the answer to a question.
func (in *input) readAnswer() (string, error) {
	if !in.claimUse(answers) {
		return "", fault.New(
			fault.Unavailable,
			"the command asks a question, and its input is data: run it in a terminal, where the question is asked",
		)
	}
	line, err := in.lines.ReadSlice('\n') // an error with text: the last line, or one that is too long
	if len(line)+in.lines.Buffered() > maxAnswers {
		return "", fault.New(fault.Unavailable, "the command asks a question, and more than %d bytes are piped in, which are data and no answer: "+
			"run it in a terminal, where the question is asked", maxAnswers)
	}
	if len(line) == 0 {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), nil
}
