package harness

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Program is one that runs until Stop.
type Program struct {
	PID  int
	Line string // of its standard output, by which it was ready
	Said string // all of that until then

	cmd    *exec.Cmd
	errors bytes.Buffer // its standard error; it grows until done
	done   chan struct{}
}

// startProgram starts a program that is killed when this one ends.
func startProgram(cmd *exec.Cmd) (*Program, error) {
	p := &Program{cmd: cmd, done: make(chan struct{})}
	cmd.Stderr = &p.errors
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
	err := cmd.Start()
	if err == nil {
		p.PID = cmd.Process.Pid
	}
	return p, err
}

// Launch starts a program and waits, five minutes at most, until a line of its standard output holds ready.
func Launch(ready string, cmd *exec.Cmd) (*Program, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p, err := startProgram(cmd)
	if err != nil {
		return nil, err
	}
	begun := make(chan bool, 1)
	go func() {
		defer close(p.done)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 16<<20)
		var said strings.Builder
		for s.Scan() {
			said.WriteString(s.Text() + "\n")
			if strings.Contains(s.Text(), ready) {
				p.Line, p.Said = s.Text(), said.String()
				begun <- true
				break
			}
		}
		close(begun)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}()
	select {
	case ok := <-begun:
		if !ok {
			<-p.done
			return nil, fmt.Errorf("%s ended: %s", cmd.Path, p.errors.String())
		}
	case <-time.After(5 * time.Minute):
		p.Stop()
		return nil, fmt.Errorf("%s was not ready after five minutes", cmd.Path)
	}
	return p, nil
}

// Serve starts a program that says nothing when it is ready, and waits, a minute at most, until it listens at an
// address.
func Serve(address string, cmd *exec.Cmd) (*Program, error) {
	p, err := startProgram(cmd)
	if err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
	for deadline := time.Now().Add(time.Minute); ; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return p, conn.Close()
		}
		select {
		case <-p.done:
			return nil, fmt.Errorf("%s ended before it served: %s", cmd.Path, p.errors.String())
		default:
		}
		if time.Now().After(deadline) {
			p.Stop()
			return nil, fmt.Errorf("%s does not serve: %w", cmd.Path, err)
		}
	}
}

// Stop ends the program: by SIGTERM, after half a minute by SIGKILL.
func (p *Program) Stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

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
	t.Fatalf(
		"%s ended before it said %q; it said\n%s",
		filepath.Base(cmd.Path),
		text,
		said.String(),
	)
	return ""
}

// Lab starts simulated switches, whose list is written to a file; args are further ones of ctl-lab.
func Lab(t *testing.T, bin, topology, list string, args ...string) {
	t.Helper()
	Says(
		t,
		exec.CommandContext(t.Context(), filepath.Join(bin, "ctl-lab"), append([]string{"--topology", topology, "--csv", list}, args...)...),
		"ready",
	)
}

// Deadline is the time that a test gives a program it runs to its end, also one that it runs when it ends.
func Deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
