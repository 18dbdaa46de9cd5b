package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// lab is the ring of switches.
type lab struct {
	script, dir, controller string
	switches                int
}

func (l *lab) runScript(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, l.script, args...)
	c.Env = append(
		os.Environ(),
		"LAB_DIR="+l.dir,
		"LAB_CONTROLLER="+l.controller,
		fmt.Sprint("LAB_SWITCHES=", l.switches),
	)
	c.WaitDelay = time.Second // the daemons of the lab outlive the script
	out, err := c.CombinedOutput()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("%s %v: %w\n%s", l.script, args, err, out)
	}
	return nil
}

// setPortState sets port 1 of a switch up or down.
func (l *lab) setPortState(ctx context.Context, i int, state string) error {
	out, err := exec.CommandContext(ctx, "ovs-appctl", "-t", filepath.Join(l.dir, "vswitchd.ctl"),
		"netdev-dummy/set-admin-state", fmt.Sprintf("s%d-1", i), state).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ovs-appctl: %w\n%s", err, out)
	}
	return nil
}
