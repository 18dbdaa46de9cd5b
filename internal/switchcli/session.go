// Package switchcli is a session at the command line of a switch, over telnet or SSH:
// login by a dialogue of prompts, one command after the other, paging, questions.
//
// What a command means is the caller's business; that a value cannot become a second
// command is this package's: build lines with Line, from Words. Devices that speak
// NETCONF are package netconf.
package switchcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// loginTime bounds a login when the caller's context is longer.
const loginTime = 30 * time.Second

// maxAnswer bounds what a switch may say to one command, in octets.
const maxAnswer = 2 << 20

// Session is a login at a command line. It is used by one goroutine at a time.
type Session struct {
	target Target
	conn   io.ReadWriteCloser
	said   int            // octets, since the last command
	prompt *regexp.Regexp // that ends an answer
	pages  []pager
	last   string // the last line that was said
	key    string
	eol    string
}

// Open connects, logs in and waits for the prompt, no longer than ctx and 30 s. Its
// faults are the device's: Unavailable when there is no connection, Denied when the
// login is refused, Timeout when the dialogue does not come to its end.
func Open(ctx context.Context, t Target, d Dialogue) (*Session, error) {
	if err := t.checkTyped(); err != nil {
		return nil, err
	}
	if err := d.checkSteps(); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the login dialogue of switch %s: %v", t, err)
	}
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	s := &Session{target: t, pages: listPagers(), eol: "\r\n"}
	var err error
	if t.Transport == SSH {
		s.eol = "\n"
		s.conn, s.key, err = dialSSH(ctx, t)
	} else {
		s.conn, err = dialTelnet(ctx, t)
	}
	if err != nil {
		return nil, err
	}
	if err := s.login(ctx, d); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the session. It may be called again.
func (s *Session) Close() { _ = s.conn.Close() }

// HostKey is the key an SSH server showed, a line of authorized_keys; else empty.
func (s *Session) HostKey() string { return s.key }

// Run types a command and returns what the switch says before its next prompt,
// without the echo. Pages are turned, questions answered. A session is of no use
// after an error: the state of the switch is unknown.
func (s *Session) Run(ctx context.Context, line string, answers ...Answer) (string, error) {
	if err := checkLine(line); err != nil {
		return "", err
	}
	patterns := []*regexp.Regexp{s.prompt}
	for _, p := range s.pages {
		patterns = append(patterns, p.shown)
	}
	for _, a := range answers {
		if !switchdriver.Printable(a.Send) {
			return "", fault.New(
				fault.Invalid,
				"the answer to %q has control characters",
				a.Question,
			)
		}
		patterns = append(patterns, compileEnding(a.Question))
	}
	s.said = 0
	said, at, err := s.exchange(ctx, line+s.eol, patterns)
	text := said
	for err == nil && at != 0 {
		var send string
		if page := at - 1; page < len(s.pages) {
			send = cmp.Or(s.pages[page].key, s.eol)
			text = s.pages[page].shown.ReplaceAllString(text, "")
		} else {
			send = answers[page-len(s.pages)].Send
		}
		said, at, err = s.exchange(ctx, send, patterns)
		text += said
	}
	if err != nil {
		return "", s.exchangeFault(ctx, err, "answer to %q", line)
	}
	if i := strings.LastIndexByte(strings.TrimRight(text, " \n\t"), '\n'); i >= 0 {
		text = text[:i+1]
	} else {
		text = ""
	}
	i := strings.IndexByte(text, '\n')
	if i >= 0 && strings.Contains(text[:i], line) {
		text = text[i+1:]
	}
	return text, nil
}

// exchange writes and reads until one of the patterns is at the end.
func (s *Session) exchange(
	ctx context.Context,
	send string,
	patterns []*regexp.Regexp,
) (said string, at int, err error) {
	stop := context.AfterFunc(ctx, s.Close)
	defer stop()
	if _, err := io.WriteString(s.conn, send); err != nil {
		return "", 0, err
	}
	var all []byte
	for part := make([]byte, 32<<10); ; {
		n, err := s.conn.Read(part)
		all = append(all, part[:n]...)
		if s.said += n; s.said > maxAnswer {
			return "", 0, fault.Device(
				fault.TooBig,
				"switch %s: it says more than %d octets to one command",
				s.target,
				maxAnswer,
			)
		}
		end := stripEscapes(lastLines(all))
		if l := lastLine(end); l != "" {
			s.last = l
		}
		for i, p := range patterns {
			if p.Match(end) {
				return string(stripEscapes(all)), i, nil
			}
		}
		if err != nil {
			return "", 0, err
		}
	}
}

// exchangeFault is why an exchange failed, in the words of the user.
func (s *Session) exchangeFault(ctx context.Context, err error, waited string, args ...any) error {
	var f *fault.Error
	args = append(append([]any{s.target}, args...), s.lastSaid())
	switch {
	case ctx.Err() != nil:
		return deviceFault(fault.Timeout, ctx.Err(), "switch %s: no "+waited+" in time; %s", args...)
	case errors.As(err, &f):
		return f
	}
	return deviceFault(fault.Downstream, err, "switch %s: the session ended before the "+waited+"; %s", args...)
}

// maxShown is how much of a line of the switch an error shows.
const maxShown = 120

// lastSaid shows the last line that the switch sent, which shows what it waits for.
func (s *Session) lastSaid() string {
	if s.last == "" {
		return "it has sent nothing"
	}
	said := s.last
	if s.target.Password != "" {
		said = strings.ReplaceAll(said, s.target.Password, "***")
	}
	said = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, said)
	if len(said) > maxShown {
		said = "…" + said[len(said)-maxShown:]
	}
	return fmt.Sprintf("the last line that it sent is %q", said)
}

// deviceFault is a fault of the device that has a cause.
func deviceFault(kind fault.Kind, cause error, format string, args ...any) error {
	f := fault.Device(kind, format, args...)
	f.Cause = cause
	return f
}
