package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ctl.internal/test/harness"
)

const racksPath = "/rests/data/racks:racks"

func machinePath(rack, machine string) string {
	return racksPath + "/rack=" + rack + "/machine=" + machine
}

// where asks the plugin in which rack a machine is.
func (c *controller) where(machine string) string {
	c.t.Helper()
	a := c.Do("POST", "/rests/operations/racks:where", admin, `{"racks:input":{"machine":"`+machine+`"}}`)
	var out struct {
		Output struct{ Rack string } `json:"racks:output"`
	}
	if a.Status == http.StatusNoContent {
		return ""
	}
	if err := json.Unmarshal([]byte(a.Body), &out); err != nil || a.Status != 200 {
		c.t.Errorf("where %s: %d %s", machine, a.Status, a.Body)
	}
	return out.Output.Rack
}

// The tree of a plugin is changed by clients and by the plugin alike, under its rules, and
// whoever asks next sees it.
func TestATreeOfAPluginIsItsState(t *testing.T) {
	c := start(t, harness.NewHome(t))
	install(t, c, "racks")
	for _, k := range []struct {
		method, path, body string
		want               int
		says               string
	}{
		{"PUT", racksPath + "/rack=r1", `{"racks:rack":[{"name":"r1","room":2,"machine":[{"name":"a"}]}]}`, 201, ""},
		{"PUT", racksPath + "/rack=r2", `{"racks:rack":[{"name":"r2"}]}`, 201, ""},
		{"PUT", machinePath("r2", "a"), `{"racks:machine":[{"name":"a"}]}`, 409, "machine a is in rack r1 already"},
		{"PUT", machinePath("r1", "b"), `{"racks:machine":[{"name":"b"}]}`, 201, ""},
		{"POST", racksPath + "/rack=r1", `{"racks:machine":[{"name":"c"}]}`, 400, "rack r1 has room for 2 machines, not for 3"},
		{"PATCH", racksPath + "/rack=r1", `{"racks:rack":[{"name":"r1","room":1}]}`, 400, "has room for 1"},
		{"POST", "/rests/operations/racks:add", `{"racks:input":{"rack":"r1","machine":"c"}}`, 400, "room for 2"},
		{"POST", "/rests/operations/racks:add", `{"racks:input":{"rack":"r2","machine":"c"}}`, 204, ""},
		{"GET", machinePath("r2", "c"), "", 200, `"name":"c"`},
		{"DELETE", machinePath("r1", "a"), "", 204, ""},
		{"PUT", machinePath("r2", "a"), `{"racks:machine":[{"name":"a"}]}`, 201, ""},
		{"DELETE", racksPath + "/rack=r1", "", 204, ""},
		{"GET", "/restconf/operational/racks:racks", "", 200, `"name":"a"`},
	} {
		a := c.Do(k.method, k.path, admin, k.body)
		if a.Status != k.want || !strings.Contains(a.Body, k.says) {
			t.Errorf("%s %s %s: %d %s, want %d with %q", k.method, k.path, k.body, a.Status, a.Body, k.want, k.says)
		}
		if wrote := k.method != "GET" && a.Status < 300; wrote != (a.Header.Get("Ctl-Revision") != "") {
			t.Errorf("%s %s: %d with Ctl-Revision %q", k.method, k.path, a.Status, a.Header.Get("Ctl-Revision"))
		}
	}
	for machine, rack := range map[string]string{"a": "r2", "b": "", "c": "r2"} {
		if at := c.where(machine); at != rack {
			t.Errorf("%s is in %q, not in %q", machine, at, rack)
		}
	}
	c.Ctl("plugin:restart racks")
	if at := c.where("a"); at != "r2" {
		t.Errorf("after a restart a is in %q", at)
	}
}

// twoNodes are two controllers on one etcd.
func twoNodes(t *testing.T) []*controller {
	t.Helper()
	t.Setenv("CTL_DATASTORE_ENGINE", "etcd")
	t.Setenv("CTL_DATASTORE_ETCD_ENDPOINTS", "["+harness.Etcd(t)+"]")
	first := start(t, harness.NewHome(t))
	const key = "ctl/datastore/initial/config/aaa-encrypt-service-config.xml"
	text, err := os.ReadFile(filepath.Join(first.Home, "etc", key))
	if err != nil {
		t.Fatal(err)
	}
	second := harness.NewHome(t)
	file := filepath.Join(second, "etc", key)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	install(t, first, "racks")
	other := start(t, second)
	harness.Within(t, "the second node serves racks", func() bool {
		return other.Do("GET", "/rests/operations", admin, "").JSON(t) != nil && strings.Contains(other.Do("GET", "/restconf/modules", admin, "").Body, `"racks"`)
	})
	return []*controller{first, other}
}

// 32 writers at once, through trees, nested lists and RPCs, on one node and on two that
// share their data: no rule is ever broken, no acknowledged write is lost, and who asks on
// any node after an answer sees the write.
func TestWritersAtOnceBreakNoRuleAndSeeTheirWrites(t *testing.T) {
	t.Run("one node", func(t *testing.T) {
		c := start(t, harness.NewHome(t))
		install(t, c, "racks")
		writeAtOnce(t, []*controller{c})
	})
	t.Run("two nodes", func(t *testing.T) { writeAtOnce(t, twoNodes(t)) })
}

func writeAtOnce(t *testing.T, nodes []*controller) {
	const writers, rounds, racks, room, machines = 32, 6, 4, 6, 30
	for i := range racks {
		if a := nodes[0].Do("PUT", fmt.Sprint(racksPath, "/rack=r", i), admin, fmt.Sprintf(`{"racks:rack":[{"name":"r%d","room":%d}]}`, i, room)); a.Status != 201 {
			t.Fatalf("rack %d: %d %s", i, a.Status, a.Body)
		}
	}
	var lost atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range rounds {
				c, other := nodes[rand.IntN(len(nodes))], nodes[rand.IntN(len(nodes))]
				rack, machine := fmt.Sprint("r", rand.IntN(racks)), fmt.Sprint("m", rand.IntN(machines))
				body := `{"racks:machine":[{"name":"` + machine + `"}]}`
				var a harness.Answer
				switch rand.IntN(4) {
				case 0:
					a = c.Do("PUT", machinePath(rack, machine), admin, body)
				case 1:
					a = c.Do("DELETE", machinePath(rack, machine), admin, "")
				case 2:
					a = c.Do("POST", "/rests/operations/racks:add", admin, `{"racks:input":{"rack":"`+rack+`","machine":"`+machine+`"}}`)
				case 3:
					a = c.Do("POST", racksPath+"/rack="+rack, admin, body)
				}
				switch {
				case a.Status < 300, a.Status == 400 && strings.Contains(a.Body, "room"), a.Status == 404:
				case a.Status == 409 && strings.Contains(a.Body, "in-use"):
					lost.Add(1)
					if !strings.Contains(a.Body, "changed meanwhile by ") {
						t.Errorf("a conflict does not say who was first: %s", a.Body)
					}
				case a.Status == 409:
				default:
					t.Errorf("%d %s", a.Status, a.Body)
				}
				checkRacks(t, other, racks, room)
				// What is this writer's alone is there as soon as it is acknowledged, on any node.
				own := fmt.Sprintf("own-%d-%d", w, n)
				for {
					a = c.Do("PUT", racksPath+"/rack="+own, admin, `{"racks:rack":[{"name":"`+own+`","machine":[{"name":"`+own+`"}]}]}`)
					if a.Status == 201 {
						break
					}
					if a.Status != 409 || !strings.Contains(a.Body, "in-use") {
						t.Errorf("%s: %d %s", own, a.Status, a.Body)
						return
					}
					lost.Add(1)
				}
				if got := other.Do("GET", machinePath(own, own), admin, ""); got.Status != 200 {
					t.Errorf("stale tree: %d %s", got.Status, got.Body)
				}
				if at := other.where(own); at != own {
					t.Errorf("stale RPC: %s is in %q", own, at)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d of %d writes were refused because others kept writing", lost.Load(), 2*writers*rounds)
	for _, c := range nodes {
		for machine, rack := range checkRacks(t, c, racks, room) {
			if at := c.where(machine); at != rack {
				t.Errorf("%s is in %q, and %q says the plugin", machine, rack, at)
			}
		}
		for i := range machines {
			m := fmt.Sprint("m", i)
			if at := c.where(m); at != "" && c.Do("GET", machinePath(at, m), admin, "").Status != 200 {
				t.Errorf("%s is in %s only for the plugin", m, at)
			}
		}
	}
}

// checkRacks reads the tree and checks the rules; it returns the rack of each machine.
func checkRacks(t *testing.T, c *controller, racks, room int) map[string]string {
	t.Helper()
	var tree struct {
		Racks struct {
			Rack []struct {
				Name    string
				Machine []struct{ Name string }
			}
		} `json:"racks:racks"`
	}
	a := c.Do("GET", racksPath, admin, "")
	if err := json.Unmarshal([]byte(a.Body), &tree); err != nil {
		t.Errorf("%d %s: %v", a.Status, a.Body, err)
	}
	at := map[string]string{}
	for _, r := range tree.Racks.Rack {
		if len(r.Machine) > room {
			t.Errorf("%s has %d machines", r.Name, len(r.Machine))
		}
		for _, m := range r.Machine {
			if at[m.Name] != "" {
				t.Errorf("%s is in %s and in %s", m.Name, at[m.Name], r.Name)
			}
			at[m.Name] = r.Name
		}
	}
	if len(tree.Racks.Rack) < racks {
		t.Errorf("%d racks", len(tree.Racks.Rack))
	}
	return at
}
