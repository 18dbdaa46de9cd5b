package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/sdk/lab/reserve"
)

// bin holds the programs, built once from this tree.
var bin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, done, err := reserve.OpenDir("ctl-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer done()
	bin = dir
	for target, packages := range map[string][]string{
		dir + "/":         {"./host/ctld", "./host/ctl", "./host/idmtool", "./sdk/lab/ctl-lab"},
		dir + "/plugins/": {"./plugins/...", "./sdk/plugintest/faulty", "./bench/echo", "./examples/login-listener"},
	} {
		if err := os.MkdirAll(target, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		cmd := exec.Command("go", append([]string{"build", "-o", target}, packages...)...)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %v: %v\n%s", packages, err, out)
			return 1
		}
	}
	return m.Run()
}

// controller is a running ctld.
type controller struct {
	t    *testing.T
	home string
	cmd  *exec.Cmd
	out  *bytes.Buffer
	http string
	done chan struct{}
	args []string
	env  []string // besides that of the test; the later one counts
}

// homeDir is a home with a short path, for the unix sockets in it.
func homeDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(reserve.Dir(t, "ctl"), "home")
}

// start runs ctld on a home until the test ends.
func start(t *testing.T, home string, args ...string) *controller {
	t.Helper()
	return startIn(t, home, nil, args...)
}

// startIn is start with something in the environment.
func startIn(t *testing.T, home string, env []string, args ...string) *controller {
	t.Helper()
	c := &controller{t: t, home: home, args: args, env: env}
	c.launch()
	t.Cleanup(func() {
		if c.cmd.ProcessState == nil {
			c.stop()
		}
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(home, "log", "ctl.log"))
			t.Logf("ctld said:\n%s\nits log:\n%s", c.out, tail(string(log), 60))
		}
	})
	return c
}

func (c *controller) launch() {
	c.t.Helper()
	c.cmd = exec.Command(filepath.Join(bin, "ctld"), append([]string{"--home", c.home, "--http", "127.0.0.1:0", "--ssh", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, c.args...)...)
	c.cmd.Env = append(os.Environ(), "CTL_ADMIN_PASSWORD=admin", "CTL_USER_PASSWORD=user")
	c.cmd.Env = append(c.cmd.Env, c.env...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it ends with a test that is killed
	c.out = &bytes.Buffer{}
	c.cmd.Stderr = c.out
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ready := make(chan bool, 1)
	c.done = make(chan struct{})
	go func() {
		defer close(c.done)
		r := bufio.NewScanner(stdout)
		for r.Scan() {
			if strings.Contains(r.Text(), "console: ctl") {
				ready <- true
			}
		}
		close(ready)
		_ = c.cmd.Wait()
	}()
	select {
	case ok := <-ready:
		if !ok {
			<-c.done
			c.t.Fatalf("ctld ended: %s", c.out)
		}
	case <-time.After(2 * time.Minute):
		_ = c.cmd.Process.Kill()
		c.t.Fatal("ctld was not ready after two minutes")
	}
	addr, err := os.ReadFile(filepath.Join(c.home, "data", "run", "http.addr"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.http = "http://" + strings.TrimSpace(string(addr))
}

// stop ends ctld in order and returns its exit code.
func (c *controller) stop() int {
	c.t.Helper()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(2 * time.Minute):
		_ = c.cmd.Process.Kill()
		c.t.Error("ctld did not stop within two minutes")
	}
	return c.cmd.ProcessState.ExitCode()
}

// restart stops and starts again on the same home.
func (c *controller) restart() {
	c.t.Helper()
	if code := c.stop(); code != 0 {
		c.t.Fatalf("ctld stopped with exit code %d: %s", code, c.out)
	}
	c.launch()
}

// ctl runs a console line and returns what it printed; it must succeed.
func (c *controller) ctl(line string) string {
	c.t.Helper()
	out, err := c.tryCtl(line)
	if err != nil {
		c.t.Fatalf("ctl %q: %v\n%s", line, err, out)
	}
	return out
}

func (c *controller) tryCtl(line string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(bin, "ctl"), "--home", c.home, line).CombinedOutput()
	return string(out), err
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("not JSON: %q", a.body)
	}
	return v
}

// do makes a request; auth is "user:password", "Bearer TOKEN" or empty.
func (c *controller) do(method, path, auth, body string) answer {
	c.t.Helper()
	req, err := http.NewRequest(method, c.http+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if user, password, ok := strings.Cut(auth, ":"); ok {
		req.SetBasicAuth(user, password)
	} else if auth != "" {
		req.Header.Set("Authorization", auth)
	}
	return c.send(req)
}

func (c *controller) send(req *http.Request) answer {
	c.t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(b)}
}

func tail(s string, lines int) string {
	all := strings.Split(s, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// ctld runs the daemon for a start that must fail.
func ctld(t *testing.T, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "ctld"), args...)
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}
