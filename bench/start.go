package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// open starts a controller whose access control is switched off, as the documents
// say how.
func (b *bench) open(ctx context.Context) (*controller, error) {
	home := filepath.Join(b.dir, "o")
	_ = os.RemoveAll(home)
	c, err := b.start(ctx, home)
	if err != nil {
		return nil, err
	}
	c.stop()
	file := filepath.Join(home, "etc", "sec.ini")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, bytes.ReplaceAll(text, []byte("/** = authcBasic, dynamicAuthorization"), []byte("/** = anon")), 0o600); err != nil {
		return nil, err
	}
	return b.start(ctx, home)
}

// startPart installs everything this release has and starts again.
func (b *bench) startPart(ctx context.Context) error {
	home := filepath.Join(b.dir, "s")
	_ = os.RemoveAll(home)
	c, err := b.start(ctx, home)
	if err != nil {
		return err
	}
	text, err := b.ctl(ctx, c, "feature:list --format json")
	if err != nil {
		c.stop()
		return err
	}
	var features []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal([]byte(text), &features); err != nil {
		c.stop()
		return err
	}
	installed := 0
	for _, f := range features {
		if _, err := b.ctl(ctx, c, "feature:install "+f.Name); err == nil {
			installed++
		}
	}
	c.stop()
	var took []time.Duration
	var host, largest, plugins int
	for range b.rounds {
		if c, err = b.start(ctx, home); err != nil {
			return err
		}
		took = append(took, c.readyTook)
		host, largest, plugins = b.memory(ctx, c)
		c.stop()
	}
	slices.Sort(took)
	b.rows = append(b.rows,
		row{fmt.Sprintf("exec to ready with %d features, %d plugins", installed, plugins), took[len(took)/2].Round(time.Millisecond).String(), "–", "–", "≤ 1 s with 10 plugins"},
		row{"memory at rest (RSS): host; largest plugin", fmt.Sprintf("%d MiB; %d MiB", host>>10, largest>>10), "–", "–", "reported"})
	return nil
}

func (b *bench) memory(ctx context.Context, c *controller) (host, largest, plugins int) {
	host = rss(c.cmd.Process.Pid)
	text, err := b.ctl(ctx, c, "plugin:list --format json")
	if err != nil {
		return host, 0, 0
	}
	var list []struct {
		PID int `json:"pid"`
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return host, 0, 0
	}
	for _, p := range list {
		largest = max(largest, rss(p.PID))
	}
	return host, largest, len(list)
}

// switchPart runs the plugin's own comparison and keeps its words.
func (b *bench) switchPart(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, b.bin("switch")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	b.notes = append(b.notes, "## Switch plugin (`go run ./bench/switch`)\n\n```\n"+strings.TrimSpace(string(out))+"\n```")
	return nil
}

// scaleTime bounds the part that is the largest.
const scaleTime = 10 * time.Minute

// scalePart runs one round of it with thousands of switches: all well, and some of
// them sick.
func (b *bench) scalePart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, scaleTime)
	defer cancel()
	for _, args := range []string{"-switches 5000 -ports 48 -rounds 1", "-switches 5000 -ports 48 -rounds 1 -dead 1 -lossy 5 -looping 1"} {
		out, err := exec.CommandContext(ctx, b.bin("switch"), strings.Fields(args)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		b.notes = append(b.notes, "## Switch plugin at scale (`go run ./bench/switch "+args+"`)\n\n```\n"+strings.TrimSpace(string(out))+"\n```")
	}
	return nil
}

// realmPart runs the realm's own comparison and keeps its words.
func (b *bench) realmPart(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, b.bin("realm"), "-bin", filepath.Join(b.dir, "bin"), "-d", b.duration.String(), "-rounds", strconv.Itoa(b.rounds)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	b.notes = append(b.notes, "## Logins through the LDAP realm (`make build && go run ./bench/realm`)\n\n```\n"+strings.TrimSpace(string(out))+"\n```")
	return nil
}

// bierPart runs the comparison of deploying channels and keeps its words.
func (b *bench) bierPart(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, b.bin("bier")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	b.notes = append(b.notes, "## BIER (`go run ./bench/bier`)\n\n```\n"+strings.TrimSpace(string(out))+"\n```")
	return nil
}

// restconfPart runs the comparison of RESTCONF and keeps its words.
func (b *bench) restconfPart(ctx context.Context) error {
	c, err := b.start(ctx, filepath.Join(b.dir, "restconf-home"))
	if err != nil {
		return err
	}
	defer c.stop()
	out, err := exec.CommandContext(ctx, b.bin("restconf"), "-url", "http://"+c.http, "-pid", strconv.Itoa(c.cmd.Process.Pid), "-rounds", strconv.Itoa(10*b.rounds)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	b.notes = append(b.notes, "## RESTCONF (`go run ./bench -only restconf`)\n\n```\n"+strings.TrimSpace(string(out))+"\n```")
	return nil
}

// storePart runs the comparison of the datastore engines and keeps its words.
func (b *bench) storePart(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, b.bin("storebench"), "-d", b.duration.String(), "-rounds", strconv.Itoa(b.rounds), "-dir", b.dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	b.notes = append(b.notes, "## Datastore (`go run ./host/internal/datastore/storebench`)\n\nWrites are on the disk when they are acknowledged. Asked for after earlier writes: ratios of 0.95 at least, disk bounded.\n\n```\n"+strings.TrimSpace(string(out))+"\n```")
	return nil
}
