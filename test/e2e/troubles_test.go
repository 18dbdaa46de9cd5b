package e2e

import (
	"encoding/json"
	stdnet "net"
	"strings"
	"testing"

	lab "ctl.internal/internal/lab/network"
	"ctl.internal/test/harness"
)

// trouble is one of ctl-system:get-troubles.
type trouble struct {
	ID           string `json:"id"`
	Kind         string `json:"kind"`
	Subject      string `json:"subject"`
	Since        string `json:"since"`
	Cause        string `json:"cause"`
	Remedy       string `json:"remedy"`
	Acknowledged *struct {
		By string `json:"by"`
	} `json:"acknowledged"`
}

// listTroubles is what a user sees, by kind.
func listTroubles(t *testing.T, c *harness.Controller, auth string) (open int, all map[string]trouble) {
	t.Helper()
	a := c.Do("POST", "/rests/operations/ctl-system:get-troubles", auth, `{"ctl-system:input":{}}`)
	if a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	var v struct {
		Output struct {
			Open    int       `json:"open"`
			Trouble []trouble `json:"trouble"`
		} `json:"ctl-system:output"`
	}
	if err := json.Unmarshal([]byte(a.Body), &v); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	all = map[string]trouble{}
	for _, one := range v.Output.Trouble {
		all[one.Kind] = one
	}
	return v.Output.Open, all
}

// A cut link and a stopped plugin are listed with cause and remedy, over a restart, too; who acknowledges one is named; they
// end when the fault does; and a user without the role gets 403.
func TestTroubles(t *testing.T) {
	net, err := lab.Start(lab.Options{Topology: "ring:3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(net.Close)
	c := harness.Start(t, bin, map[string]string{"switch_swdb.csv": string(net.CSV())})
	c.Ctl("feature:install --grant ctl-switch-all")
	until := func(what string, f func(open int, all map[string]trouble) bool) {
		t.Helper()
		harness.Within(t, what, func() bool { return f(listTroubles(t, c, admin)) })
	}
	none := func(open int, all map[string]trouble) bool { return open == 0 && len(all) == 0 }
	c.Ctl("switch:TopoDiscover")
	harness.Within(t, "the topology is published", func() bool {
		return strings.Contains(c.Do("GET", networks+"switch%3A1?content=nonconfig", admin, "").Body, "link-id")
	})
	until("nothing is wrong", none)

	if err := net.SetLink("sw1", "sw2", false); err != nil {
		t.Fatal(err)
	}
	c.Ctl("switch:TopoDiscover")
	until("the cut link is listed", func(open int, all map[string]trouble) bool { return open == 1 && all["link-lost"].ID != "" })
	_, all := listTroubles(t, c, admin)
	lost := all["link-lost"]
	if lost.Since == "" || lost.Remedy == "" || !strings.Contains(lost.Subject, "sw1") || !strings.Contains(lost.Subject, "sw2") {
		t.Errorf("the lost link: %+v", lost)
	}
	if open, all := listTroubles(t, c, "user:user"); open != 1 || len(all) != 1 {
		t.Errorf("another user sees: %d %v", open, all)
	}
	mark := `{"ctl-system:input":{"id":"` + lost.ID + `","note":"cable ordered"}}`
	if a := c.Do("POST", "/rests/operations/ctl-system:acknowledge-trouble", "user:user", mark); a.Status != 403 {
		t.Errorf("a user without a role acknowledges: %d %s", a.Status, a.Body)
	}
	if a := c.Do("POST", "/rests/operations/ctl-system:acknowledge-trouble", admin, mark); a.Status/100 != 2 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if out, code := ctl(t, c.Home, "--format", "json", "now"); code != 0 || !strings.Contains(out, "acknowledged by admin") {
		t.Errorf("ctl now: exit code %d\n%s", code, out)
	}

	c.Restart()
	until("it is listed after a restart, acknowledged", func(_ int, all map[string]trouble) bool {
		one := all["link-lost"]
		return one.ID == lost.ID && one.Since == lost.Since && one.Acknowledged != nil && strings.HasPrefix(one.Acknowledged.By, "admin@")
	})
	c.Ctl("plugin:stop switch")
	until("the stopped plugin is listed", func(open int, all map[string]trouble) bool {
		return open == 1 && all["plugin"].Subject == "plugin switch"
	})
	if out, code := ctl(t, c.Home, "now"); code != 1 || !strings.Contains(out, "ctl plugin:start switch") {
		t.Errorf("ctl now: exit code %d\n%s", code, out)
	}
	c.Ctl("plugin:start switch")
	if err := net.SetLink("sw1", "sw2", true); err != nil {
		t.Fatal(err)
	}
	c.Ctl("switch:TopoDiscover")
	until("all is over", none)
}

// A VLAN at one end of a link and a switch that has never answered are listed after a discovery, and end when they do.
func TestTroublesOfSwitches(t *testing.T) {
	net, err := lab.Start(lab.Options{Topology: "ring:3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(net.Close)
	c := harness.Start(t, bin, map[string]string{"switch_swdb.csv": string(net.CSV())})
	c.Ctl("feature:install --grant ctl-switch-all")
	var all map[string]trouble
	discovered := func(what string, f func() bool) {
		t.Helper()
		harness.Within(t, what, func() bool {
			c.Ctl("switch:TopoDiscover")
			_, all = listTroubles(t, c, admin)
			return f()
		})
	}
	discovered("nothing is wrong", func() bool { return len(all) == 0 })

	c.Ctl("switch:vlan-add sw1 77 --name half --tagged port1,port2")
	discovered("the VLAN is at one end", func() bool { return all["vlan-mismatch"].ID != "" })
	one := all["vlan-mismatch"]
	if !strings.Contains(one.Cause, "VLAN 77: sw1 ") || !strings.Contains(one.Subject, "sw1 port") || one.Remedy == "" {
		t.Errorf("the VLAN at one end: %+v", one)
	}
	c.Ctl("switch:vlan-del sw1 77")
	discovered("the VLAN is at no end", func() bool { return len(all) == 0 })

	silent, err := stdnet.ListenPacket("udp", "127.0.0.1:0") // it reads and answers nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	address := silent.LocalAddr().String()
	a := c.Do("POST", "/rests/operations/switch-db:add-switch-entry", admin, `{"input":{"node-ip":"`+address+`","node-mac":"02:00:00:00:09:09","community":"public"}}`)
	if a.Status/100 != 2 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	discovered("the silent switch is listed", func() bool { return all["switch-never-answered"].ID != "" })
	if one := all["switch-never-answered"]; !strings.Contains(one.Subject, address) || !strings.Contains(one.Cause, "never answered") {
		t.Errorf("the silent switch: %+v", one)
	}
	if a := c.Do("POST", "/rests/operations/switch-db:delete-switch-entry", admin, `{"input":{"node-ip":"`+address+`"}}`); a.Status/100 != 2 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	discovered("it is in the list no more", func() bool { return len(all) == 0 })
}
