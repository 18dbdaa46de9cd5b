package ctlclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/console"
)

// maxAnswer bounds what one line may answer to a command of ctl, in bytes.
const maxAnswer = 64 << 20

// call runs the words of one command in a session of its own and returns what it printed. The error has its exit code and text.
func (l *link) call(in io.Reader, words ...string) ([]byte, error) {
	s, err := l.client.NewSession()
	if err != nil {
		return nil, coded{console.Unavailable, fmt.Errorf("the controller opens no session: %w", err)}
	}
	defer s.Close()
	out, said := &limited{}, &limited{}
	s.Stdin, s.Stdout, s.Stderr = in, out, said
	err = s.Run(console.Join(words))
	var e *ssh.ExitError
	switch {
	case out.full || said.full:
		return nil, coded{console.Failed, fmt.Errorf("%s answers more than %d MiB", words[0], maxAnswer>>20)}
	case err == nil:
		return out.Bytes(), nil
	case errors.As(err, &e):
		text := strings.TrimSuffix(strings.TrimPrefix(said.String(), "error: "), "\n")
		if text == "" {
			text = strings.TrimSpace(out.String())
		}
		return out.Bytes(), coded{console.Code(e.ExitStatus()), errors.New(text)}
	}
	return nil, coded{console.Unavailable, fmt.Errorf("the connection to the controller: %w", err)}
}

// read is call for a command that prints JSON.
func (l *link) read(v any, words ...string) error {
	out, err := l.call(strings.NewReader(""), append(words, "--format", "json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, v); err != nil {
		return coded{console.Failed, fmt.Errorf("%s printed no JSON: %w", words[0], err)}
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

func is(err error, code console.Code) bool {
	var c coded
	return errors.As(err, &c) && c.code == code
}
