package gitcmd

import (
	"errors"
	"fmt"
	"strings"
)

// ExitError is a git that ran and said no.
type ExitError struct {
	Command string // the subcommand
	Code    int    // exit status; -1 when it was killed
	Stderr  string // the end of what it said
}

// Error names the subcommand, the status and git's last words.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("git %s ended with status %d", e.Command, e.Code)
	if s := strings.TrimSpace(e.Stderr); s != "" {
		text += ": " + s
	}
	return text
}

// Reason is the first complaint of git, without what it says to every failure; or
// the status when git said nothing.
func (e *ExitError) Reason() string {
	for line := range strings.Lines(e.Stderr) {
		kind, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch kind {
		case "", "warning", "hint":
		case "fatal", "error":
			return text
		default:
			return strings.TrimSpace(line)
		}
	}
	return fmt.Sprintf("git %s ended with status %d", e.Command, e.Code)
}

// ExitCode returns git's exit status, or false when err is no such thing.
func ExitCode(err error) (int, bool) {
	if e := (*ExitError)(nil); errors.As(err, &e) {
		return e.Code, true
	}
	return 0, false
}

// tail keeps the last bytes written to it: what a failing git says last is
// what matters.
type tail struct{ buf []byte }

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.buf), "?") }
