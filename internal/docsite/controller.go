package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// patience bounds all that is asked of the controller: a busy machine is waited for.
const patience = 5 * time.Minute

// controller is a ctld on a home of its own, which ends with it.
type controller struct {
	ctx       context.Context
	bin, home string
	processes []*exec.Cmd
	cancel    context.CancelFunc
}

func startController(bin string) (*controller, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "ctl-docs")
	if err != nil {
		return nil, err
	}
	c := &controller{bin: bin, home: filepath.Join(home, "h")}
	c.ctx, c.cancel = context.WithTimeout(context.Background(), patience)
	err = c.start("console: ctl", "ctld", "--home", c.home, "--http", "127.0.0.1:0", "--ssh", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// start starts a program and waits until it says that it is ready.
func (c *controller) start(ready, program string, args ...string) error {
	cmd := exec.Command(filepath.Join(c.bin, program), args...)
	cmd.Env = append(os.Environ(), "CTL_ADMIN_PASSWORD=admin", "CTL_USER_PASSWORD=user")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.processes = append(c.processes, cmd)
	stop := context.AfterFunc(c.ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), ready) {
			go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the program
			return nil
		}
	}
	return fmt.Errorf("%s did not start: %s", program, said.String())
}

func (c *controller) stop() {
	for i := len(c.processes) - 1; i >= 0; i-- {
		p := c.processes[i]
		_ = p.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(time.Minute, func() { _ = p.Process.Kill() })
		_ = p.Wait()
		kill.Stop()
	}
	c.cancel()
	_ = os.RemoveAll(filepath.Dir(c.home))
}

// ctl runs a line and returns what it printed.
func (c *controller) ctl(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(c.ctx, filepath.Join(c.bin, "ctl"), append([]string{"--home", c.home}, args...)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("ctl %s: %w: %s", strings.Join(args, " "), err, said.String())
	}
	return out.Bytes(), nil
}

// data runs a line and decodes its JSON.
func (c *controller) data(v any, line string) error {
	out, err := c.ctl("--format", "json", line)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, v)
}

// get reads an address of a listener.
func (c *controller) get(listener, path string) ([]byte, error) {
	address, err := os.ReadFile(filepath.Join(c.home, "data", "run", listener+".addr"))
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(c.ctx, http.MethodGet, "http://"+strings.TrimSpace(string(address))+path, nil)
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth("admin", "admin")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return b, err
}
