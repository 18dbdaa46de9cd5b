package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/netconf"
)

// maxAnswer bounds what a router says to one line.
const maxAnswer = 16 << 20

// terminal is a session at a command line.
type terminal struct {
	client  *ssh.Client
	ch      ssh.Channel
	prompt  *regexp.Regexp // at the end of what was said
	refused *regexp.Regexp // a line that reports an error
	key     string
	typed   uint32
}

// errRefused is a line that the router does not take.
var errRefused = errors.New("the router refused")

// openTerminal logs in and waits for the prompt. ctx bounds the opening only.
func openTerminal(
	ctx context.Context,
	to netconf.Target,
	prompt, refused *regexp.Regexp,
) (*terminal, error) {
	client, key, err := netconf.DialSSH(ctx, to)
	if err != nil {
		return nil, err
	}
	t := &terminal{
		client:  client,
		prompt:  prompt,
		refused: refused,
		key:     key,
	}
	stop := context.AfterFunc(ctx, t.close)
	defer stop()
	if t.ch, err = netconf.OpenShell(client); err == nil {
		_, err = t.readAnswer(false)
	}
	if err != nil {
		t.close()
		return nil, errors.Join(fmt.Errorf("no command line from the router: %w", err), ctx.Err())
	}
	return t, nil
}

func (t *terminal) close() { t.client.Close() }

// runLine types one line and returns what the router says before its next prompt. When
// ctx ends first the session is closed.
func (t *terminal) runLine(ctx context.Context, line string) (string, error) {
	for _, c := range []byte(line) {
		if c < ' ' || c > '~' || c == '?' {
			return "", fmt.Errorf("%w: %.80q must not be typed", errRefused, line)
		}
	}
	stop := context.AfterFunc(ctx, t.close)
	defer stop()
	t.typed++
	if _, err := t.ch.Write([]byte(line + "\n")); err != nil {
		return "", errors.Join(fmt.Errorf("the session ended at %q: %w", line, err), ctx.Err())
	}
	said, err := t.readAnswer(true)
	if err != nil {
		return "", errors.Join(fmt.Errorf("no answer to %q: %w", line, err), ctx.Err())
	}
	i := strings.Index(said, "\n")
	if i >= 0 && strings.Contains(said[:i], line) {
		said = said[i+1:] // the echo
	}
	for _, l := range strings.Split(said, "\n") {
		if t.refused.MatchString(strings.TrimSpace(l)) {
			return "", fmt.Errorf("%w %q: %.200s", errRefused, line, strings.TrimSpace(l))
		}
	}
	return said, nil
}

// visibleLine is what is seen of a line in the end: a carriage return begins it again.
func visibleLine(line string) string {
	line = strings.TrimRight(escapes.ReplaceAllString(line, ""), "\r\x00")
	return line[strings.LastIndexByte(line, '\r')+1:]
}

// escapes are the sequences that a terminal draws with.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*\x07`)

// readAnswer reads as far as a prompt at the end, and leaves the prompt out. Routers draw
// the prompt again while a line is typed, and once more after an error: the one that
// ends an answer comes after a line end, that of the echo at least.
func (t *terminal) readAnswer(echo bool) (string, error) {
	var b bytes.Buffer
	part := make([]byte, 32<<10)
	for {
		n, err := t.ch.Read(part)
		b.Write(part[:n])
		if b.Len() > maxAnswer {
			return "", fmt.Errorf("the router sent more than %d bytes", maxAnswer)
		}
		tail := b.Bytes()[max(0, b.Len()-1024):]
		i := bytes.LastIndexByte(tail, '\n')
		if (i >= 0 || !echo) && t.prompt.MatchString(visibleLine(string(tail[i+1:]))) {
			lines := strings.SplitAfter(b.String(), "\n")
			for i, l := range lines {
				text, end := strings.CutSuffix(l, "\n")
				lines[i] = visibleLine(text) + map[bool]string{true: "\n"}[end]
			}
			return strings.Join(lines[:len(lines)-1], ""), nil
		}
		if err != nil {
			return "", err
		}
	}
}
