//go:build peers

package truthpeers

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/sdk/lab/reserve"
	"ctl.internal/test/harness"
)

const root = "../../.."

var bin string

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, root, &bin, "./plugins/bier-topomanager", "./plugins/bier-channel", "./plugins/bier-service", "./plugins/bier-driver-ietf"))
}

// member is one etcd of a cluster.
type member struct {
	t      *testing.T
	client string
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
	m.cmd = exec.Command("etcd", m.args...)
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

// members starts an etcd cluster of three.
func members(t *testing.T) []*member {
	t.Helper()
	if _, err := exec.LookPath("etcd"); err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer etcd is not installed (test/peers/install.sh installs it as root)")
	}
	address := func() string { return fmt.Sprint("http://127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1")) }
	var all []*member
	var peers []string
	for i := range 3 {
		m := &member{t: t, client: address(), dir: reserve.Dir(t, "ctl-etcd")}
		peer := address()
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
	client := &http.Client{Timeout: 5 * time.Second}
	for _, m := range all {
		harness.Within(t, "etcd is healthy", func() bool {
			r, err := client.Get(m.client + "/health")
			if err != nil {
				return false
			}
			r.Body.Close()
			return r.StatusCode == http.StatusOK
		})
	}
	return all
}

// nodes starts n controllers on one etcd cluster, with fixed HTTP ports.
func nodes(t *testing.T, n int, etcd []*member) []*harness.Controller {
	t.Helper()
	var endpoints []string
	for _, m := range etcd {
		endpoints = append(endpoints, `"`+m.client+`"`)
	}
	files := map[string]string{"ctl.yaml": "datastore:\n  engine: etcd\n  etcd: {endpoints: [" + strings.Join(endpoints, ", ") + "], prefix: truth/}\n" +
		"aaa:\n  throttle: {after: 100000}\n  argon2: {memory: 8MiB, time: 1}\n"}
	const encryption = "ctl/datastore/initial/config/aaa-encrypt-service-config.xml"
	var out []*harness.Controller
	for i := range n {
		home := harness.NewHome(t)
		port := reserve.Port(t, "tcp", "127.0.0.1")
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
		c := harness.Run(t, harness.Options{Bin: bin, Home: home, Args: []string{"--http", fmt.Sprint("127.0.0.1:", port)}})
		out = append(out, c)
		if i == 0 {
			key, err := os.ReadFile(filepath.Join(home, "etc", encryption))
			if err != nil {
				t.Fatal(err)
			}
			files[encryption] = string(key) // nodes of a cluster share the key of secrets
		}
	}
	return out
}
