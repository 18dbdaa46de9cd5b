package labctl_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

func TestRouters(t *testing.T) {
	dir := t.TempDir()
	file, sock := filepath.Join(dir, "routers.json"), filepath.Join(dir, "sock")
	line, end, wait := lab(t, nil, "routers", "--netconf", "1", "--rfc8349", "1", "--cli", "1", "--list", file, "--control", sock)
	if line != "ready 3 routers" {
		t.Errorf("ready line %q", line)
	}
	var list []struct {
		Name, Kind, Host, User, Password string
		Port                             int
		HostKey                          string `json:"host-key"`
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil || len(list) != 3 || list[0].Kind != "netconf" || list[1].Kind != "rfc8349" || list[2].Kind != "cli" {
		t.Fatalf("list %s, %v", text, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r := list[0]
	s, err := netconf.Dial(ctx, netconf.Target{Host: r.Host, Port: r.Port, User: r.User, Password: r.Password, HostKey: r.HostKey})
	if err != nil {
		t.Fatal(err)
	}
	b := simrouter.NSBier
	config := xmltree.New(simrouter.NSRoutingEx, "routing", xmltree.New(b, "bier", xmltree.New(b, "bier-global", xmltree.Leaf(b, "bfr-id", "7"))))
	if err := s.OK(ctx, netconf.Edit{Target: netconf.Running, Config: []*xmltree.Node{config}}.Operation()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want, err string }{
		{"router list", `"asked":{"edit-config":1}`, ""},
		{"router config r1", "    bier-global\n      bfr-id 7\n", ""},
		{"router config r3", "hostname lab", ""},
		{"router config r9", "", "r1 to r3"},
		{"router wipe r1", "", ""},
		{"router wipe r3", "", ""},
		{"router refuse r1 commit", "", ""},
		{"router refuse r3 commit", "", "no NETCONF"},
		{"router refuse r1 none", "", ""},
		{"router collision r1 7", "", ""},
		{"router collision r1 70000", "", "bfr-id"},
		{"router power r1 off", "", ""},
		{"router power r1 on", "", ""},
		{"router power r2 drop", "", ""},
		{"router power r3 new-key", "", ""},
		{"router power r1 sideways", "", "belongs here"},
	} {
		out, err := say(append(strings.Fields(c.args), "--control", sock)...)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) || !strings.Contains(out, c.want) {
			t.Errorf("%s: %s, %v", c.args, out, err)
		}
	}
	if out, err := say("router", "config", "r1", "--control", sock); err != nil || strings.Contains(out, "bfr-id") {
		t.Errorf("wiped, the router holds %s, %v", out, err)
	}
	if <-s.Done(); s.Err() == nil {
		t.Error("a session outlives its router")
	}
	end()
	if err := wait(); err != nil {
		t.Error(err)
	}
	for args, want := range map[string]string{
		"routers --netconf 0":           "routers belong here",
		"routers --listen 192.0.2.1":    "loopback",
		"routers --leave wings":         "belongs here",
		"routers --list /nonexistent/x": "--list",
	} {
		if _, err := say(strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ctl-lab %s: error %v, want one with %q", args, err, want)
		}
	}
}
