package gitcmd

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/sdk/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script makes a git of a few shell lines.
func script(t *testing.T, text string) *Git {
	t.Helper()
	path := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Git{Path: path}
}

func TestTheChildSeesNothingOfOurs(t *testing.T) {
	t.Setenv("GIT_DIR", "/elsewhere")
	t.Setenv("GIT_EXTERNAL_DIFF", "evil")
	t.Setenv("SECRET", "s3cret")
	out, err := script(t, "env; echo ARGS \"$@\"").Output(t.Context(), Call{Dir: "/repo", Args: []string{"log"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, unwanted := range []string{"s3cret", "evil", "/elsewhere", "HOME=" + os.Getenv("HOME")} {
		if strings.Contains(string(out), unwanted) {
			t.Errorf("the child knows %q:\n%s", unwanted, out)
		}
	}
	for _, wanted := range []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "ARGS --git-dir=/repo"} {
		if !strings.Contains(string(out), wanted) {
			t.Errorf("%q is missing:\n%s", wanted, out)
		}
	}
}

func TestSecretsTravelInTheEnvironment(t *testing.T) {
	out, err := script(t, "echo \"$@\"; echo VALUE $GIT_CONFIG_VALUE_0").Output(t.Context(), Call{Dir: "/r", Args: []string{"fetch"}, Network: true, Env: []string{"GIT_CONFIG_VALUE_0=s3cret"}})
	args, rest, _ := strings.Cut(string(out), "\n")
	if err != nil || strings.Contains(args, "s3cret") || !strings.Contains(rest, "VALUE s3cret") {
		t.Errorf("%s, %v", out, err)
	}
}

func TestExitStatusAndLastWords(t *testing.T) {
	_, err := script(t, "head -c 100000 /dev/zero | tr '\\0' x >&2; echo fatal: last words >&2; exit 7").Output(t.Context(), Call{Dir: "/r", Args: []string{"log"}})
	if code, ran := ExitCode(err); !ran || code != 7 || !strings.Contains(err.Error(), "last words") || len(err.Error()) > 2*tailSize {
		t.Errorf("%d %v, %d bytes", code, ran, len(err.Error()))
	}
}

func TestDeadline(t *testing.T) {
	_, err := script(t, "sleep 600 & sleep 600").Output(t.Context(), Call{Dir: "/r", Args: []string{"log"}, Timeout: 20 * time.Millisecond})
	if fault.KindOf(err) != fault.Timeout {
		t.Errorf("%v", err)
	}
}

func TestAnswerWithoutEnd(t *testing.T) {
	_, err := script(t, "exec cat /dev/zero").Output(t.Context(), Call{Dir: "/r", Args: []string{"log"}})
	if fault.KindOf(err) != fault.TooBig {
		t.Errorf("%v", err)
	}
}

func TestNULInAnArgument(t *testing.T) {
	if _, err := (&Git{}).Output(t.Context(), Call{Dir: "/r", Args: []string{"log", "a\x00b"}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("%v", err)
	}
}

func TestCloseEndsTheWholeGroup(t *testing.T) {
	p, err := script(t, "sleep 600 & echo begun; wait").Start(t.Context(), Call{Dir: "/r", Args: []string{"log"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(p.Stdout, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	p.Close() // returns at once only if the grandchild, which holds the pipe, has ended too
	p.Close()
	if err := p.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestReason(t *testing.T) {
	for said, want := range map[string]string{
		"": "git fetch ended with status 128",
		"warning: x\nfatal: 'a' does not appear to be a git repository\nfatal: Could not read from remote repository.\n": "'a' does not appear to be a git repository",
		"ssh: connect to host h port 22: Connection refused\nfatal: Could not read\n":                                    "ssh: connect to host h port 22: Connection refused",
		"\nerror: bad tree object\n": "bad tree object",
		"fatal:":                     "fatal:",
	} {
		if got := (&ExitError{Command: "fetch", Code: 128, Stderr: said}).Reason(); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// A git in the background gives way to one that somebody waits for.
func TestPriorityOfTheBackground(t *testing.T) {
	git := script(t, "nice")
	own, err := git.Output(t.Context(), Call{Dir: "/r", Args: []string{"log"}})
	if err != nil {
		t.Fatal(err)
	}
	niceness, err := strconv.Atoi(strings.TrimSpace(string(own))) // of these tests
	if err != nil {
		t.Fatal(err)
	}
	want := strconv.Itoa(min(niceness+10, 19))
	for range 3 { // the threads of the calls before are not used again
		low, err := git.Output(t.Context(), Call{Dir: "/r", Args: []string{"log"}, Background: true})
		if err != nil || strings.TrimSpace(string(low)) != want {
			t.Errorf("nice %q in the background, %v", low, err)
		}
		again, err := git.Output(t.Context(), Call{Dir: "/r", Args: []string{"log"}})
		if err != nil || string(again) != string(own) {
			t.Errorf("nice %q in the foreground after it, %v; it was %q", again, err, own)
		}
	}
	if _, err := (&Git{Path: "/nonexistent/git"}).Output(t.Context(), Call{Dir: "/r", Args: []string{"log"}, Background: true}); err == nil {
		t.Error("a git that does not exist was started")
	}
}
