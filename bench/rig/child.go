// Package rig starts the programs that benchmarks measure, runs the sides of a comparison in turn, and reads
// what they cost.
package rig

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Child is a program that runs until Stop.
type Child struct {
	PID  int
	Line string // of its standard output, by which it was ready

	cmd  *exec.Cmd
	done chan struct{}
}

// Launch starts a program and waits, a minute at most, until a line of its standard output holds ready.
func Launch(ready string, environ []string, program string, args ...string) (*Child, error) {
	c := &Child{cmd: exec.Command(program, args...), done: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), environ...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var bad bytes.Buffer
	c.cmd.Stderr = &bad
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.PID = c.cmd.Process.Pid
	said := make(chan string, 1)
	go func() {
		defer close(c.done)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 16<<20)
		for s.Scan() && !strings.Contains(s.Text(), ready) {
		}
		if s.Err() == nil && strings.Contains(s.Text(), ready) {
			said <- s.Text()
		}
		close(said)
		_, _ = io.Copy(io.Discard, out)
		_ = c.cmd.Wait()
	}()
	select {
	case line, ok := <-said:
		if !ok {
			<-c.done
			return nil, fmt.Errorf("%s ended: %s", program, bad.String())
		}
		c.Line = line
	case <-time.After(time.Minute):
		c.Stop()
		return nil, fmt.Errorf("%s was not ready after a minute", program)
	}
	return c, nil
}

// Stop ends the program: by SIGTERM, after half a minute by SIGKILL.
func (c *Child) Stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(30 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// Controller is a running ctld with the users admin/admin and user/user.
type Controller struct {
	*Child
	Home, HTTP string        // its directory, and its address
	Took       time.Duration // until it was ready
	bin        string
}

// Start runs the ctld in the directory bin until it is ready.
func Start(bin, home string, environ ...string) (*Controller, error) {
	began := time.Now()
	child, err := Launch("console: ctl", append(environ, "CTL_ADMIN_PASSWORD=admin", "CTL_USER_PASSWORD=user"),
		filepath.Join(bin, "ctld"), "--home", home, "--http", "127.0.0.1:0", "--ssh", "off", "--admin", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Controller{Child: child, Home: home, Took: time.Since(began), bin: bin}
	address, err := os.ReadFile(filepath.Join(home, "data", "run", "http.addr"))
	if err != nil {
		c.Stop()
		return nil, err
	}
	c.HTTP = strings.TrimSpace(string(address))
	return c, nil
}

// Ctl runs lines at the console and returns what the last one printed.
func (c *Controller) Ctl(ctx context.Context, lines ...string) (text string, err error) {
	for _, line := range lines {
		out, err := exec.CommandContext(ctx, filepath.Join(c.bin, "ctl"), "--home", c.Home, line).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("ctl %q: %w: %s", line, err, out)
		}
		text = string(out)
	}
	return text, nil
}

// Profile keeps a CPU profile of the controller over d in a file; wait ends with it.
func (c *Controller) Profile(ctx context.Context, file string, d time.Duration) (wait func() error) {
	client := &http.Client{Timeout: d + time.Minute, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(c.Home, "data", "run", "pprof.sock"))
	}}}
	done := make(chan error, 1)
	go func() {
		defer client.CloseIdleConnections()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://x/debug/pprof/profile?seconds=%d", max(1, int(d.Seconds()))), nil)
		if err != nil {
			done <- err
			return
		}
		res, err := client.Do(r)
		if err != nil {
			done <- err
			return
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		done <- errors.Join(err, os.WriteFile(file, text, 0o600))
	}()
	return func() error { return <-done }
}

// Write writes the files of a new directory, by their names below it.
func Write(dir string, files map[string]string) error {
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// FreeAddress is an address at the loopback interface where no program listens.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// Serves waits, a minute at most, until a server listens at an address.
func Serves(address string) error {
	for deadline := time.Now().Add(time.Minute); ; {
		c, err := net.Dial("tcp", address)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}
