package switchcli

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/scrapli/scrapligo/channel"
	"github.com/scrapli/scrapligo/logging"
	"github.com/scrapli/scrapligo/transport"
	"github.com/scrapli/scrapligo/util"

	"ctl.internal/sdk/fault"
)

// look is the time between looks at what has come in.
const look = 2 * time.Millisecond

// loginTime bounds a login when the caller's context is longer.
const loginTime = 30 * time.Second

// Session is a login at a command line. It is used by one goroutine at a time.
type Session struct {
	target Target
	ch     *channel.Channel
	stream stream
	prompt *regexp.Regexp
	more   *regexp.Regexp
	key    string
	eol    string
}

// stream is a connection as scrapligo reads it.
type stream interface {
	transport.Implementation
	// reset begins a new account of what comes in: more than a bound of it is refused.
	reset()
	// why is what ended the connection, nil while it holds.
	why() error
}

// Open connects, logs in and waits for the prompt, no longer than ctx and 30 s. Its
// faults are the device's: Unavailable when there is no connection, Denied when the
// login is refused, Timeout when the dialogue does not come to its end.
func Open(ctx context.Context, t Target, d Dialogue) (*Session, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the login dialogue of switch %s: %v", t, err)
	}
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	s := &Session{target: t, more: more(), eol: "\r\n"}
	var err error
	if t.Transport == SSH {
		s.eol = "\n"
		s.stream, s.key, err = dialSSH(ctx, t)
	} else {
		s.stream, err = dialTelnet(ctx, t)
	}
	if err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		_ = s.stream.Close()
		return nil, fault.Wrap(fault.Internal, err, "the command line of switch %s: %v", t, err)
	}
	if err := s.login(ctx, d); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// start puts scrapligo's channel on the connection.
func (s *Session) start() error {
	log, err := logging.NewInstance()
	if err != nil {
		return err
	}
	t, err := transport.NewTransport(log, s.target.Host, "", func(o any) error {
		if a, ok := o.(*transport.Args); ok {
			a.UserImplementation = s.stream
			return nil
		}
		return util.ErrIgnoredOption
	})
	if err != nil {
		return err
	}
	if s.ch, err = channel.NewChannel(log, t); err != nil {
		return err
	}
	s.ch.AuthBypass, s.ch.ReadDelay, s.ch.PromptSearchDepth = true, look, depth
	return s.ch.Open()
}

// Close ends the session. It may be called again.
func (s *Session) Close() {
	_ = s.stream.Close() // first: it ends the channel's reading
	_ = s.ch.Close()
}

// HostKey is the key an SSH server showed, a line of authorized_keys; else empty.
func (s *Session) HostKey() string { return s.key }

// Run types a command and returns what the switch says before its next prompt,
// without the echo. Pages are turned, questions answered. A session is of no use
// after an error: nobody knows what the switch is doing.
func (s *Session) Run(ctx context.Context, line string, answers ...Answer) (string, error) {
	if err := checkLine(line); err != nil {
		return "", err
	}
	patterns := []*regexp.Regexp{s.prompt, s.more}
	for _, a := range answers {
		if !printable(a.Send) {
			return "", fault.New(fault.Invalid, "the answer to %q has control characters", a.Question)
		}
		patterns = append(patterns, ends(a.Question))
	}
	s.stream.reset()
	said, at, err := s.exchange(ctx, line+s.eol, false, patterns)
	text := said
	for err == nil && at != 0 {
		send := " " // the next page
		if at > 1 {
			send = answers[at-2].Send
		} else {
			text = s.more.ReplaceAllString(text, "")
		}
		said, at, err = s.exchange(ctx, send, false, patterns)
		text += said
	}
	if err != nil {
		return "", s.fault(ctx, err, "answer to %q", line)
	}
	if i := strings.LastIndexByte(strings.TrimRight(text, " \n\t"), '\n'); i >= 0 {
		text = text[:i+1]
	} else {
		text = ""
	}
	if i := strings.IndexByte(text, '\n'); i >= 0 && strings.Contains(text[:i], line) {
		text = text[i+1:]
	}
	return text, nil
}

// exchange writes and reads until one of the patterns is at the end.
func (s *Session) exchange(ctx context.Context, send string, secret bool, patterns []*regexp.Regexp) (said string, at int, err error) {
	stop := context.AfterFunc(ctx, func() { _ = s.stream.Close() })
	defer stop()
	if send != "" {
		if err := s.ch.Write([]byte(send), secret); err != nil {
			return "", 0, err
		}
	}
	b, err := s.ch.ReadUntilAnyPrompt(ctx, patterns)
	if err != nil {
		return "", 0, err
	}
	end := tail(b)
	for i, p := range patterns {
		if p.Match(end) {
			return string(b), i, nil
		}
	}
	return "", 0, errors.New("the prompt is lost")
}

// fault is why an exchange failed, in the words of the user.
func (s *Session) fault(ctx context.Context, err error, waited string, args ...any) error {
	if e := s.stream.why(); e != nil {
		err = e
	}
	var f *fault.Error
	switch {
	case ctx.Err() != nil:
		f = fault.Device(fault.Timeout, "switch %s: no "+waited+" in time", append([]any{s.target}, args...)...)
		f.Cause = ctx.Err()
		return f
	case errors.As(err, &f):
		return f
	}
	f = fault.Device(fault.Downstream, "switch %s: the session ended before the "+waited, append([]any{s.target}, args...)...)
	f.Cause = err
	return f
}
