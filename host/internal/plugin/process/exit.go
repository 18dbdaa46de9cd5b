package process

import (
	"fmt"
	"strings"
)

// Exit is how a process ended.
type Exit struct {
	Code   int    // -1 when a signal ended it
	Signal string // "killed"
	Reason string // why the host ended it; empty when it ended by itself
	Tail   []string
}

// Clean reports an orderly end.
func (e Exit) Clean() bool { return e.Code == 0 }

// String says how, and with what last words.
func (e Exit) String() string {
	var b strings.Builder
	switch {
	case e.Reason != "":
		b.WriteString(e.Reason)
	case e.Signal != "":
		fmt.Fprintf(&b, "killed by signal (%s)", e.Signal)
	default:
		fmt.Fprintf(&b, "exit status %d", e.Code)
	}
	if w := e.lastWords(); w != "" {
		b.WriteString("; last words: " + w)
	}
	return b.String()
}

// lastWords picks the line of a dying program that says most.
func (e Exit) lastWords() string {
	if e.Clean() || len(e.Tail) == 0 {
		return ""
	}
	for _, l := range e.Tail {
		if strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") {
			return l
		}
	}
	if e.Signal != "" {
		return "" // it did not know that it would end
	}
	return e.Tail[len(e.Tail)-1]
}
