//go:build peers

package realmpeers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

// bin holds the programs, built once from this tree.
var bin string

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, "../../..", &bin, "./examples/realm-static"))
}

// program finds a server, or skips the test loudly.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin", "/usr/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh installs it as root)", name)
	return ""
}

// free returns a port of the loopback that is this test's own.
func free(t *testing.T) int {
	t.Helper()
	return reserve.Port(t, "tcp", "127.0.0.1")
}

// daemon is a server process that ends with the test.
type daemon struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// serve starts a server and waits until address accepts connections.
func serve(t *testing.T, address string, environ []string, name string, args ...string) *daemon {
	t.Helper()
	d := &daemon{cmd: exec.Command(name, args...), done: make(chan struct{})}
	d.cmd.Env = append(os.Environ(), environ...)
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	log, err := os.Create(filepath.Join(t.TempDir(), "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	d.cmd.Stdout, d.cmd.Stderr = log, log
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = d.cmd.Wait(); log.Close(); close(d.done) }()
	t.Cleanup(func() { d.kill() })
	deadline := time.After(3 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return d
		}
		select {
		case <-tick.C:
			continue
		case <-d.done:
		case <-deadline:
		}
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("%s does not serve at %s:\n%s", name, address, text)
	}
}

// kill ends the server and its children, of which some may take a moment longer.
func (d *daemon) kill() {
	select {
	case <-d.done: // its number may be another's by now
	default:
		_ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL)
		<-d.done
	}
}

// pause makes the server hang: its port takes connections, and nothing answers.
func (d *daemon) pause(t *testing.T) {
	t.Helper()
	harness.Freeze(t, d.cmd.Process.Pid)
}

func (d *daemon) resume(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// must runs a program that has to succeed.
func must(t *testing.T, environ []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(harness.Deadline(t), name, args...)
	cmd.Env = append(os.Environ(), environ...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func write(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// certificate makes a certificate for an address and its key as files.
func certificate(t *testing.T, ip string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(7), IPAddresses: []net.IP{net.ParseIP(ip)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return write(t, filepath.Join(dir, "cert.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})))
}

// logins asks for a page that any user may see, and for one that admins may.
func logins(t *testing.T, c *harness.Controller, cases []loginCase) {
	t.Helper()
	for _, k := range cases {
		get(t, c, "/restconf/modules", k.any, k)
		if k.any == 200 { // a login that was refused need not be tried again
			get(t, c, "/auth/v1/users", k.admin, k)
		}
	}
}

func get(t *testing.T, c *harness.Controller, path string, want int, k loginCase) {
	t.Helper()
	status, body, err := c.Get(path, k.user, k.password)
	if err != nil || status != want {
		t.Errorf("%s: %q gets %s: %d, want %d (%v %.200s)", k.name, k.user, path, status, want, err, body)
	}
}

// eventually asks until a user gets a status.
func eventually(t *testing.T, c *harness.Controller, user, password string, want int) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	status := 0
	for range 1200 {
		if status, _, _ = c.Get("/restconf/modules", user, password); status == want {
			return
		}
		<-tick.C
	}
	t.Errorf("%s gets %d after two minutes, want %d", user, status, want)
}

// toldWhy wants the log to say that a realm could not be asked, and a reason.
func toldWhy(t *testing.T, c *harness.Controller, reason string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C { // the log may come after the answer
		for line := range strings.SplitSeq(c.Log(), "\n") {
			if strings.Contains(line, "a realm cannot be asked") && strings.Contains(line, reason) {
				return
			}
		}
	}
	t.Errorf("the log does not contain %q", reason)
}

// whileTheyLogIn runs f in the middle of logins of a user of a realm, who may be refused
// while its server is away, and of a local one, who may not.
func whileTheyLogIn(t *testing.T, c *harness.Controller, name, secret string, f func()) {
	t.Helper()
	const workers = 8
	stop, begun := make(chan struct{}), make(chan struct{}, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			pace := time.NewTicker(10 * time.Millisecond) // or refusals at once would be thousands
			defer pace.Stop()
			for n := 0; ; n++ {
				user, password, also := name, secret, 503
				if i%2 == 0 {
					user, password, also = "user", "user", 200
				}
				if status, _, err := c.Get("/restconf/modules", user, password); err != nil || status != 200 && status != also {
					t.Errorf("%s: %d %v", user, status, err)
				}
				if n == 1 {
					begun <- struct{}{}
				}
				select {
				case <-stop:
					if n > 1 {
						return
					}
				case <-pace.C:
				}
			}
		})
	}
	for range workers {
		<-begun
	}
	f()
	close(stop)
	wg.Wait()
}

type loginCase struct {
	name, user, password string
	any, admin           int // status of a page for everybody, and of one for admins
}

// secini is a file with the realms given after the local one.
func secini(main, names string) map[string]string {
	return map[string]string{
		"sec.ini": "[main]\ntokenAuthRealm = TokenAuthRealm\n" + main + "\nsecurityManager.realms = $tokenAuthRealm, " + names +
			"\n[urls]\n/auth/v1/** = authcBasic, roles[admin]\n/** = authcBasic\n",
		"ctl.yaml": "aaa:\n  throttle:\n    after: 1000\n  argon2: {memory: 8MiB, time: 1}\n",
	}
}

// uncached makes every login a question to the realms.
func uncached(files map[string]string) map[string]string {
	files["ctl.yaml"] += "  loginCache: 0s\n"
	return files
}

// pluginPID finds the process of a plugin among the controller's children.
func pluginPID(t *testing.T, c *harness.Controller, name string) int {
	t.Helper()
	pid := pidIn(c.Ctl("plugin:info " + name))
	if pid == 0 {
		t.Fatal("plugin:info names no process")
	}
	return pid
}

// pidIn is the process that plugin:info names, 0 if it does not run.
func pidIn(info string) int {
	for line := range strings.SplitSeq(info, "\n") {
		fields := strings.Fields(line)
		if len(fields) > 1 && strings.EqualFold(fields[0], "process") {
			if pid, err := strconv.Atoi(strings.Trim(fields[1], ",")); err == nil {
				return pid
			}
		}
	}
	return 0
}

// pauseAll is pause for a server of several processes.
func (d *daemon) pauseAll(t *testing.T) {
	t.Helper()
	harness.Freeze(t, -d.cmd.Process.Pid)
}

func (d *daemon) resumeAll(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(-d.cmd.Process.Pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
