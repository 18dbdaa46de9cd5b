package sshserver

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/console/syntax"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// plainLine runs one line without a terminal: ssh HOST 'line', or ctl 'line'.
func (s *session) plainLine(ctx context.Context, line string) console.Code {
	in := newInput(s.ch)
	ask := &client{session: s, stdin: in}
	return s.runLine(
		ctx,
		line,
		engine.IO{
			Stdin:    in,
			Stdout:   s.ch,
			Stderr:   s.ch.Stderr(),
			Width:    s.terminalWidth(),
			Terminal: ask,
		},
	)
}

// terminalWidth is how wide the terminal is that the client writes to, 0 = it writes to none.
func (s *session) terminalWidth() int {
	n, err := strconv.Atoi(s.env[console.EnvWidth])
	if err != nil || n <= 0 {
		return 0
	}
	return min(max(n, 8), 2000)
}

// runBatch runs the lines that arrive until one fails.
func (s *session) runBatch(ctx context.Context) console.Code {
	name := cmp.Or(s.env[console.EnvBatch], "stdin")
	sc := bufio.NewScanner(s.ch)
	sc.Buffer(make([]byte, 0, 4096), syntax.MaxLine)
	worst := console.OK
	for n := 1; sc.Scan() && !s.shell.Done(); n++ {
		s.conn.noteActivity()
		code := s.runLine(
			ctx,
			sc.Text(),
			engine.IO{
				Stdout:   s.ch,
				Stderr:   s.ch.Stderr(),
				Terminal: &client{session: s},
			},
		)
		if ctx.Err() != nil {
			return console.Interrupted
		}
		if code == console.OK {
			continue
		}
		if s.env[console.EnvKeepOn] == "" {
			fmt.Fprintf(
				s.ch.Stderr(),
				"error: %s:%d: the command failed (exit code %d); nothing after it was run\n",
				name,
				n,
				code,
			)
			return code
		}
		fmt.Fprintf(
			s.ch.Stderr(),
			"error: %s:%d: the command failed (exit code %d)\n",
			name,
			n,
			code,
		)
		if worst == console.OK {
			worst = code
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		fmt.Fprintf(
			s.ch.Stderr(),
			"error: %s: a line is longer than %d bytes\n",
			name,
			syntax.MaxLine,
		)
		return console.Usage
	}
	return worst
}

// client is the Terminal of a session without one: it asks the client program,
// and where that cannot, reads a line of what is typed or piped in.
type client struct {
	*session
	stdin *input // nil = what comes in is no answer
	mu    sync.Mutex
}

func (c *client) Prompt(ctx context.Context, text string, echo bool) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var a console.Answer
	known, err := waitFor(ctx, func() (ok bool, err error) {
		ok, payload, err := c.conn.ssh.SendRequest(
			console.PromptRequest,
			true,
			ssh.Marshal(console.Prompt{Text: text, Echo: echo}),
		)
		if ok && err == nil {
			err = ssh.Unmarshal(payload, &a)
		}
		return ok, err
	})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fault.Wrap(fault.Unavailable, err, "the user cannot be asked: %v", err)
	case known:
		return a.Line, nil
	}
	if c.stdin == nil {
		return "", fault.New(
			fault.Unavailable,
			"this command asks %q and needs a terminal; run it in an interactive session",
			text,
		)
	}
	fmt.Fprint(c.ch.Stderr(), text)
	line, err := waitFor(ctx, c.stdin.readAnswer) // ends with the channel, which closes when the command returns
	if errors.Is(err, io.EOF) {
		return "", fault.New(
			fault.Unavailable,
			"this command asks something and the input has ended",
		)
	}
	return line, err
}

// Progress informs the client program; one that does not know it stays silent.
func (c *client) Progress(p commands.Progress) {
	c.conn.ssh.SendRequest(console.ProgressRequest, false, ssh.Marshal(toWireProgress(p)))
}

func toWireProgress(p commands.Progress) console.Progress {
	return console.Progress{
		Text:  p.Text,
		Done:  uint64(max(p.Done, 0)),
		Total: uint64(max(p.Total, 0)),
	}
}
