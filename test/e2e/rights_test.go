package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	lab "ctl.internal/internal/lab/network"
	"ctl.internal/test/harness"
)

// overSSH runs a line of the console for a user and returns what it printed.
func overSSH(t *testing.T, c *harness.Controller, user, password, line string) (string, error) {
	t.Helper()
	client, err := ssh.Dial("tcp", c.Address("ssh"), &ssh.ClientConfig{
		User:            user,
		Auth:            []ssh.AuthMethod{ssh.Password(password)},
		HostKeyCallback: ssh.InsecureIgnoreHostKey(), // of a controller that this test started
		Timeout:         time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.CombinedOutput(line)
	return string(out), err
}

// A student may set VLANs 100 to 120 at six ports of one switch, sees only these, and may do nothing else, by no way in; for others
// nothing changes.
func TestAStudentHasSixPorts(t *testing.T) {
	net, err := lab.Start(lab.Options{Topology: "chain:2", Ports: 12, Hosts: 1, FDB: 3000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(net.Close)
	c := harness.Start(t, bin, map[string]string{"switch_swdb.csv": string(net.CSV())})
	c.Ctl("feature:install --grant ctl-switch-all")
	c.Ctl("switch:TopoDiscover")
	if a := c.Do("POST", "/auth/v1/users", admin, `{"name":"ann","password":"password1","domainid":"sdn"}`); a.Status != http.StatusCreated {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if a := c.Do("POST", "/auth/v1/domains/sdn/users/ann@sdn/roles", admin, `{"roleid":"user@sdn"}`); a.Status != http.StatusCreated {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	const ann = "ann:password1"
	call := func(user, rpc, input string) harness.Answer {
		t.Helper()
		module, _, _ := strings.Cut(rpc, ":")
		body := fmt.Sprintf(`{"%s:input":%s}`, module, input)
		return c.Do("POST", "/rests/operations/"+rpc, user, body)
	}
	if a := call(ann, "switch:vlan-add", `{"switch":"sw2","vlan-id":300}`); a.Status/100 != 2 {
		t.Fatalf("without a right all is open: %d %s", a.Status, a.Body)
	}
	if out := c.Ctl(`access:set-add "bench 3" --switch sw1 --ports port1,2-6 --vlans 100-120`); !strings.Contains(out, "ports 1-6; VLANs 100-120") {
		t.Errorf("access:set-add: %s", out)
	}
	if out := c.Ctl(`access:right-add ann "bench 3" change`); !strings.Contains(out, "user:ann@sdn may change") {
		t.Errorf("access:right-add: %s", out)
	}
	if a := call(admin, "switch:vlan-add", `{"switch":"sw1","vlan-id":110,"vlan-name":"shared","tagged":["12"]}`); a.Status/100 != 2 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}

	node := fmt.Sprint(labSwitch(0))
	for _, x := range []struct {
		rpc, input string
		status     int
		want       string
	}{
		{"switch:vlan-add", `{"switch":"sw1","vlan-id":100,"vlan-name":"mine","tagged":["port1"],"untagged":["2-3"]}`, 200, "SUCCESS"},
		{"switch:vlan-set", `{"switch":"` + node + `","vlan-id":100,"untagged":["port6","2"]}`, 200, "SUCCESS"},
		{"switch:vlan-set", `{"switch":"sw1","vlan-id":110,"tagged":["12","5"]}`, 200, "SUCCESS"}, // port 12 stays as it is
		{"switch:vlan-set", `{"switch":"sw1","vlan-id":110,"tagged":["5"]}`, 403, "VLAN 110 at port 12 of switch " + node},
		{"switch:vlan-set", `{"switch":"sw1","vlan-id":110,"untagged":["12"],"tagged":["5"]}`, 403, "port 12"},
		{"switch:vlan-del", `{"switch":"sw1","vlan-id":110}`, 403, "port 12"},
		{"switch:vlan-set", `{"switch":"sw1","vlan-id":100,"untagged":["7"]}`, 403, "port 7"},
		{"switch:vlan-set", `{"switch":"sw1","vlan-id":100,"untagged":["port7"]}`, 403, "port 7"},
		{"switch:vlan-set", `{"switch":"sw1","vlan-id":100,"untagged":["5-7"]}`, 403, "port 7"},
		{"switch:vlan-add", `{"switch":"sw1","vlan-id":121}`, 403, "VLAN 121"},
		{"switch:vlan-add", `{"switch":"sw1","vlan-id":99,"untagged":["1"]}`, 403, "VLAN 99"},
		{"switch:vlan-add", `{"switch":"sw2","vlan-id":100}`, 403, "VLAN 100 at switch"},
		{"switch:vlan-add", `{"switch":"sw9","vlan-id":100}`, 403, "sw9"},
		{"vlan:add-vlan-and-set-ports", `{"node-id":"` + node + `","vlan-id":120,"vlan-name":"x","tagged-port-list":"1","untagged-port-list":""}`, 200, "SUCCESS"},
		{"vlan:set-vlan-ports", `{"node-id":"` + node + `","vlan-id":120,"tagged-port-list":"1,8","untagged-port-list":""}`, 403, "port 8"},
		{"vlan:delete-vlan", `{"node-id":"` + node + `","vlan-id":120}`, 200, "SUCCESS"},
		{"switch-port:set-port", `{"switch":"sw1","port":"port4","description":"mine"}`, 200, "SUCCESS"},
		{"switch-port:set-port", `{"switch":"sw1","port":"8","description":"mine"}`, 403, "port 8"},
		{"switch-port:set-port", `{"switch":"sw2","port":"1","description":"mine"}`, 403, "port 1"},
		{"switch:ports", `{"switch":"sw1"}`, 200, `"port":"port6"`},
		{"switch:ports", `{"switch":"sw1","port":"port7"}`, 403, "port 7"},
		{"switch:ports", `{"switch":"sw2"}`, 403, "switch"},
		{"switch:vlans", `{"switch":"sw1"}`, 200, `"vlan-id":100`},
		{"vlan:get-vlan-table", `{"node-id":"` + node + `"}`, 200, `"vlan-id":100`},
		{"switch:touches", `{"switch":"sw2"}`, 403, "rights by port"},
		{"switch:switches", `{}`, 403, "rights by port"},
		{"switch:history", `{"switch":"sw1"}`, 403, "rights by port"},
		{"switch-db:clear-db", `{}`, 403, "rights by port"},
		{"switch-plan:get-plans", `{}`, 403, "rights by port"},
		{"ctl-system:show", `{"command":"switch:ports sw2"}`, 403, "rights by port"},
	} {
		a := call(ann, x.rpc, x.input)
		if a.Status != x.status && !(x.status == 200 && a.Status == 204) || !strings.Contains(a.Body, x.want) {
			t.Errorf("%s %s: %d %s, want %d with %s", x.rpc, x.input, a.Status, a.Body, x.status, x.want)
		}
	}
	for rpc, input := range map[string]string{
		"switch:ports":          `{"switch":"sw1"}`,
		"switch-port:get-ports": `{"switch":"sw1"}`,
		"switch:counters":       `{"switch":"sw1"}`,
		"switch:vlans":          `{}`,
		"vlan:get-vlan-table":   `{"node-id":"` + node + `"}`,
		"switch:fdb":            `{"switch":"sw1"}`,
	} {
		all, seen := call(admin, rpc, input), call(ann, rpc, input)
		if all.Status != 200 || seen.Status != 200 {
			t.Errorf("%s: %d %s, of the student %d %s", rpc, all.Status, all.Body, seen.Status, seen.Body)
		}
		for _, hidden := range []string{"port7", "port12", `"number":7`, `"number":12`, `"switch":"sw2"`, `"vlan-id":1,`, `"vlan-id":300`, ",12]", fmt.Sprint(labSwitch(1))} {
			if strings.Contains(seen.Body, hidden) {
				t.Errorf("%s shows %s: %s", rpc, hidden, seen.Body)
			}
		}
	}
	for _, x := range [][2]string{
		{"GET", "/rests/data/network-topology:network-topology"},
		{"GET", "/restconf/operational/network-topology:network-topology"},
		{"GET", "/rests/data"},
		{"PUT", "/rests/data/network-topology:network-topology/topology=x"},
		{"GET", "/rests/data/aaa-rights:rights"},
		{"GET", "/rests/streams/json/switch-ports"},
		{"GET", "/web/events"},
		{"GET", "/web/places/x"},
		{"GET", "/auth/v1/users"},
		{"GET", "/"},
	} {
		if a := c.Do(x[0], x[1], ann, ""); a.Status != http.StatusForbidden && !(a.Status == http.StatusUnauthorized && strings.Contains(x[1], "/a")) { // etc/sec.ini comes first
			t.Errorf("%s %s: %d %s", x[0], x[1], a.Status, a.Body)
		}
	}
	for _, line := range []string{"switch:ports sw1", "switch:vlan-set sw1 100 --untagged 7", "access:sets", "restconf:call GET /rests/data"} {
		if out, err := overSSH(t, c, "ann", "password1", line); err == nil || strings.Contains(out, "port1") {
			t.Errorf("%s over SSH: %v %s", line, err, out)
		}
	}
	for line, want := range map[string]string{
		"access:explain ann GET /rests/data":                                                                                "refused (denied)",
		"access:explain ann POST /rests/operations/switch:vlan-set":                                                         "what it acts on must be in one of the sets",
		`access:explain ann POST /rests/operations/switch:vlan-set --input '{"switch":"sw1","vlan-id":100,"tagged":["8"]}'`: "VLAN 100 at port 8 of switch " + node + " is not in a set",
		"access:rights": "user:ann@sdn",
		"access:sets":   "100-120",
		"audit:show":    "change rights",
	} {
		if out := c.Ctl(line); !strings.Contains(out, want) {
			t.Errorf("%s: %s, want %s", line, out, want)
		}
	}
	c.Ctl(`access:set-add hosts --switch sw1 --ports 12 --vlans 1`)
	c.Ctl(`access:right-add ann hosts view`)
	all, seen := call(admin, "switch:fdb", `{"switch":"sw1"}`).Body, call(ann, "switch:fdb", `{"switch":"sw1"}`).Body
	if n := strings.Count(all, `"number":12`); n == 0 || strings.Count(seen, `"number":12`) != n || strings.Count(seen, "mac-address") != n {
		t.Errorf("of %d addresses, %d at port 12, the student sees %.500s", strings.Count(all, "mac-address"), n, seen)
	}
	if a := call(ann, "switch-port:set-port", `{"switch":"sw1","port":"12","description":"x"}`); a.Status != http.StatusForbidden {
		t.Errorf("a port that may only be viewed: %d %s", a.Status, a.Body)
	}
	c.Ctl(`access:right-remove ann hosts`)
	if out, err := c.TryCtl(`access:right-remove ann "bench 3"`); err == nil || !strings.Contains(out, "--force") {
		t.Errorf("the last right ends: %v %s", err, out)
	}
	if a := c.Do("DELETE", "/rests/data/aaa-rights:rights", admin, ""); a.Status != http.StatusConflict {
		t.Errorf("the last right ends: %d %s", a.Status, a.Body)
	}
	if a := call("user:user", "switch:vlan-add", `{"switch":"sw2","vlan-id":301}`); a.Status/100 != 2 {
		t.Errorf("another user: %d %s", a.Status, a.Body)
	}
	c.Restart()
	harness.Within(t, "the rights hold after a restart", func() bool {
		a := call(ann, "switch:vlan-add", `{"switch":"sw2","vlan-id":100}`)
		return a.Status == http.StatusForbidden && strings.Contains(a.Body, "VLAN 100 at switch")
	})
	c.Ctl(`access:right-remove ann "bench 3" --force`)
	if a := call(ann, "switch:vlan-add", `{"switch":"sw2","vlan-id":302}`); a.Status/100 != 2 {
		t.Errorf("after the end of the rights: %d %s", a.Status, a.Body)
	}
}
