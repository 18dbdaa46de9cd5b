package e2e

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"ctl.internal/test/harness"
)

// Without a majority of its cluster a controller refuses writes and default reads in time,
// answers those who ask for what it knows, says what is missing, and goes on by itself.
func TestACutOffControllerRefusesInTimeAndGoesOn(t *testing.T) {
	etcd := harness.EtcdCluster(t, 3)
	var endpoints []string
	for _, m := range etcd {
		endpoints = append(endpoints, m.Client)
	}
	t.Setenv("CTL_DATASTORE_ENGINE", "etcd")
	t.Setenv("CTL_DATASTORE_ETCD_ENDPOINTS", "["+strings.Join(endpoints, ", ")+"]")
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
		return c.Send(req)
	}
	rack := c.HTTP + racksPath + "/rack=r1"
	const body = `{"racks:rack":[{"name":"r1","machine":[{"name":"a"}]}]}`
	if a := ask("PUT", rack, body); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	signal := func(s syscall.Signal) {
		for _, m := range etcd[:2] {
			m.Signal(s)
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
