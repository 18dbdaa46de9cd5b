// Command openflow measures the OpenFlow plugin of a running controller against a ring of Open
// vSwitch switches (test/labs/lab-ovs.sh): how long until a client sees all links, how soon a cut
// cable, and what that costs. README.md says how to run it.
package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"time"

	"ctl.internal/bench/rig"
)

func main() {
	bin := flag.String(
		"bin",
		"bin",
		"directory of ctld, ctl and plugins/, as `make build` fills it",
	)
	switches := flag.Int("switches", 200, "switches of the ring, 3 to 999")
	lab := flag.String("lab", "test/labs/lab-ovs.sh", "the lab's script")
	cuts := flag.Int("cuts", 20, "cables to cut")
	quiet := flag.Duration("quiet", 15*time.Second, "to watch the ring doing nothing")
	flag.Parse()
	rig.Main(func(ctx context.Context) error {
		return runComparison(ctx, *bin, *switches, *lab, *cuts, *quiet)
	})
}

func runComparison(
	ctx context.Context,
	bin string,
	switches int,
	script string,
	cuts int,
	quiet time.Duration,
) error {
	listen, err := rig.FreeAddress()
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "ofb")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	home := filepath.Join(tmp, "home")
	if err := rig.Write(
		home,
		map[string]string{"etc/openflow.yaml": "listen: " + listen + "\n"},
	); err != nil {
		return err
	}
	c, err := rig.Start(bin, home)
	if err != nil {
		return err
	}
	defer c.Stop()
	if _, err := c.Ctl(ctx, "feature:install ctl-restconf ctl-openflow"); err != nil {
		return err
	}
	l := &lab{
		script:     script,
		dir:        filepath.Join(tmp, "lab"),
		switches:   switches,
		controller: "tcp:" + listen,
	}
	defer func() { _ = l.runScript(context.Background(), "down") }()
	m := &measure{
		controller: c,
		plugin:     rig.ChildOf(c.PID, "openflow"),
		lab:        l,
		views:      make(chan view, 1024),
	}
	return m.measureAll(ctx, cuts, quiet)
}
