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

func (h *shell) run(telnet bool) {
	if telnet && !h.login() {
		return
	}
	h.say("\r\n")
	for {
		f := h.faults()
		h.say(h.s.prompt(f))
		line, ok := h.line(true)
		if !ok {
			return
		}
		if line = strings.TrimSpace(line); line == "" {
			h.say("\r\n")
			continue
		}
		f = h.note(line)
		if began(f.Hangup, line) || line == "logout" {
			return
		}
		answer := h.do(line, f)
		if f.Delay > 0 {
			select {
			case <-time.After(f.Delay):
			case <-h.s.done:
				return
			}
		}
		switch {
		case began(f.Mute, line):
			_, _ = io.Copy(io.Discard, h.in) // until the other end hangs up
			return
		case began(f.Truncate, line):
			h.say("\r\n" + answer[:len(answer)/2])
			return
		}
		h.page("\r\nCommand: " + line + "\r\n\r\n" + answer + "\r\n")
	}
}

// login asks for user and password; SSH has done it already.
func (h *shell) login() bool {
	h.say("\xff\xfb\x01\xff\xfb\x03\r\n\r\n            " + h.s.o.Model + " Gigabit Ethernet Switch\r\n                 Command Line Interface\r\n\r\n")
	for range 3 {
		h.say("UserName:")
		name, ok1 := h.line(true)
		h.say("\r\nPassWord:")
		password, ok2 := h.line(false)
		if !ok1 || !ok2 {
			return false
		}
		if name == user && password == h.s.o.Password {
			h.say("\r\n")
			return true
		}
		h.say("\r\nFail!\r\n\r\n")
	}
	return false
}

func (h *shell) faults() Faults {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	return h.s.faults
}

func (h *shell) note(line string) Faults {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if !strings.HasPrefix(line, "show ") && line != "disable clipaging" && line != "logout" {
		h.s.sent = append(h.s.sent, line)
	}
	return h.s.faults
}

func (h *shell) do(line string, f Faults) string {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	switch {
	case began(f.Refuse, line):
		return "The switch is busy.\r\n\r\nFail!\r\n"
	case began(f.Ignore, line):
		return "Success.\r\n"
	case began(f.Garbage, line):
		return strings.Repeat("\x00\x1b[2J\xff\xfe\x80\x07", 40)
	case f.Pages && line == "disable clipaging":
		return "Fail!\r\n"
	case f.Mishear[0] != "" && !strings.HasPrefix(line, "show "):
		line = strings.ReplaceAll(line, f.Mishear[0], f.Mishear[1])
	}
	return h.s.state.do(line)
}

// page writes an answer, a page at a time while clipaging is on.
func (h *shell) page(text string) {
	h.s.mu.Lock()
	paging := h.s.state.clipaging
	h.s.mu.Unlock()
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" { // after the last line end
		lines = lines[:last]
	}
	for paging && len(lines) > pageLines {
		h.say(strings.Join(lines[:pageLines], "") + pageEnd)
		lines = lines[pageLines:]
		b, err := h.in.ReadByte()
		for err == nil && (b == '\n' && h.crlf || b == 0) {
			h.crlf = false
			b, err = h.in.ReadByte()
		}
		h.say("\r" + strings.Repeat(" ", len(pageEnd)) + "\r")
		switch {
		case err != nil || b == 'q' || b == 0x1b || b == 3:
			return
		case b == 'a':
			paging = false
		}
	}
	h.say(strings.Join(lines, ""))
}

// say writes; a closed connection is detected when reading.
func (h *shell) say(text string) {
	b := []byte(text)
	for n := h.faults().Pieces; n > 0 && len(b) > n; b = b[n:] {
		_, _ = h.out.Write(b[:n])
	}
	_, _ = h.out.Write(b)
}

// line reads what is typed, without telnet commands, and echoes it.
func (h *shell) line(echo bool) (string, bool) {
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
			h.say(string(rune(c)))
		} else {
			h.say("*")
		}
	}
}
