//go:build peers

package openflowpeers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"ctl.internal/test/harness"
)

// Two nodes: the switches have their sessions with one of them. The other one lists their
// ports as they were reported, and answers for one switch with what the node of its
// session knows now, counters included.
func TestLiveReadsGoToTheNodeOfTheSession(t *testing.T) {
	etcd := harness.EtcdCluster(t, 1)
	bin := t.TempDir()
	if out, err := harness.Build(root, bin); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := map[string]string{"ctl.yaml": "datastore: {engine: etcd, etcd: {endpoints: [\"" + etcd[0].Client + "\"]}}\ncluster: {listen: 127.0.0.1:0}\n"}
	node := func() (*harness.Controller, string) {
		listen := freePort(t)
		files["openflow.yaml"] = "listen: " + listen + "\nstatistics: 1s\n"
		return harness.RunNode(t, harness.Options{Bin: bin, Files: files}), listen
	}
	one, listen := node()
	one.Ctl("feature:install ctl-restconf ctl-openflow")
	two, _ := node()
	r := newRing(t, 3, "tcp:"+listen)
	r.lab("up")
	last := "" // answer that could not be read
	defer func() { t.Log(last) }()
	type port struct {
		ID   string `json:"tp-id"`
		Rx   *int64 `json:"rx-packets"`
		From string `json:"reported-by"`
	}
	ports := func(c *harness.Controller, line string) (list []port) {
		out, err := c.TryCtl(line + " --format json")
		if err == nil {
			err = json.Unmarshal([]byte(out), &list)
		}
		if err != nil {
			last = fmt.Sprintf("%s: %v %s", line, err, out)
		}
		return list
	}
	var mine []port
	harness.Within(t, "counters at the node of the session", func() bool {
		mine = ports(one, "openflow:ports openflow:2")
		return len(mine) == 3 && mine[0].Rx != nil && *mine[0].Rx > 0
	})
	harness.Within(t, "counters at the other node", func() bool {
		there := ports(two, "openflow:ports openflow:2")
		return len(there) == 3 && there[0].Rx != nil && *there[0].Rx > 0 && there[0].From == mine[0].From
	})
	if all := ports(two, "openflow:ports"); len(all) != 9 || all[0].Rx != nil || all[0].From == mine[0].From {
		t.Errorf("the ports of all switches at the other node: %s", fmt.Sprint(all))
	}
	if out, err := two.TryCtl("openflow:ports openflow:9"); err == nil {
		t.Errorf("a switch that is nowhere: %s", out)
	}
	// Without the node there is no answer, and nothing is made up.
	one.Kill()
	out, err := two.TryCtl("openflow:ports openflow:2")
	if err == nil {
		t.Errorf("a switch whose node is gone: %s", out)
	}
	t.Logf("its node was killed: %s", out)
	if status, _, err := two.Get("/restconf/operational/network-topology:network-topology", "admin", "admin"); err != nil || status != http.StatusOK {
		t.Errorf("the topology at the node that is left: %d %v", status, err)
	}
}
