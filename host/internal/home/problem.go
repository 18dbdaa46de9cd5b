package home

import (
	"fmt"
	"strings"
)

// Problem is a fault in a settings file, with its place and remedy.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // 0 = the file as a whole
	Key     string `json:"key,omitempty"`  // dotted, such as limits.body
	Text    string `json:"text"`
	Warning bool   `json:"warning,omitempty"` // does not stop a start
}

// String is "file:line: key: text".
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Key != "" {
		b.WriteString(": " + p.Key)
	}
	b.WriteString(": " + p.Text)
	return b.String()
}

// Fatal returns the problems that stop a start as one error, one a line; nil
// when there are only warnings.
func Fatal(ps []Problem) error {
	var lines []string
	for _, p := range ps {
		if !p.Warning {
			lines = append(lines, p.String())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(lines, "\n"))
}
