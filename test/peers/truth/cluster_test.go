//go:build peers

package truthpeers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

const root = "../../.."

var bin string

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, root, &bin))
}

// member is one etcd of a cluster.
type member struct {
	t      *testing.T
	client string
	before []string // of the command line, such as ip netns exec
	args   []string
	dir    string
	cmd    *exec.Cmd
}

func (m *member) start() {
	m.t.Helper()
	log, err := os.OpenFile(filepath.Join(m.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		m.t.Fatal(err)
	}
	defer log.Close()
	line := append(append([]string{}, m.before...), append([]string{"etcd"}, m.args...)...)
	m.cmd = exec.Command(line[0], line[1:]...)
	m.cmd.Stdout, m.cmd.Stderr = log, log
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := m.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *member) kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
}

func (m *member) signal(s syscall.Signal) { _ = m.cmd.Process.Signal(s) }

// members starts an etcd cluster of three. where says at which address each listens, and
// what its command line begins with.
func members(t *testing.T, where func(i int) (ip string, before []string)) []*member {
	t.Helper()
	if _, err := exec.LookPath("etcd"); err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer etcd is not installed (test/peers/install.sh installs it as root)")
	}
	var all []*member
	var peers []string
	for i := range 3 {
		ip, before := where(i)
		address := func(fixed int) string {
			if len(before) > 0 { // a namespace of its own
				return fmt.Sprintf("http://%s:%d", ip, fixed)
			}
			return fmt.Sprintf("http://%s:%d", ip, reserve.Port(t, "tcp", ip))
		}
		m := &member{t: t, client: address(2379), before: before, dir: reserve.Dir(t, "ctl-etcd")}
		peer := address(2380)
		peers = append(peers, fmt.Sprintf("m%d=%s", i, peer))
		m.args = []string{"--data-dir", filepath.Join(m.dir, "data"), "--name", fmt.Sprint("m", i), "--listen-client-urls", m.client, "--advertise-client-urls", m.client,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--heartbeat-interval", "100", "--election-timeout", "1000",
			"--max-txn-ops", "20000", "--max-request-bytes", "16777216", "--unsafe-no-fsync"}
		all = append(all, m)
	}
	for _, m := range all {
		m.args = append(m.args, "--initial-cluster", strings.Join(peers, ","), "--initial-cluster-token", filepath.Base(all[0].dir))
		m.start()
		t.Cleanup(m.kill)
	}
	for _, m := range all {
		health := append(append([]string{}, m.before...), "etcdctl", "--endpoints", m.client, "endpoint", "health")
		harness.Within(t, "etcd is healthy", func() bool {
			cmd := exec.Command(health[0], health[1:]...)
			cmd.Env = append(os.Environ(), "ETCDCTL_API=3")
			return cmd.Run() == nil
		})
	}
	return all
}

// here are members on the loopback interface.
func here(int) (string, []string) { return "127.0.0.1", nil }

// settings are the files of a home of the cluster.
func settings(t *testing.T, endpoints []string) map[string]string {
	return map[string]string{"sec.ini": secINI(t), "ctl.yaml": "datastore:\n  engine: etcd\n  etcd: {endpoints: [" + strings.Join(endpoints, ", ") + "], prefix: truth/}\n" +
		"aaa:\n  throttle: {after: 100000}\n  argon2: {memory: 8MiB, time: 1}\n"}
}

// lay writes files into the etc of a home that is not there yet.
func lay(t *testing.T, home string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(home, "etc", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	catalogue, err := os.ReadFile(filepath.Join(bin, "features.yaml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "features.yaml"), catalogue, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// takeKey adds the key of secrets, which nodes of a cluster share, to the files.
func takeKey(t *testing.T, home string, files map[string]string) {
	t.Helper()
	const encryption = "ctl/datastore/initial/config/aaa-encrypt-service-config.xml"
	key, err := os.ReadFile(filepath.Join(home, "etc", encryption))
	if err != nil {
		t.Fatal(err)
	}
	files[encryption] = string(key)
}

// nodes starts n controllers on one etcd cluster, with fixed HTTP ports.
func nodes(t *testing.T, n int, etcd []*member) []*harness.Controller {
	t.Helper()
	var endpoints []string
	for _, m := range etcd {
		endpoints = append(endpoints, `"`+m.client+`"`)
	}
	files := settings(t, endpoints)
	var out []*harness.Controller
	for i := range n {
		home := harness.NewHome(t)
		lay(t, home, files)
		port := reserve.Port(t, "tcp", "127.0.0.1")
		out = append(out, harness.Run(t, harness.Options{Bin: bin, Home: home, Args: []string{"--http", fmt.Sprint("127.0.0.1:", port)}}))
		if i == 0 {
			takeKey(t, home, files)
		}
	}
	return out
}

// secINI is the shipped rule file.
func secINI(t *testing.T) string {
	t.Helper()
	ini, err := os.ReadFile(filepath.Join(root, "etc", "sec.ini"))
	if err != nil {
		t.Fatal(err)
	}
	return string(ini)
}
