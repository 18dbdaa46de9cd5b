package harness

import (
	"bufio"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Says starts a program, which runs until the test ends, and returns the first line of its output that holds a text.
func Says(t *testing.T, cmd *exec.Cmd, text string) string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), text) {
			return lines.Text()
		}
		said.WriteString(lines.Text() + "\n")
	}
	t.Fatalf("%s ended before it said %q; it said\n%s", filepath.Base(cmd.Path), text, said.String())
	return ""
}

// Lab starts simulated switches, whose list is written to a file; args are further ones of ctl-lab.
func Lab(t *testing.T, bin, topology, list string, args ...string) {
	t.Helper()
	Says(t, exec.CommandContext(t.Context(), filepath.Join(bin, "ctl-lab"), append([]string{"--topology", topology, "--csv", list}, args...)...), "ready")
}

// Deadline is the time that a test gives a program it runs to its end, also one that it runs when it ends.
func Deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
