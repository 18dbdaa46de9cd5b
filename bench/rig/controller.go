// Package rig starts the programs that benchmarks measure, runs the sides of a comparison in turn, and reads
// what they cost.
package rig

import (
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
	"time"

	"ctl.internal/test/harness"
)

// Controller is a running ctld with the users admin/admin and user/user.
type Controller struct {
	*harness.Program
	Home, HTTP string        // its directory, and its address
	Took       time.Duration // until it was ready
	bin        string
}

// Start runs the ctld in the directory bin until it is ready.
func Start(bin, home string, environ ...string) (*Controller, error) {
	began := time.Now()
	cmd := exec.Command(
		filepath.Join(bin, "ctld"),
		"--home",
		home,
		"--http",
		"127.0.0.1:0",
		"--ssh",
		"off",
		"--admin",
		"127.0.0.1:0",
	)
	cmd.Env = append(
		append(os.Environ(), environ...),
		"CTL_ADMIN_PASSWORD=admin",
		"CTL_USER_PASSWORD=user",
	)
	program, err := harness.Launch("console: ctl", cmd)
	if err != nil {
		return nil, err
	}
	c := &Controller{
		Program: program,
		Home:    home,
		Took:    time.Since(began),
		bin:     bin,
	}
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
		out, err := exec.CommandContext(
			ctx,
			filepath.Join(c.bin, "ctl"),
			"--home",
			c.Home,
			line,
		).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("ctl %q: %w: %s", line, err, out)
		}
		text = string(out)
	}
	return text, nil
}

// Profile keeps a CPU profile of the controller over d in a file; wait ends with it.
func (c *Controller) Profile(
	ctx context.Context,
	file string,
	d time.Duration,
) (wait func() error) {
	client := &http.Client{
		Timeout: d + time.Minute,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(
				ctx,
				"unix",
				filepath.Join(c.Home, "data", "run", "pprof.sock"),
			)
		}},
	}
	done := make(chan error, 1)
	go func() {
		defer client.CloseIdleConnections()
		r, err := http.NewRequestWithContext(
			ctx,
			http.MethodGet,
			fmt.Sprintf("http://x/debug/pprof/profile?seconds=%d", max(1, int(d.Seconds()))),
			nil,
		)
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
		err := errors.Join(
			os.MkdirAll(filepath.Dir(file), 0o755),
			os.WriteFile(file, []byte(text), 0o644),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// FreeAddress is one of the loopback interface that is not in use.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
