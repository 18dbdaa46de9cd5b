//go:build peers

package openflowpeers

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// size is how many switches the ring has: few for every day, more by OPENFLOW_RING.
func size(t *testing.T) int {
	t.Helper()
	if s := os.Getenv("OPENFLOW_RING"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 20
}

// All switches, all links, none invented; a cut cable is gone and comes back.
func TestRing(t *testing.T) {
	listen := freePort(t)
	r := newRing(t, size(t), "tcp:"+listen)
	p := plugin(t, listen, nil)
	start := time.Now()
	r.lab("up")
	up := time.Now()
	v := follow(t, p, r, r.complete())
	t.Logf("%d switches, %d links; the lab took %s to start, and %s more passed", len(v.Nodes), len(v.Links), up.Sub(start), time.Since(up))
	if n := len(v.Nodes["openflow:1"].TPs); n != 3 {
		t.Errorf("openflow:1 has %d termination points, want 1, 2 and LOCAL: %v", n, v.Nodes["openflow:1"].TPs)
	}
	cutTime := time.Now()
	r.lab("link", "1", "down")
	follow(t, p, r, r.complete(1))
	t.Logf("cut cable seen %s after the command was begun", time.Since(cutTime))
	r.lab("link", "1", "up")
	follow(t, p, r, r.complete())
}
