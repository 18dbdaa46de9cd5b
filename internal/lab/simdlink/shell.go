// Package simdlink is a simulated D-Link switch at its command line, by telnet and SSH:
// the login dialogue, pages, access profiles and rules, spanning tree, traffic settings,
// and settings and power of ports of the xStack series. It misbehaves on demand (Faults).
//
// It keeps what it is given and shows it; no frame passes. Switches with SNMP are
// package simswitch, routers with a command line package simcli.
package simdlink

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"time"
)

// pageLines is how many lines a page has.
const pageLines = 20

const pageEnd = "CTRL+C ESC q Quit SPACE n Next Page ENTER Next Entry a All "

// shell is one session.
type shell struct {
	s   *Switch
	out io.Writer
	in  *bufio.Reader
	// crlf: the last line ended with CR, and the LF after it is no line.
	crlf bool
}

func newShell(s *Switch, rw io.ReadWriter) *shell {
	return &shell{s: s, out: rw, in: bufio.NewReader(rw)}
}

func (h *shell) runShell(telnet bool) {
	if telnet && !h.requestLogin() {
		return
	}
	h.writeText("\r\n")
	for {
		f := h.faults()
		h.writeText(h.s.prompt(f))
		line, ok := h.readLine(true)
		if !ok {
			return
		}
		if line = strings.TrimSpace(line); line == "" {
			h.writeText("\r\n")
			continue
		}
		f = h.recordLine(line)
		if hasFaultPrefix(f.Hangup, line) || line == "logout" {
			return
		}
		answer := h.executeLine(line, f)
		if f.Delay > 0 {
			select {
			case <-time.After(f.Delay):
			case <-h.s.done:
				return
			}
		}
		switch {
		case hasFaultPrefix(f.Mute, line):
			_, _ = io.Copy(io.Discard, h.in) // until the other end hangs up
			return
		case hasFaultPrefix(f.Truncate, line):
			h.writeText("\r\n" + answer[:len(answer)/2])
			return
		}
		h.writePaged("\r\nCommand: " + line + "\r\n\r\n" + answer + "\r\n")
	}
}

// requestLogin asks for user and password; SSH has done it already.
func (h *shell) requestLogin() bool {
	h.writeText("\xff\xfb\x01\xff\xfb\x03\r\n\r\n            " + h.s.o.Model + " Gigabit Ethernet Switch\r\n                 Command Line Interface\r\n\r\n")
	for range 3 {
		h.writeText("UserName:")
		name, ok1 := h.readLine(true)
		h.writeText("\r\nPassWord:")
		password, ok2 := h.readLine(false)
		if !ok1 || !ok2 {
			return false
		}
		if name == user && password == h.s.o.Password {
			h.writeText("\r\n")
			return true
		}
		h.writeText("\r\nFail!\r\n\r\n")
	}
	return false
}

func (h *shell) faults() Faults {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	return h.s.faults
}

func (h *shell) recordLine(line string) Faults {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if !strings.HasPrefix(line, "show ") && line != "disable clipaging" && line != "logout" {
		h.s.sent = append(h.s.sent, line)
	}
	return h.s.faults
}

func (h *shell) executeLine(line string, f Faults) string {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	switch {
	case hasFaultPrefix(f.Refuse, line):
		return "The switch is busy.\r\n\r\nFail!\r\n"
	case hasFaultPrefix(f.Ignore, line):
		return "Success.\r\n"
	case hasFaultPrefix(f.Garbage, line):
		return strings.Repeat("\x00\x1b[2J\xff\xfe\x80\x07", 40)
	case f.Pages && line == "disable clipaging":
		return "Fail!\r\n"
	case f.Mishear[0] != "" && !strings.HasPrefix(line, "show "):
		line = strings.ReplaceAll(line, f.Mishear[0], f.Mishear[1])
	}
	return h.s.state.executeLine(line)
}

// writePaged writes an answer, a page at a time while clipaging is on.
func (h *shell) writePaged(text string) {
	h.s.mu.Lock()
	paging := h.s.state.clipaging
	h.s.mu.Unlock()
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" { // after the last line end
		lines = lines[:last]
	}
	for paging && len(lines) > pageLines {
		h.writeText(strings.Join(lines[:pageLines], "") + pageEnd)
		lines = lines[pageLines:]
		b, err := h.in.ReadByte()
		for err == nil && (b == '\n' && h.crlf || b == 0) {
			h.crlf = false
			b, err = h.in.ReadByte()
		}
		h.writeText("\r" + strings.Repeat(" ", len(pageEnd)) + "\r")
		switch {
		case err != nil || b == 'q' || b == 0x1b || b == 3:
			return
		case b == 'a':
			paging = false
		}
	}
	h.writeText(strings.Join(lines, ""))
}

// writeText writes; a closed connection is detected when reading.
func (h *shell) writeText(text string) {
	b := []byte(text)
	for n := h.faults().Pieces; n > 0 && len(b) > n; b = b[n:] {
		_, _ = h.out.Write(b[:n])
	}
	_, _ = h.out.Write(b)
}

// readLine reads what is typed, without telnet commands, and echoes it.
func (h *shell) readLine(echo bool) (string, bool) {
	var b bytes.Buffer
	for {
		c, err := h.in.ReadByte()
		if err != nil || b.Len() > 1000 {
			return "", false
		}
		switch {
		case c == 255: // IAC and two more
			if _, err := h.in.Discard(2); err != nil {
				return "", false
			}
			continue
		case (c == '\n' || c == 0) && h.crlf && b.Len() == 0:
			h.crlf = false
			continue
		case c == '\r' || c == '\n':
			h.crlf = c == '\r'
			return b.String(), true
		}
		h.crlf = false
		b.WriteByte(c)
		if echo {
			h.writeText(string(rune(c)))
		} else {
			h.writeText("*")
		}
	}
}
