package harness

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest/reserve"
)

// Etcd returns the address of a real etcd: that of CTL_TEST_ETCD, or one of its own, of
// one member, with the limits that a cluster of controllers needs, which runs until the
// test ends. Without the program the test is skipped.
func Etcd(t *testing.T) string {
	t.Helper()
	if there := os.Getenv("CTL_TEST_ETCD"); there != "" {
		return there
	}
	program, err := exec.LookPath("etcd")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer etcd is not installed (test/peers/install.sh installs it as root); or set CTL_TEST_ETCD to one run with --max-txn-ops=20000 --max-request-bytes=16777216")
	}
	address := func() string { return fmt.Sprint("http://127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1")) }
	client, peer, dir := address(), address(), reserve.Dir(t, "ctl-etcd")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program, "--data-dir", filepath.Join(dir, "data"), "--name", "test",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "test="+peer,
		"--max-txn-ops", "20000", "--max-request-bytes", "16777216", "--unsafe-no-fsync")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			b, _ := os.ReadFile(log.Name())
			t.Logf("etcd said:\n%s", tail(string(b), 40))
		}
	})
	once := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	Within(t, "etcd is healthy", func() bool {
		r, err := once.Get(client + "/health")
		if err != nil {
			return false
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	return client
}

// Within waits until f holds, two minutes at most.
func Within(t *testing.T, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !f(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}
