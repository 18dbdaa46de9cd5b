package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
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
	Peer   string // that for the other members
	// how to connect to it; nil = as usual
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	t    *testing.T
	line []string // of its command
	own  []string // of line, what says which member of which cluster it is
	dir  string
	log  string
	cmd  *exec.Cmd
}

// Backup writes the state of the member to a file, as etcdctl snapshot save does.
func (m *EtcdMember) Backup() (file string) {
	m.t.Helper()
	file = filepath.Join(m.dir, fmt.Sprint("backup-", time.Now().UnixNano()))
	m.runEtcdctl("--endpoints", m.Client, "snapshot", "save", file)
	return file
}

// Restore puts the state of a backup in the place of what the member has. It does not run
// then, and is started by Start.
func (m *EtcdMember) Restore(file string) {
	m.t.Helper()
	m.Kill()
	data := filepath.Join(m.dir, "data")
	if err := os.RemoveAll(data); err != nil {
		m.t.Fatal(err)
	}
	m.runEtcdctl(append([]string{"snapshot", "restore", file, "--data-dir", data}, m.own...)...)
}

func (m *EtcdMember) runEtcdctl(args ...string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	program := "etcdctl"
	_, err := exec.LookPath("etcdutl")
	if err == nil && args[0] == "snapshot" { // version 3.5 and later
		program = "etcdutl"
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "ETCDCTL_API=3")
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// Start starts a member that was killed again.
func (m *EtcdMember) Start() {
	m.t.Helper()
	log, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		m.t.Fatal(err)
	}
	defer log.Close()
	m.cmd = exec.Command(m.line[0], m.line[1:]...)
	m.cmd.Stdout, m.cmd.Stderr = log, log
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := m.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
}

// PID is its process id.
func (m *EtcdMember) PID() int { return m.cmd.Process.Pid }

// Dir is the directory of its log and data.
func (m *EtcdMember) Dir() string { return m.dir }

// Kill is kill -9.
func (m *EtcdMember) Kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
}

// Signal sends a signal: SIGSTOP, SIGCONT. After SIGSTOP the member stands still.
func (m *EtcdMember) Signal(s syscall.Signal) {
	m.t.Helper()
	if s == syscall.SIGSTOP {
		Freeze(m.t, m.cmd.Process.Pid)
		return
	}
	_ = m.cmd.Process.Signal(s)
}

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
	r, err := http.NewRequestWithContext(
		ctx,
		http.MethodPost,
		m.Client+"/v3/maintenance/status",
		strings.NewReader("{}"),
	)
	if err != nil {
		return false
	}
	r.Close = true
	a, err := (&http.Client{Transport: &http.Transport{DialContext: m.Dial}}).Do(r)
	if err != nil {
		return false
	}
	defer a.Body.Close()
	return json.NewDecoder(a.Body).Decode(&status) == nil &&
		status.Leader != "" &&
		status.Leader == status.Header.MemberID
}

// Healthy reports whether a member on the loopback interface answers.
func (m *EtcdMember) Healthy() bool { return m.isHealthy(nil) }

// isHealthy asks the member through etcdctl, which also reaches one in a namespace.
func (m *EtcdMember) isHealthy(before []string) bool {
	line := append(
		append([]string{}, before...),
		"etcdctl",
		"--endpoints",
		m.Client,
		"endpoint",
		"health",
	)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = append(os.Environ(), "ETCDCTL_API=3")
	return cmd.Run() == nil
}

// Etcd returns the address of a real etcd: that of CTL_TEST_ETCD, or one of the test's own,
// of one member.
func Etcd(t *testing.T) string {
	t.Helper()
	if there := os.Getenv("CTL_TEST_ETCD"); there != "" {
		return there
	}
	return EtcdCluster(t, 1)[0].Client
}

// EtcdCluster starts members of a real etcd on the loopback interface, with the limits that
// a cluster of controllers needs. They run until the test ends. Without the program the
// test is skipped.
func EtcdCluster(t *testing.T, members int) []*EtcdMember {
	t.Helper()
	return EtcdAt(t, members, func(int) (string, []string) { return "127.0.0.1", nil })
}

// EtcdAt is EtcdCluster where each member listens at an address of its own; where says
// which, and what its command line begins with, such as ip netns exec.
func EtcdAt(
	t *testing.T,
	members int,
	where func(i int) (ip string, before []string),
) []*EtcdMember {
	t.Helper()
	for _, program := range []string{"etcd", "etcdctl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh installs it as root); for one etcd, CTL_TEST_ETCD "+
				"may name one that runs with --max-txn-ops=20000 --max-request-bytes=16777216", program)
		}
	}
	var out []*EtcdMember
	var peers []string
	for i := range members {
		ip, before := where(i)
		address := func() string {
			return fmt.Sprintf("http://%s:%d", ip, reserve.Port(t, "tcp", "127.0.0.1"))
		}
		client := address()
		peer := address()
		dir := reserve.Dir(t, "ctl-etcd")
		peers = append(peers, fmt.Sprintf("m%d=%s", i, peer))
		out = append(out, &EtcdMember{
			Client: client,
			Peer:   peer,
			t:      t,
			dir:    dir,
			log:    filepath.Join(dir, "log"),
			own:    []string{"--name", fmt.Sprint("m", i), "--initial-advertise-peer-urls", peer},
			line: append(append([]string{}, before...),
				"etcd", "--data-dir", filepath.Join(dir, "data"), "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
				"--max-txn-ops", "20000", "--max-request-bytes", "16777216", "--unsafe-no-fsync"),
		})
	}
	for _, m := range out {
		m.own = append(
			m.own,
			"--initial-cluster",
			strings.Join(peers, ","),
			"--initial-cluster-token",
			out[0].Client,
		)
		m.line = append(m.line, m.own...)
		m.Start()
		t.Cleanup(func() {
			m.Kill()
			if b, _ := os.ReadFile(m.log); t.Failed() {
				t.Logf("%s said:\n%s", m.Client, lastLines(string(b), 5))
			}
		})
	}
	for i, m := range out {
		_, before := where(i)
		Within(t, "etcd is healthy", func() bool { return m.isHealthy(before) })
	}
	return out
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
