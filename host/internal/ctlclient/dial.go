package ctlclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/console"
)

// dialTime bounds how long a controller may take to greet.
const dialTime = 10 * time.Second

// link is a connection to the controller's console.
type link struct {
	client   *ssh.Client
	session  *ssh.Session
	status   *console.StatusLine
	line     string // that was typed, if it is one; see mayReach
	sameUser bool   // the controller's user and this one
}

// dialConsole connects to the console of the home and opens a session.
func (o *options) dialConsole(ctx context.Context) (*link, error) {
	home, err := o.homeDir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(home, "data", "run", "console.sock")
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			return nil, coded{console.Denied, fmt.Errorf(
				"the console at %s belongs to another user; run ctl as the user that runs ctld, or use ssh: %w",
				path,
				err,
			)}
		}
		return nil, coded{console.Unavailable, fmt.Errorf(
			"no controller answers at %s; start it with ctld --home %s, or name another home with --home or CTL_HOME",
			path,
			console.Join([]string{home}),
		)}
	}
	raw.SetDeadline(time.Now().Add(dialTime))
	// The socket's directory admits only its owner, so there is no host key to compare.
	conn, channels, requests, err := ssh.NewClientConn(
		raw,
		path,
		&ssh.ClientConfig{
			User:            "local",
			HostKeyCallback: ssh.InsecureIgnoreHostKey(),
			ClientVersion:   "SSH-2.0-ctl",
		},
	)
	if err != nil {
		raw.Close()
		return nil, coded{console.Unavailable, fmt.Errorf(
			"the controller at %s refuses this user or is stopping (its log has the reason): %w",
			path,
			err,
		)}
	}
	raw.SetDeadline(time.Time{})
	l := &link{
		status:   &console.StatusLine{Out: o.std.Err},
		line:     o.line,
		sameUser: isOwnFile(path),
	}
	none := make(chan *ssh.Request)
	close(none)
	l.client = ssh.NewClient(conn, channels, none)
	go l.answerRequests(requests)
	if l.session, err = l.client.NewSession(); err != nil {
		l.client.Close()
		return nil, coded{console.Unavailable, fmt.Errorf("the controller does not open a session: %w", err)}
	}
	for name, value := range map[string]string{
		console.EnvFormat: o.format,
		console.EnvKeepOn: map[bool]string{true: "1"}[o.keepGoing],
	} {
		if value != "" {
			l.session.Setenv(name, value)
		}
	}
	return l, nil
}

func (l *link) close() {
	l.status.Clear()
	l.client.Close()
}

// answerRequests serves what the controller asks of the user, until the connection ends.
func (l *link) answerRequests(requests <-chan *ssh.Request) {
	for r := range requests {
		switch r.Type {
		case console.PromptRequest:
			var p console.Prompt
			if ssh.Unmarshal(r.Payload, &p) != nil {
				r.Reply(false, nil)
				continue
			}
			l.status.Clear()
			line, err := askTerminal(p.Text, p.Echo)
			if err != nil {
				r.Reply(false, nil)
				continue
			}
			r.Reply(true, ssh.Marshal(console.Answer{Line: line}))
		case console.ReadFileRequest:
			r.Reply(true, l.readFile(r.Payload))
		case console.WriteFileRequest:
			r.Reply(true, l.writeFile(r.Payload))
		case console.ProgressRequest:
			var p console.Progress
			if ssh.Unmarshal(r.Payload, &p) == nil {
				l.status.Show(p)
			}
			fallthrough
		default:
			if r.WantReply {
				r.Reply(false, nil)
			}
		}
	}
}

// feedInput copies r to the session's input. Session.Stdin would do that too, but make it
// an error when a command ends without having read everything. The copy ends with
// the connection or with r.
func (l *link) feedInput(r io.Reader) error {
	w, err := l.session.StdinPipe()
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(w, r)
		_ = w.Close()
	}()
	return nil
}

// waitForExit waits for the session's end and returns its code as an error.
func (l *link) waitForExit() error {
	err := l.session.Wait()
	var e *ssh.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return exitError(console.Code(e.ExitStatus()))
	case errors.Is(err, io.EOF) || errors.As(err, new(*ssh.ExitMissingError)):
		return coded{console.Unavailable, errors.New("the controller ended the connection: it was stopped, or the session was idle too long")}
	}
	return coded{console.Unavailable, fmt.Errorf("the connection to the controller: %w", err)}
}

// maxAnswer bounds what one line may answer to a command of ctl, in bytes.
const maxAnswer = 64 << 20

// callCommand runs the words of one command in a session of its own and returns what it printed. The error has its exit code
// and text.
func (l *link) callCommand(in io.Reader, words ...string) ([]byte, error) {
	s, err := l.client.NewSession()
	if err != nil {
		return nil, coded{console.Unavailable, fmt.Errorf("the controller does not open a session: %w", err)}
	}
	defer s.Close()
	out, said := &limited{}, &limited{}
	s.Stdin, s.Stdout, s.Stderr = in, out, said
	err = s.Run(console.Join(words))
	var e *ssh.ExitError
	switch {
	case out.full || said.full:
		return nil, coded{console.Failed, fmt.Errorf(
			"the answer of %s has more than %d MiB",
			words[0],
			maxAnswer>>20,
		)}
	case err == nil:
		return out.Bytes(), nil
	case errors.As(err, &e):
		text := cmp.Or(
			strings.TrimSuffix(strings.TrimPrefix(said.String(), "error: "), "\n"),
			strings.TrimSpace(out.String()),
		)
		return out.Bytes(), coded{console.Code(e.ExitStatus()), errors.New(text)}
	}
	return nil, coded{console.Unavailable, fmt.Errorf("the connection to the controller: %w", err)}
}

// readJSON is call for a command that prints JSON.
func (l *link) readJSON(v any, words ...string) error {
	out, err := l.callCommand(strings.NewReader(""), append(words, "--format", "json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, v); err != nil {
		return coded{console.Failed, fmt.Errorf("%s did not print JSON: %w", words[0], err)}
	}
	return nil
}

// limited is a buffer that takes so much and no more.
type limited struct {
	bytes.Buffer
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxAnswer {
		l.full = true
		return 0, io.ErrShortWrite
	}
	return l.Buffer.Write(p)
}

func hasCode(err error, code console.Code) bool {
	var c coded
	return errors.As(err, &c) && c.code == code
}
