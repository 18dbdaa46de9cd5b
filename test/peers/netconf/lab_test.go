//go:build peers

package netconfpeers

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/netconf"
	"ctl.internal/sdk/plugintest/reserve"
)

// needs skips, loudly, where a program is missing.
func needs(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh installs it as root)", program)
	}
	return path
}

// run starts a server that is killed with the test, or before; its output is shown on
// failure. environ is added to the environment.
func run(t *testing.T, dir string, environ []string, argv ...string) (kill func()) {
	t.Helper()
	log, err := os.CreateTemp(dir, filepath.Base(argv[0])+"*.log")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(argv[0], argv[1:]...)
	c.Stdout, c.Stderr, c.Dir, c.Env = log, log, dir, append(os.Environ(), environ...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		log.Close()
	})
	t.Cleanup(func() {
		kill()
		if out, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s said:\n%s", argv[0], tail(string(out), 4000))
		}
	})
	return kill
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

// keys writes a host key and an authorized key, and returns the private one to log in.
func keys(t *testing.T, dir string) []byte {
	t.Helper()
	one := func(name string) ([]byte, []byte) {
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(private, "")
		if err != nil {
			t.Fatal(err)
		}
		key, err := ssh.NewPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(block), ssh.MarshalAuthorizedKey(key)
	}
	one("host")
	private, public := one("user")
	if err := os.WriteFile(filepath.Join(dir, "authorized"), public, 0o600); err != nil {
		t.Fatal(err)
	}
	return private
}

// netconfd starts one of Debian with its own sshd.
func netconfd(t *testing.T) netconf.Target {
	t.Helper()
	server, sshd, subsystem := needs(t, "netconfd"), needs(t, "sshd"), needs(t, "netconf-subsystem")
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: the peers netconfd and sshd need root")
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // compiled into sshd
		t.Fatal(err)
	}
	dir := reserve.Dir(t, "netconfd") // short, for a unix socket
	modules, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	port, private, socket := reserve.Port(t, "tcp", "127.0.0.1"), keys(t, dir), filepath.Join(dir, "ncx.sock")
	config := strings.Join([]string{
		fmt.Sprintf("ListenAddress 127.0.0.1:%d", port), "HostKey " + filepath.Join(dir, "host"), "AuthorizedKeysFile " + filepath.Join(dir, "authorized"),
		"StrictModes no", "UsePAM no", "PermitRootLogin prohibit-password", "PidFile none", "LogLevel ERROR",
		fmt.Sprintf(`Subsystem netconf "%s --ncxserver-sockname=%d@%s"`, subsystem, port, socket), ""}, "\n")
	if err := os.WriteFile(filepath.Join(dir, "sshd_config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, nil, server, "--no-startup", "--superuser=root", "--modpath="+modules+":/usr/share/yuma/modules", "--module=ietf-bier@2016-07-23",
		"--module=ietf-multicast-information@2016-10-28", "--ncxserver-sockname="+socket, fmt.Sprintf("--port=%d", port), "--target=candidate")
	run(t, dir, nil, sshd, "-D", "-e", "-f", filepath.Join(dir, "sshd_config"))
	to := netconf.Target{Host: "127.0.0.1", Port: port, User: "root", PrivateKey: private}
	ready(t, to)
	return to
}

// ready waits until a server lets a session be opened.
func ready(t *testing.T, to netconf.Target) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	var last error
	for {
		s, err := netconf.Dial(ctx, to)
		if err == nil {
			_ = s.Close(ctx)
			return
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the server does not come up: %v", last)
		case <-again.C:
		}
	}
}
