package harness

import (
	"bufio"
	"bytes"
	"context"
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

// Build builds ctld, ctl and the plugins given into dir; root is the tree.
func Build(root, dir string, plugins ...string) (output string, err error) {
	for target, packages := range map[string][]string{dir + "/": {"./host/ctld", "./host/ctl"}, dir + "/plugins/": plugins} {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return "", err
		}
		cmd := exec.Command("go", append([]string{"build", "-o", target}, packages...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return string(out), err
		}
	}
	catalogue, err := os.ReadFile(filepath.Join(root, "features.yaml"))
	if err != nil {
		return "", err
	}
	return "", os.WriteFile(filepath.Join(dir, "features.yaml"), catalogue, 0o600)
}

// Controller is a running ctld.
type Controller struct {
	HTTP string // its address, http://…
	Home string

	t       *testing.T
	bin     string
	environ []string
	cmd     *exec.Cmd
	out     bytes.Buffer
	done    chan struct{}
}

// Start runs the ctld of bin until the test ends. files are written into the home's
// etc first; environ is added to the environment. The users are admin and user, with
// these words as passwords.
func Start(t *testing.T, bin string, files map[string]string, environ ...string) *Controller {
	t.Helper()
	c := &Controller{Home: filepath.Join(reserve.Dir(t, "ctl"), "home"), t: t, bin: bin, environ: environ}
	// A home that has an etc is taken as it is, so the catalogue must be there.
	all := map[string]string{}
	for name, text := range files {
		all["etc/"+name] = text
	}
	catalogue, err := os.ReadFile(filepath.Join(bin, "features.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all["features.yaml"] = string(catalogue)
	for name, text := range all {
		file := filepath.Join(c.Home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.launch()
	t.Cleanup(c.stop)
	return c
}

// Restart ends the controller and starts it again on its home, after what is to
// happen while it is down; HTTP changes.
func (c *Controller) Restart(meanwhile ...func()) {
	c.t.Helper()
	c.stop()
	for _, f := range meanwhile {
		f()
	}
	c.launch()
}

func (c *Controller) launch() {
	c.t.Helper()
	c.done = make(chan struct{})
	c.cmd = exec.Command(filepath.Join(c.bin, "ctld"), "--home", c.Home, "--http", "127.0.0.1:0", "--ssh", "off", "--admin", "127.0.0.1:0")
	c.cmd.Env = append(append(os.Environ(), "CTL_ADMIN_PASSWORD=admin", "CTL_USER_PASSWORD=user"), c.environ...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.cmd.Stderr = &c.out
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ready := make(chan bool, 1)
	done, cmd := c.done, c.cmd
	go func() {
		defer close(done)
		for r := bufio.NewScanner(stdout); r.Scan(); {
			if strings.Contains(r.Text(), "console: ctl") {
				ready <- true
			}
		}
		close(ready)
		_ = cmd.Wait()
	}()
	select {
	case ok := <-ready:
		if !ok {
			<-c.done
			c.t.Fatalf("ctld ended: %s", c.out.String())
		}
	case <-time.After(2 * time.Minute):
		_ = c.cmd.Process.Kill()
		c.t.Fatal("ctld was not ready after two minutes")
	}
	address, err := os.ReadFile(filepath.Join(c.Home, "data", "run", "http.addr"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.HTTP = "http://" + strings.TrimSpace(string(address))
}

func (c *Controller) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(2 * time.Minute):
		_ = c.cmd.Process.Kill()
		c.t.Error("ctld did not stop within two minutes")
	}
	if c.t.Failed() {
		c.t.Logf("ctld said:\n%s\nits log:\n%s", c.out.String(), c.Log())
	}
}

// Log is what the controller wrote to its log.
func (c *Controller) Log() string {
	log, _ := os.ReadFile(filepath.Join(c.Home, "log", "ctl.log"))
	return string(log)
}

// Ctl runs a console line, which must succeed, and returns what it printed.
func (c *Controller) Ctl(line string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(c.bin, "ctl"), "--home", c.Home, line).CombinedOutput()
	if err != nil {
		c.t.Fatalf("ctl %q: %v\n%s", line, err, out)
	}
	return string(out)
}

// Get asks for a path with Basic credentials and returns the status and the body.
func (c *Controller) Get(path, user, password string) (status int, body string, err error) {
	return c.send(http.MethodGet, path, user, password, "")
}

// Call calls an RPC as admin with a JSON body and returns the status and the answer.
func (c *Controller) Call(rpc, body string) (status int, answer string, err error) {
	return c.send(http.MethodPost, "/restconf/operations/"+rpc, "admin", "admin", body)
}

func (c *Controller) send(method, path, user, password, content string) (status int, body string, err error) {
	r, err := http.NewRequest(method, c.HTTP+path, strings.NewReader(content))
	if err != nil {
		return 0, "", err
	}
	r.SetBasicAuth(user, password)
	if content != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Close = true // a controller that is started again has no connection of before
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	return answer.StatusCode, string(b), err
}
