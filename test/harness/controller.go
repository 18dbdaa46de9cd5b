// Package harness runs real controllers for tests: it builds the programs, starts
// ctld on a home of its own, and asks it by HTTP and by ctl. A peer that several
// packages of tests need, such as etcd, is started here, too.
package harness

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest/reserve"
)

// patience is how long a program on a busy machine is waited for.
const patience = 2 * time.Minute

// Options say how a controller runs.
type Options struct {
	Bin     string            // where Build put the programs
	Home    string            // made by ctld if it is not there; "" = a new one
	Files   map[string]string // written into etc of the home before the first start
	Args    []string          // of ctld; of a flag that is given twice the later one counts
	Environ []string          // besides that of the test; the later one counts
	Before  []string          // program with arguments that runs ctld, such as unshare
	// whose id ctld and ctl run with, when the test is root; 0 = as the test. Bin must be open to it
	User int
}

// Controller is a running ctld.
type Controller struct {
	HTTP string // its address, http://…
	Home string
	Args []string // of the next launch, besides those that every one has

	t       *testing.T
	o       Options
	program *Program
}

// NewHome names a home that is not there yet; it goes with the test. The path is
// short, for the unix sockets in it.
func NewHome(t *testing.T) string {
	t.Helper()
	return filepath.Join(reserve.Dir(t, "ctl"), "home")
}

// Start is Run with a new home that holds files in its etc.
func Start(t *testing.T, bin string, files map[string]string, environ ...string) *Controller {
	t.Helper()
	return Run(t, Options{
		Bin:     bin,
		Files:   files,
		Environ: environ,
	})
}

// Run runs ctld until the test ends. The users are admin and user, with these words
// as passwords.
func Run(t *testing.T, o Options) *Controller {
	t.Helper()
	c := &Controller{Home: o.Home, Args: o.Args, t: t, o: o}
	if c.Home == "" {
		c.Home = NewHome(t)
		c.writeHome()
	} else if len(o.Files) > 0 {
		c.writeHome()
	}
	if o.User != 0 {
		err := filepath.WalkDir(filepath.Dir(c.Home), func(path string, _ fs.DirEntry, _ error) error {
			return os.Lchown(path, o.User, o.User)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	c.Launch()
	t.Cleanup(func() {
		select {
		case <-c.program.done:
		default:
			c.Stop()
		}
		if t.Failed() {
			t.Logf("ctld said:\n%s\nits log:\n%s", &c.program.errors, lastLines(c.Log(), 200))
		}
	})
	return c
}

// RunNode is Run for a node of a cluster. It adds the key of secrets to o.Files, which the
// nodes after it are started with: they share it.
func RunNode(t *testing.T, o Options) *Controller {
	t.Helper()
	c := Run(t, o)
	const encryption = "ctl/datastore/initial/config/aaa-encrypt-service-config.xml"
	key, err := os.ReadFile(filepath.Join(c.Home, "etc", encryption))
	if err != nil {
		t.Fatal(err)
	}
	o.Files[encryption] = string(key)
	return c
}

// writeHome makes the home. One that has an etc is taken as it is, so the catalogue
// must be in it.
func (c *Controller) writeHome() {
	c.t.Helper()
	catalogue, err := os.ReadFile(filepath.Join(c.o.Bin, "features.yaml"))
	if err != nil {
		c.t.Fatal(err)
	}
	all := map[string]string{"features.yaml": string(catalogue)}
	for name, text := range c.o.Files {
		all["etc/"+name] = text
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		file := filepath.Join(c.Home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(all[name]), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

func newControllerCommand(o Options, home string, args []string) *exec.Cmd {
	words := slices.Concat(
		o.Before,
		[]string{filepath.Join(o.Bin, "ctld"), "--home", home, "--http", "127.0.0.1:0", "--ssh", "127.0.0.1:0", "--admin", "127.0.0.1:0"},
		args,
	)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(append(
		os.Environ(),
		"CTL_ADMIN_PASSWORD=admin",
		"CTL_USER_PASSWORD=user",
	), o.Environ...)
	cmd.SysProcAttr = o.processAttributes()
	return cmd
}

// processAttributes make a program end with the test, as the user of the options.
func (o Options) processAttributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if o.User != 0 {
		a.Credential = &syscall.Credential{
			Uid: uint32(o.User),
			Gid: uint32(o.User),
		}
	}
	return a
}

// Refused runs a ctld that must not start, and returns what it said and its exit code.
func Refused(t *testing.T, o Options) (said string, code int) {
	t.Helper()
	cmd := newControllerCommand(o, o.Home, o.Args)
	stop := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	out, err := cmd.CombinedOutput()
	stop.Stop()
	if err == nil || cmd.ProcessState == nil {
		t.Fatalf("ctld did not fail: %v\n%s", err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// Launch starts a controller that was stopped or killed again; HTTP changes.
func (c *Controller) Launch() {
	c.t.Helper()
	program, err := Launch("console: ctl", newControllerCommand(c.o, c.Home, c.Args))
	if err != nil {
		c.t.Fatal(err)
	}
	c.program = program
	c.HTTP = "http://" + c.Address("http")
}

// Address is that of a listener: http, https, ssh, admin.
func (c *Controller) Address(listener string) string {
	c.t.Helper()
	address, err := os.ReadFile(filepath.Join(c.Home, "data", "run", listener+".addr"))
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(string(address))
}

// PID is the process id of ctld, or of the program before it.
func (c *Controller) PID() int { return c.program.PID }

// Kill is kill -9.
func (c *Controller) Kill() {
	_ = c.program.cmd.Process.Kill()
	<-c.program.done
}

// Stop ends ctld in order and returns its exit code.
func (c *Controller) Stop() int {
	c.t.Helper()
	_ = c.program.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.program.done:
	case <-time.After(patience):
		c.Kill()
		c.t.Error("ctld did not stop within two minutes")
	}
	return c.program.cmd.ProcessState.ExitCode()
}

// Restart ends the controller in order and starts it again on its home, after what
// is to happen while it is down; HTTP changes.
func (c *Controller) Restart(meanwhile ...func()) {
	c.t.Helper()
	if code := c.Stop(); code != 0 {
		c.t.Fatalf("ctld stopped with exit code %d: %s", code, &c.program.errors)
	}
	for _, f := range meanwhile {
		f()
	}
	c.Launch()
}

// Said is what ctld wrote to its standard error since it was launched; it must have ended.
func (c *Controller) Said() string {
	<-c.program.done
	return c.program.errors.String()
}

// Log is what the controller wrote to its log.
func (c *Controller) Log() string {
	log, _ := os.ReadFile(filepath.Join(c.Home, "log", "ctl.log"))
	return string(log)
}

// Ctl runs a console line, which must succeed, and returns what it printed.
func (c *Controller) Ctl(line string) string {
	c.t.Helper()
	out, err := c.TryCtl(line)
	if err != nil {
		c.t.Fatalf("ctl %q: %v\n%s", line, err, out)
	}
	return out
}

// TryCtl is Ctl for a line that may fail.
func (c *Controller) TryCtl(line string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(c.o.Bin, "ctl"), "--home", c.Home, line)
	if c.o.User != 0 {
		cmd.Env, cmd.SysProcAttr = append(os.Environ(), c.o.Environ...), c.o.processAttributes()
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func lastLines(s string, lines int) string {
	all := strings.Split(s, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
