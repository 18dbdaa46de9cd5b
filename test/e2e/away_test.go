package e2e

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

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

// threeEtcd are the processes of an etcd cluster and its endpoints, as a setting.
func threeEtcd(t *testing.T) (members []*os.Process, endpoints string) {
	t.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer etcd is not installed (test/peers/install.sh installs it as root)")
	}
	address := func() string { return fmt.Sprint("http://127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1")) }
	var clients, peers, all []string
	for i := range 3 {
		clients, peers = append(clients, address()), append(peers, address())
		all = append(all, fmt.Sprintf("m%d=%s", i, peers[i]))
	}
	for i := range 3 {
		cmd := exec.Command(program, "--data-dir", filepath.Join(reserve.Dir(t, "ctl-etcd"), "data"), "--name", fmt.Sprint("m", i),
			"--listen-client-urls", clients[i], "--advertise-client-urls", clients[i], "--listen-peer-urls", peers[i],
			"--initial-advertise-peer-urls", peers[i], "--initial-cluster", strings.Join(all, ","), "--initial-cluster-token", clients[0],
			"--max-txn-ops", "20000", "--max-request-bytes", "16777216", "--unsafe-no-fsync")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		members = append(members, cmd.Process)
	}
	client := &http.Client{Timeout: 5 * time.Second}
	for _, c := range clients {
		harness.Within(t, "etcd is healthy", func() bool {
			r, err := client.Get(c + "/health")
			if err != nil {
				return false
			}
			r.Body.Close()
			return r.StatusCode == http.StatusOK
		})
	}
	return members, "[" + strings.Join(clients, ", ") + "]"
}

// Without a majority of its cluster a controller refuses writes and default reads in time,
// answers those who ask for what it knows, says what is missing, and goes on by itself.
func TestACutOffControllerRefusesInTimeAndGoesOn(t *testing.T) {
	etcd, endpoints := threeEtcd(t)
	t.Setenv("CTL_DATASTORE_ENGINE", "etcd")
	t.Setenv("CTL_DATASTORE_ETCD_ENDPOINTS", endpoints)
	c := start(t, harness.NewHome(t))
	install(t, c, "racks")
	ask := func(method, path, body string, headers ...string) harness.Answer {
		t.Helper()
		req, err := http.NewRequest(method, path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("admin", "admin")
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		began := time.Now()
		a := c.Send(req)
		if took := time.Since(began); took > 6*time.Second { // 5 s, and a busy machine
			t.Errorf("%s %s took %s", method, path, took)
		}
		return a
	}
	rack := c.HTTP + racksPath + "/rack=r1"
	const body = `{"racks:rack":[{"name":"r1","machine":[{"name":"a"}]}]}`
	if a := ask("PUT", rack, body); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	signal := func(s syscall.Signal) {
		for _, m := range etcd[:2] {
			if err := m.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	signal(syscall.SIGSTOP)
	stopped := true
	defer func() {
		if stopped {
			signal(syscall.SIGCONT)
		}
	}()
	const rpc = `{"racks:input":{"rack":"r1","machine":"b"}}`
	refused := map[string]func() harness.Answer{
		"a write of a tree": func() harness.Answer {
			return ask("PUT", c.HTTP+racksPath+"/rack=r2", `{"racks:rack":[{"name":"r2"}]}`)
		},
		"a write by RPC":   func() harness.Answer { return ask("POST", c.HTTP+"/rests/operations/racks:add", rpc) },
		"a read of a tree": func() harness.Answer { return ask("GET", rack, "") },
		"a read by RPC": func() harness.Answer {
			return ask("POST", c.HTTP+"/rests/operations/racks:where", `{"racks:input":{"machine":"a"}}`)
		},
		"a write of a user": func() harness.Answer {
			return ask("POST", c.HTTP+"/auth/v1/users", `{"name":"u","password":"long-enough","domainid":"sdn"}`)
		},
	}
	for name, do := range refused {
		if a := do(); a.Status != 503 || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %v %s", name, a.Status, a.Header, a.Body)
		}
	}
	local := []string{"Ctl-Read", "local"}
	if a := ask("GET", rack, "", local...); a.Status != 200 || a.Header.Get("Age") == "" || !strings.Contains(a.Body, `"a"`) {
		t.Errorf("a local read of a tree: %d %v %s", a.Status, a.Header, a.Body)
	}
	if a := ask("POST", c.HTTP+"/rests/operations/racks:where", `{"racks:input":{"machine":"a"}}`, local...); a.Status != 200 || a.Header.Get("Age") == "" {
		t.Errorf("a local read by RPC: %d %v %s", a.Status, a.Header, a.Body)
	}
	if a := ask("GET", c.HTTP+"/", ""); a.Status != 200 {
		t.Errorf("the page: %d", a.Status)
	}
	if a := ask("GET", "http://"+c.Address("admin")+"/readyz", ""); a.Status != 503 || !strings.Contains(a.Body, `"quorum"`) {
		t.Errorf("readyz: %d %s", a.Status, a.Body)
	}
	signal(syscall.SIGCONT)
	stopped = false
	harness.Within(t, "writes are taken again", func() bool {
		return ask("PUT", c.HTTP+racksPath+"/rack=r3", `{"racks:rack":[{"name":"r3"}]}`).Status < 300
	})
	if a := ask("GET", rack, ""); a.Status != 200 {
		t.Errorf("afterwards: %d %s", a.Status, a.Body)
	}
}
