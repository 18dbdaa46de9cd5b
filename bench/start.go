package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ctl.internal/bench/rig"
)

// startPart installs everything this release has and starts again.
func (b *bench) startPart(ctx context.Context) error {
	_ = os.RemoveAll(filepath.Join(b.dir, "s"))
	c, err := b.startController("s")
	if err != nil {
		return err
	}
	var features []struct {
		Name string `json:"name"`
	}
	if err := decodeConsoleList(ctx, c, "feature:list", &features); err != nil {
		c.Stop()
		return err
	}
	installed := 0
	for _, f := range features {
		if _, err := c.Ctl(ctx, "feature:install "+f.Name); err == nil {
			installed++
		}
	}
	c.Stop()
	var took []time.Duration
	var host, largest, realm int
	var plugins []struct {
		Name string `json:"name"`
		PID  int    `json:"pid"`
	}
	for range b.rounds {
		if c, err = b.startController("s"); err != nil {
			return err
		}
		took = append(took, c.Took)
		host, largest, plugins = rig.Memory(c.PID, "VmRSS"), 0, nil
		_ = decodeConsoleList(ctx, c, "plugin:list", &plugins) // without it the table shows none
		for _, p := range plugins {
			largest = max(largest, rig.Memory(p.PID, "VmRSS"))
			if strings.HasPrefix(p.Name, "realm-") {
				realm = max(realm, rig.Memory(p.PID, "VmRSS"))
			}
		}
		c.Stop()
	}
	b.rows = append(b.rows,
		row{fmt.Sprintf(
			"exec to ready with %d features, %d plugins",
			installed,
			len(plugins),
		), rig.At(took, 50).Round(time.Millisecond).String(), "–", "–", "≤ 1 s with 10 plugins"},
		row{"memory at rest (RSS): host; largest plugin", fmt.Sprintf("%d MiB; %d MiB", host>>10, largest>>10), "–", "–", "reported"},
		row{"memory at rest (RSS): largest realm plugin", fmt.Sprintf("%.1f MiB", float64(realm)/1024), "–", "–", "≤ 18 MiB"})
	return nil
}

// decodeConsoleList reads what a console command lists.
func decodeConsoleList(ctx context.Context, c *rig.Controller, command string, into any) error {
	text, err := c.Ctl(ctx, command+" --format json")
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}

// partTime bounds each of the programs.
const partTime = 30 * time.Minute

// newProgramPart runs a program that makes a comparison of its own, and keeps what it prints below a title.
func newProgramPart(
	title, program string,
	args func(b *bench) []string,
) func(*bench, context.Context) error {
	return func(b *bench, ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, partTime)
		defer cancel()
		out, err := exec.CommandContext(ctx, b.binPath(program), args(b)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		b.notes = append(b.notes, "## "+title+"\n\n```\n"+strings.TrimSpace(string(out))+"\n```")
		return nil
	}
}

func fixedArgs(args ...string) func(*bench) []string {
	return func(*bench) []string { return args }
}

// timedArgs are the flags of programs that measure for as long as this one.
func timedArgs(flag, dir string) func(b *bench) []string {
	return func(b *bench) []string {
		return []string{flag, filepath.Join(b.dir, dir), "-d", b.duration.String(), "-rounds", strconv.Itoa(b.rounds)}
	}
}

// scalePart is discovery with thousands of switches: all well, and some of them sick.
func (b *bench) scalePart(ctx context.Context) error {
	for _, args := range []string{"-switches 5000 -ports 48 -rounds 1", "-switches 5000 -ports 48 -rounds 1 -dead 1 -lossy 5 -looping 1"} {
		err := newProgramPart(
			"Switch plugin at scale (`go run ./bench/switch "+args+"`)",
			"switch",
			fixedArgs(strings.Fields(args)...),
		)(b, ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// restconfPart measures RESTCONF of a controller.
func (b *bench) restconfPart(ctx context.Context) error {
	c, err := b.startController("restconf-home")
	if err != nil {
		return err
	}
	defer c.Stop()
	return newProgramPart("RESTCONF (`go run ./bench -only restconf`)", "restconf",
		fixedArgs(
			"-url",
			"http://"+c.HTTP,
			"-pid",
			strconv.Itoa(c.PID),
			"-rounds",
			strconv.Itoa(10*b.rounds),
		))(b, ctx)
}
