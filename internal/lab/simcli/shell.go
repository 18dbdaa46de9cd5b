// Package simcli is a simulated BIER router with a command line over SSH, in the
// manner of freeRtr: a running configuration of sections with indented lines, entered
// with "configure terminal", taken back with "no". Each line takes effect at once, but the
// egress list of a tunnel: that waits for "tunnel mode bier".
//
// Its grammar is that of the templates bier-driver-cli comes with. Routers with
// NETCONF are package simrouter.
package simcli

import (
	"bufio"
	"strings"

	"golang.org/x/crypto/ssh"
)

// shell is one session at the command line.
type shell struct {
	r       *Router
	ch      ssh.Channel
	mode    string // "", "cfg", or "cfg-section"
	section string
	before  string // the prompt at which the line was typed
}

func (s *shell) runShell() {
	in := bufio.NewScanner(s.ch)
	in.Split(splitLines)
	s.writeAnswer("")
	for in.Scan() {
		line := strings.TrimSpace(in.Text())
		f := s.recordLine(line)
		switch {
		case hasFaultPrefix(f.Hangup, line):
			return
		case line == "exit" && s.mode == "":
			return
		}
		s.before = s.prompt()
		out := s.executeLine(line, f)
		if hasFaultPrefix(f.Mute, line) {
			continue
		}
		if f.Redraw {
			out = s.redrawAnswer(line, out)
		} else {
			out = line + "\r\n" + out // a terminal echoes
		}
		s.writeAnswer(out)
	}
}

func (s *shell) recordLine(line string) Faults {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.typed = append(s.r.typed, line)
	return s.r.faults
}

func hasFaultPrefix(fault, line string) bool {
	return fault != "" && strings.HasPrefix(line, fault)
}

func (s *shell) prompt() string {
	if s.mode != "" {
		return "lab(" + s.mode + ")#"
	}
	return "lab#"
}

// drawLine is a line as an editor of lines draws it: over the old one, with blanks.
func (s *shell) drawLine(prompt, line string) string {
	return "\r\r" + prompt + line + strings.Repeat(" ", 70) + "\r" + prompt + line
}

// redrawAnswer is an echo and an answer, all drawn again; then comes the prompt.
func (s *shell) redrawAnswer(line, out string) string {
	now := s.prompt()
	text := s.drawLine(s.before, line[:min(1, len(line))]) + s.drawLine(s.before, line) + "\r\n" + out + s.drawLine(now, "")
	if strings.HasPrefix(out, "%") {
		text += s.drawLine(now, "")
	}
	return strings.TrimSuffix(text, now)
}

// writeAnswer writes an answer and the prompt after it.
func (s *shell) writeAnswer(text string) {
	b := []byte(text + s.prompt())
	s.r.mu.Lock()
	n := s.r.faults.Pieces
	s.r.mu.Unlock()
	for n > 0 && len(b) > n {
		_, _ = s.ch.Write(b[:n]) // the end of the session is seen when reading
		b = b[n:]
	}
	_, _ = s.ch.Write(b)
}

const invalid = "% invalid command\r\n"

func (s *shell) executeLine(line string, f Faults) string {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	switch {
	case line == "":
		return ""
	case hasFaultPrefix(f.Refuse, line):
		return "% refused today\r\n"
	case line == "end":
		s.mode, s.section = "", ""
		return ""
	case s.mode == "":
		return s.executeExecCommand(line)
	case line == "exit":
		s.mode, s.section = map[string]string{
			"cfg":         "",
			"cfg-section": "cfg",
		}[s.mode], ""
		return ""
	case hasFaultPrefix(f.Ignore, line):
		return ""
	}
	rest, no := strings.CutPrefix(line, "no ")
	c := s.r.config
	switch {
	case s.section != "" && no && c.unsetLine(s.section, rest):
		return ""
	case s.section != "" && !no && c.setLine(s.section, line):
		if line == "tunnel mode bier" {
			s.r.does[s.section] = c.lineValue(s.section, "tunnel domain-name ")
		}
		return ""
	case no && c.deleteSection(rest):
		return ""
	case !no && c.enterSection(line):
		s.mode, s.section = "cfg-section", line
		return ""
	}
	return invalid
}

// executeExecCommand is the mode outside configuration.
func (s *shell) executeExecCommand(line string) string {
	switch line {
	case "terminal length 0", "write memory":
		return ""
	case "configure terminal":
		s.mode = "cfg"
		return ""
	case "show running-config":
		return strings.ReplaceAll(s.r.config.String(), "\n", "\r\n")
	}
	return invalid
}

// splitLines splits at either end of a line that terminals send.
func splitLines(data []byte, atEOF bool) (int, []byte, error) {
	for i, c := range data {
		if c == '\r' || c == '\n' {
			return i + 1, data[:i], nil
		}
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
