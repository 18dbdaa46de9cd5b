//go:build peers

package certpeers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/sdk/lab/reserve"
)

const root = "../../.."

var bin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, done, err := reserve.OpenDir("ctl-cert")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer done()
	bin = dir
	build := exec.Command("go", "build", "-o", dir+"/", "./host/ctld", "./host/ctl")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// need skips the test, loudly, when a peer cannot be had here.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh installs it as root)", tool)
		}
	}
}

// sh runs a tool and returns what it said.
func sh(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C") // keytool speaks the user's language
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// controller is a running ctld.
type controller struct {
	t           *testing.T
	home        string
	http, https string
	cmd         *exec.Cmd
	done        chan struct{}
}

// newHome is a home whose certificate settings have elements replaced.
func newHome(t *testing.T, elements map[string]string) string {
	t.Helper()
	home := filepath.Join(reserve.Dir(t, "ctl"), "h")
	const name = "etc/ctl/datastore/initial/config/aaa-cert-config.xml"
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	elements["use-config"] = "true"
	for e, value := range elements {
		text = regexp.MustCompile("<"+e+">[^<]*</"+e+">").ReplaceAll(text, []byte("<"+e+">"+value+"</"+e+">"))
	}
	if p := elements["tls-protocols"]; p != "" {
		text = bytes.Replace(text, []byte("<cipher-suites>"), []byte("<tls-protocols>"+p+"</tls-protocols><cipher-suites>"), 1)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func daemon(home string, environ []string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, "ctld"), "--home", home, "--http", "127.0.0.1:0", "--https", "127.0.0.1:0", "--ssh", "off", "--admin", "off")
	cmd.Env = append(append(os.Environ(), "CTL_ADMIN_PASSWORD=admin-secret", "CTL_USER_PASSWORD=user-secret"), environ...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// refuses runs ctld, which must not start, and returns what it said.
func refuses(t *testing.T, home string, environ ...string) string {
	t.Helper()
	out, err := daemon(home, environ).CombinedOutput()
	if err == nil {
		t.Fatal("it started")
	}
	return string(out)
}

// within waits until f holds.
func within(t *testing.T, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); !f(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// start runs ctld on a home until the test ends, or stop.
func start(t *testing.T, home string, environ ...string) *controller {
	t.Helper()
	c := &controller{t: t, home: home, done: make(chan struct{}), cmd: daemon(home, environ)}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Stderr = os.Stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan bool, 1)
	go func() {
		defer close(c.done)
		for r := bufio.NewScanner(stdout); r.Scan(); {
			if strings.Contains(r.Text(), "console: ctl") {
				ready <- true
			}
		}
		close(ready)
		_ = c.cmd.Wait()
	}()
	t.Cleanup(c.stop)
	select {
	case ok := <-ready:
		if !ok {
			t.Fatal("ctld ended")
		}
	case <-time.After(time.Minute):
		t.Fatal("ctld is not ready after a minute")
	}
	c.http, c.https = c.address("http"), c.address("https")
	c.shell("feature:install", "ctl-aaa-cert")
	return c
}

func (c *controller) address(listener string) string {
	b, err := os.ReadFile(filepath.Join(c.home, "data/run", listener+".addr"))
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func (c *controller) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	<-c.done
}

func (c *controller) shell(args ...string) string {
	c.t.Helper()
	return sh(c.t, filepath.Join(bin, "ctl"), append([]string{"--home", c.home}, args...)...)
}

func (c *controller) ssl(name string) string { return filepath.Join(c.home, "configuration/ssl", name) }

// password of the nth keystore of the settings.
func (c *controller) password(n int) string {
	text, err := os.ReadFile(filepath.Join(c.home, "etc/ctl/datastore/initial/config/aaa-cert-config.xml"))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(regexp.MustCompile("<store-password>([^<]+)<").FindAllSubmatch(text, -1)[n][1])
}

// call calls an RPC and returns the status and the first string of its output.
func (c *controller) call(rpc string, input map[string]string) (int, string) {
	c.t.Helper()
	status, out, err := c.post(rpc, input)
	if err != nil {
		c.t.Fatal(err)
	}
	return status, out
}

// try is call for a controller that may end meanwhile.
func (c *controller) try(rpc string, input map[string]string) (int, error) {
	status, _, err := c.post(rpc, input)
	return status, err
}

func (c *controller) post(rpc string, input map[string]string) (int, string, error) {
	body, err := json.Marshal(map[string]any{"input": input})
	if err != nil {
		return 0, "", err
	}
	r, err := http.NewRequest("POST", "http://"+c.http+"/operations/aaa-cert-rpc:"+rpc, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth("admin", "admin-secret")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	var out struct {
		Output map[string]string `json:"output"`
	}
	_ = json.NewDecoder(res.Body).Decode(&out) // an answer without content has none
	for _, v := range out.Output {
		return res.StatusCode, v, nil
	}
	return res.StatusCode, "", nil
}
