package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest/reserve"
)

// EtcdMember is one etcd of a cluster of the test's own.
type EtcdMember struct {
	Client string // its address
	cmd    *exec.Cmd
}

// Signal sends a signal: SIGSTOP, SIGCONT, SIGKILL.
func (m *EtcdMember) Signal(s syscall.Signal) { _ = m.cmd.Process.Signal(s) }

// Leader reports whether it leads.
func (m *EtcdMember) Leader() bool {
	var status struct {
		Header struct {
			MemberID string `json:"member_id"`
		} `json:"header"`
		Leader string `json:"leader"`
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.Client+"/v3/maintenance/status", strings.NewReader("{}"))
	if err != nil {
		return false
	}
	r.Close = true
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer a.Body.Close()
	return json.NewDecoder(a.Body).Decode(&status) == nil && status.Leader != "" && status.Leader == status.Header.MemberID
}

// EtcdCluster starts members of a real etcd cluster, which run until the test ends. Without
// the program the test is skipped.
func EtcdCluster(t *testing.T, members int) []*EtcdMember {
	t.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer etcd is not installed (test/peers/install.sh installs it as root)")
	}
	dir := reserve.Dir(t, "ctl-etcds")
	address := func() string { return fmt.Sprint("http://127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1")) }
	var out []*EtcdMember
	var peers, all []string
	for i := range members {
		peers = append(peers, address())
		all = append(all, fmt.Sprintf("m%d=%s", i, peers[i]))
	}
	for i := range members {
		m := &EtcdMember{Client: address()}
		log, err := os.Create(filepath.Join(dir, fmt.Sprintf("m%d.log", i)))
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		m.cmd = exec.Command(program, "--data-dir", filepath.Join(dir, fmt.Sprintf("m%d", i)), "--name", fmt.Sprintf("m%d", i),
			"--listen-client-urls", m.Client, "--advertise-client-urls", m.Client,
			"--listen-peer-urls", peers[i], "--initial-advertise-peer-urls", peers[i], "--initial-cluster", strings.Join(all, ","),
			"--max-txn-ops", "20000", "--max-request-bytes", "16777216", "--unsafe-no-fsync")
		m.cmd.Stdout, m.cmd.Stderr = log, log
		m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := m.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = m.cmd.Process.Kill()
			_ = m.cmd.Wait()
			if b, _ := os.ReadFile(log.Name()); t.Failed() {
				t.Logf("%s said:\n%s", log.Name(), tail(string(b), 3))
			}
		})
		out = append(out, m)
	}
	Within(t, "the etcd cluster has a leader", func() bool {
		for _, m := range out {
			if m.Leader() {
				return true
			}
		}
		return false
	})
	return out
}
