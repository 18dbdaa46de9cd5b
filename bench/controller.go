package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// controller is a running ctld with admin/admin.
type controller struct {
	cmd       *exec.Cmd
	home      string
	http      string
	readyTook time.Duration
}

// start runs ctld on a home and waits for /readyz.
func (b *bench) start(ctx context.Context, home string) (*controller, error) {
	cmd := exec.CommandContext(ctx, b.bin("ctld"), "--home", home, "--http", "127.0.0.1:0", "--ssh", "off", "--admin", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "CTL_ADMIN_PASSWORD=admin", "CTL_USER_PASSWORD=user")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &controller{cmd: cmd, home: home}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "console: ctl") {
	}
	c.readyTook = time.Since(began)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	addr, err := os.ReadFile(filepath.Join(home, "data", "run", "http.addr"))
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("ctld did not start: %w", err)
	}
	c.http = strings.TrimSpace(string(addr))
	return c, nil
}

func (c *controller) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	_ = c.cmd.Wait()
}

// ctl runs a console line.
func (b *bench) ctl(ctx context.Context, c *controller, line string) (string, error) {
	out, err := exec.CommandContext(ctx, b.bin("ctl"), "--home", c.home, line).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ctl %q: %w: %s", line, err, out)
	}
	return string(out), nil
}

// rss is the resident memory of a process in KiB.
func rss(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for _, l := range strings.Split(string(text), "\n") {
		if v, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(v), " kB"))
			return n
		}
	}
	return 0
}

// withEcho starts a controller with the plugin that does nothing installed.
func (b *bench) withEcho(ctx context.Context) (*controller, error) {
	home := filepath.Join(b.dir, "h")
	_ = os.RemoveAll(home)
	c, err := b.start(ctx, home)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(b.dir, "echo", "echo"))
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "plugins", "bench-echo"), text, 0o755)
	}
	repo := filepath.Join(home, "bench.yaml")
	if err == nil {
		err = os.WriteFile(repo, []byte("name: bench\nfeatures:\n- name: bench-echo\n  version: 1.0.0\n  description: a call that does nothing\n"+
			"  depends: [ctl-restconf]\n  plugins: [{name: bench-echo}]\n  facets: [{facet: rest, plugin: bench-echo}]\n"), 0o600)
	}
	for _, line := range []string{"feature:repo-add --unsigned " + repo, "feature:install bench-echo"} {
		if err == nil {
			_, err = b.ctl(ctx, c, line)
		}
	}
	if err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// baseline starts the bare peer.
func (b *bench) baseline(ctx context.Context) (addr string, pid int, stop func(), err error) {
	cmd := exec.CommandContext(ctx, b.bin("baseline"), filepath.Join(b.dir, "echo", "echo"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", 0, nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", 0, nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	stop = func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() }
	if err != nil {
		stop()
		return "", 0, nil, fmt.Errorf("the bare peer did not start: %w", err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid, stop, nil
}
