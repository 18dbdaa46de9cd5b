// Package gitcmd runs git as a child process: fixed environment, deadline, bounded
// output, and an end that comes no later than the caller's context. What the output
// means is the callers' business.
package gitcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"ctl.internal/sdk/fault"
)

// Git is the git program and the environment it is run with.
type Git struct {
	Path string // the program; empty = git, looked up in PATH
	// TLS gives more environment to children that use the network: which servers are trusted. nil = none.
	TLS func(ctx context.Context) ([]string, error)
}

// ErrMissing is what every call returns when there is no git program.
var ErrMissing = fault.New(fault.Unavailable,
	"the git program was not found: install git 2.31 or later, or put it in PATH")

// options come before the subcommand. The repository is always read as a bare
// one, so that neither a work tree's attributes nor an index change an answer;
// the folder was named by the operator, hence safe.directory.
var options = []string{
	"--bare", "--no-pager", "--literal-pathspecs",
	"-c", "safe.directory=*",
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=/dev/null",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "protocol.ext.allow=never",
	// What attributes decide comes from the repository's own info/attributes alone, which
	// history.Repo.View covers: not from the system, and not from the tree of HEAD, which
	// git 2.43 to 2.45 read in bare repositories.
	"-c", "core.attributesFile=/dev/null", "-c", "attr.tree=refs/none", "-c", "core.bigFileThreshold=512m",
	"-c", "advice.graftFileDeprecated=false",
	"-c", "fetch.unpackLimit=1", // a pack for each fetch, never thousands of files
	"-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60", // a stalled transfer ends
}

// childEnviron is all that a child sees. Nothing is inherited except PATH and, for
// the network, HOME (SSH keys) and the proxy and agent variables. Without the network no
// missing object of a partial clone is fetched either.
func childEnviron(network bool, extra []string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_ATTR_NOSYSTEM=1",
	}
	if !network {
		return append(env, "HOME=/nonexistent", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	}
	env = append(env, "GIT_ASKPASS=true", "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=20",
		"GIT_ALLOW_PROTOCOL=file:git:http:https:ssh")
	for _, name := range []string{"HOME", "SSH_AUTH_SOCK", "http_proxy", "https_proxy", "no_proxy", "HTTPS_PROXY",
		"NO_PROXY", "SSL_CERT_FILE"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, extra...)
}

// waitDelay is how long the pipes of a child may stay open after its end. The group of a
// child is killed as a whole, so only a machine that is far too busy needs so long.
const waitDelay = 30 * time.Second

func (g *Git) newCommand(ctx context.Context, c Call) (*exec.Cmd, error) {
	path, err := g.findProgram()
	if err != nil {
		return nil, err
	}
	for _, a := range c.Args {
		if strings.ContainsRune(a, 0) {
			return nil, fault.New(fault.Invalid, "an argument of git contains a NUL character")
		}
	}
	full := append([]string{"--git-dir=" + c.Dir}, options...)
	for _, setting := range c.Config {
		full = append(full, "-c", setting)
	}
	full = append(full, c.Args...)
	extra := c.Env
	if c.Network && g.TLS != nil {
		more, err := g.TLS(ctx)
		if err != nil {
			return nil, err
		}
		extra = append(more, extra...)
	}
	if c.Background {
		path, full = inBackground(path, full)
	}
	cmd := exec.CommandContext(ctx, path, full...)
	cmd.Env = childEnviron(c.Network, extra)
	cmd.Dir = os.TempDir()
	ownProcessGroup(cmd)
	cmd.WaitDelay = waitDelay
	return cmd, nil
}

func (g *Git) findProgram() (string, error) {
	path, err := exec.LookPath(cmp.Or(g.Path, "git"))
	if err != nil {
		if errors.Is(err, exec.ErrDot) {
			return "", fault.New(
				fault.Invalid,
				"git would be run from the working directory: give its full path",
			)
		}
		return "", ErrMissing
	}
	return path, nil
}

// ExitError is a git that ran and said no.
type ExitError struct {
	Command string // the subcommand
	Code    int    // exit status; -1 when it was killed
	Stderr  string // the end of what it said
}

// Error names the subcommand, the status and git's last words.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("git %s ended with status %d", e.Command, e.Code)
	if s := strings.TrimSpace(e.Stderr); s != "" {
		text += ": " + s
	}
	return text
}

// Reason is the first complaint of git, without what it says to every failure; or
// the status when git said nothing.
func (e *ExitError) Reason() string {
	for line := range strings.Lines(e.Stderr) {
		kind, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch kind {
		case "", "warning", "hint":
		case "fatal", "error":
			return text
		default:
			return strings.TrimSpace(line)
		}
	}
	return fmt.Sprintf("git %s ended with status %d", e.Command, e.Code)
}

// ExitCode returns git's exit status, or false when err is no such thing.
func ExitCode(err error) (int, bool) {
	if e := (*ExitError)(nil); errors.As(err, &e) {
		return e.Code, true
	}
	return 0, false
}

// Said reports whether err is that of a git that ran, and its last words contain a text.
func Said(err error, text string) bool {
	e := (*ExitError)(nil)
	return errors.As(err, &e) && strings.Contains(e.Stderr, text)
}

// tail keeps the last bytes written to it: what a failing git says last is
// what matters.
type tail struct{ buf []byte }

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	return strings.ToValidUTF8(string(t.buf), "?")
}
