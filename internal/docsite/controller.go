package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ctl.internal/bench/rig"
)

// patience bounds all that is asked of the controller: a busy machine is waited for.
const patience = 5 * time.Minute

// controller is a ctld on a home of its own, which ends with it.
type controller struct {
	*rig.Controller
	ctx    context.Context
	cancel context.CancelFunc
	bin    string
}

func startController(bin string) (*controller, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ctl-docs")
	if err != nil {
		return nil, err
	}
	c := &controller{bin: bin}
	if c.Controller, err = rig.Start(bin, filepath.Join(dir, "h")); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c.ctx, c.cancel = context.WithTimeout(context.Background(), patience)
	return c, nil
}

func (c *controller) stop() {
	c.Stop()
	c.cancel()
	_ = os.RemoveAll(filepath.Dir(c.Home))
}

// runCtl runs a line and returns what it printed.
func (c *controller) runCtl(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(c.ctx, filepath.Join(c.bin, "ctl"), append([]string{"--home", c.Home}, args...)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("ctl %s: %w: %s", strings.Join(args, " "), err, said.String())
	}
	return out.Bytes(), nil
}

// decodeLine runs a line and decodes its JSON.
func (c *controller) decodeLine(v any, line string) error {
	out, err := c.runCtl("--format", "json", line)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, v)
}

// getPage reads an address of a listener.
func (c *controller) getPage(listener, path string) ([]byte, error) {
	address, err := os.ReadFile(filepath.Join(c.Home, "data", "run", listener+".addr"))
	if err != nil {
		return nil, err
	}
	text, _, err := rig.Ask(
		c.ctx,
		http.DefaultClient,
		http.MethodGet,
		"http://"+strings.TrimSpace(string(address))+path,
		"",
		"",
	)
	return text, err
}
