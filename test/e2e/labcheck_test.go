package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

// The network is written down, and compared: as it is, with a cut cable, with cables swapped in the file, and with a
// VLAN that a trunk does not carry.
func TestLabIsCompared(t *testing.T) {
	c, dir, control := discoverLab(t, "ring:4")
	file := filepath.Join(dir, "bench.yaml")
	writeBench := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := c.Ctl("lab:export")
	writeBench(found)
	if out := c.Ctl("lab:check " + file); !strings.Contains(out, "4 of 4 links are right") {
		t.Error(out)
	}
	for _, form := range []string{"containerlab", "netlab", "netbox"} {
		writeBench(c.Ctl("lab:export --form " + form))
		if out := c.Ctl("lab:check --form " + form + " " + file); !strings.Contains(out, "4 of 4 links are right") {
			t.Errorf("%s: %s", form, out)
		}
	}

	swap := strings.NewReplacer("sw2:port1", "sw4:port2", "sw4:port2", "sw2:port1")
	writeBench(swap.Replace(found))
	if out, err := c.TryCtl("lab:check " + file); err == nil || !strings.Contains(out, "2 cables are swapped") || strings.Count(out, "link-") != 1 {
		t.Errorf("%v: %s", err, out)
	}

	changeLink(t, control, "sw1", "sw2", "down")
	c.Ctl("switch:TopoDiscover")
	writeBench(found + "vlans: [{id: 100, ports: ['sw3:port5', 'sw4:5']}]\n")
	c.Ctl("switch:vlan-add sw3 100 --name lab --untagged port5")
	c.Ctl("switch:vlan-add sw4 100 --name lab --untagged port5")
	status, body, err := c.Call("lab:check", checkInput(t, file))
	if err != nil || status != 200 {
		t.Fatalf("%d, %v: %s", status, err, body)
	}
	for _, want := range []string{`"links-right":3`, `link-missing`, `sw1:port1 is down`, `vlan-broken`, `is not in it (link `} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing: %s", want, body)
		}
	}
	if out, _ := c.TryCtl("lab:check --junit " + file); !strings.Contains(out, `<testsuite name="bench.yaml" tests="5" failures="2">`) {
		t.Errorf("junit: %s", out)
	}

	writeBench("links:\n- sw1:port1 sw2:port1\n")
	if out, err := c.TryCtl("lab:check " + file); err == nil || !strings.Contains(out+err.Error(), "bench.yaml: line 2:") {
		t.Errorf("%v: %s", err, out)
	}
}

// A job waits for its bench: the command ends when the cable is there.
func TestLabIsWaitedFor(t *testing.T) {
	c, dir, control := discoverLab(t, "chain:2")
	file := filepath.Join(dir, "bench.yaml")
	if err := os.WriteFile(file, []byte(c.Ctl("lab:export")), 0o600); err != nil {
		t.Fatal(err)
	}
	changeLink(t, control, "sw1", "sw2", "down")
	c.Ctl("switch:TopoDiscover")
	if out, err := c.TryCtl("lab:check " + file); err == nil {
		t.Fatalf("the cable is still there: %s", out)
	}
	done := make(chan string, 1)
	go func() {
		out, err := c.TryCtl("lab:check --wait 5m " + file)
		if err != nil {
			out += err.Error()
		}
		done <- out
	}()
	changeLink(t, control, "sw1", "sw2", "up")
	c.Ctl("switch:TopoDiscover")
	if out := <-done; !strings.Contains(out, "1 of 1 links are right") {
		t.Error(out)
	}
}

// What a policy closes is not given out in a comparison, or in a network that is written down.
func TestLabOfAClosedTopology(t *testing.T) {
	c, _, _ := discoverLab(t, "chain:2")
	const all = "/rests/data/network-topology:network-topology/topology"
	topologies := c.Do("GET", "/rests/data/network-topology:network-topology?content=nonconfig&depth=3", admin, "")
	id := regexp.MustCompile(`"topology-id":\s*"([^"]+)"`).FindStringSubmatch(topologies.Body)
	if id == nil {
		t.Fatal(topologies)
	}
	call := func(rpc, auth string, input map[string]string) string {
		body, _ := json.Marshal(map[string]any{"input": input})
		a := c.Do("POST", "/rests/operations/lab:"+rpc, auth, string(body))
		return fmt.Sprint(a.Status, " ", a.Body)
	}
	const document = "links: [sw1:port1 -- sw2:port1]"
	if got := call("check", user, map[string]string{"document": document}); !strings.HasPrefix(got, "200") {
		t.Fatal(got)
	}
	closed := policies(all+"="+id[1], "admin", "get", all+"="+id[1]+"/**", "admin", "get")
	if a := c.Do("PUT", jsonPolicies, admin, closed); a.Status/100 != 2 {
		t.Fatal(a)
	}
	for _, input := range []map[string]string{{}, {"topology-id": id[1]}} {
		if got := call("export", user, input); !strings.HasPrefix(got, "403") || !strings.Contains(got, "name a topology-id that you may read") {
			t.Errorf("export of %v: %s", input, got)
		}
		if got := call("export", admin, input); !strings.HasPrefix(got, "200") {
			t.Errorf("export of %v by admin: %s", input, got)
		}
		input["document"] = document
		if got := call("check", user, input); !strings.HasPrefix(got, "403") || strings.Contains(got, "port1") {
			t.Errorf("check of %v: %s", input, got)
		}
	}
	if got := call("export", user, map[string]string{"topology-id": "other"}); !strings.HasPrefix(got, "404") {
		t.Errorf("a topology that is not there: %s", got)
	}
}

// discoverLab is a controller that has discovered simulated switches, a directory for files, and the socket that the
// switches are changed by.
func discoverLab(t *testing.T, topology string) (c *harness.Controller, dir, control string) {
	t.Helper()
	c = harness.Start(t, bin, nil)
	dir = filepath.Dir(harness.NewHome(t))
	control = filepath.Join(dir, "lab.sock")
	list := filepath.Join(dir, "switches.csv")
	harness.Lab(t, bin, topology, list, "--control", control)
	c.Ctl("feature:install ctl-switch-all ctl-labs")
	c.Ctl("switch:ReadDB " + list)
	c.Ctl("switch:TopoDiscover")
	return c, dir, control
}

// changeLink cuts or mends a simulated cable.
func changeLink(t *testing.T, control, a, b, state string) {
	t.Helper()
	out, err := exec.CommandContext(harness.Deadline(t), filepath.Join(bin, "ctl-lab"), "link", a, b, state, "--control", control).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// checkInput is the body of lab:check for a file.
func checkInput(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"input": map[string]string{"document": string(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
