package model

import (
	"fmt"
	"strings"
	"testing"
)

// What is wrong with many routers and channels for one cause is one line, and what differs is another.
func TestCauses(t *testing.T) {
	var found []Finding
	for c := range 1000 {
		for r := range 51 {
			node := fmt.Sprint("r", (c+r)%1000)
			found = append(found, Finding{Topology: "t", Severity: "warning", Kind: "router", Place: node, Text: "pending: no router is mounted as " + node, Channel: fmt.Sprint("c", c)})
		}
	}
	for i := range 9 {
		node := fmt.Sprint("q", i)
		found = append(found, Finding{Topology: "t", Severity: "error", Kind: "router", Place: node,
			Text: fmt.Sprintf("unverified: the session is down since 2026-11-26T22:33:3%dZ: dial tcp 192.0.2.%d:830: connect: connection refused", i, i)})
	}
	found = append(found, Finding{Topology: "t", Severity: "error", Kind: "router", Place: "q1", Text: "failed: the disk is full", Channel: "c1"},
		Finding{Topology: "t", Severity: "error", Place: "channel c1", Text: "channel c2 has the same flow at the same ingress"},
		Finding{Topology: "t", Severity: "error", Place: "channel c2", Text: "channel c1 has the same flow at the same ingress"})
	var said []string
	for _, c := range Causes(found) {
		said = append(said, c.Severity+" "+c.Where+": "+c.Text)
	}
	want := []string{"warning 1000 routers: r0, r1, r2, r3, r4 and 995 more: pending: no router is mounted as r0 (1000 channels: c0, c1, c2, c3, c4 and 995 more)",
		"error 9 routers: q0, q1, q2, q3, q4 and 4 more: unverified: the session is down since 2026-11-26T22:33:30Z: dial tcp 192.0.2.0:830: connect: connection refused",
		"error router q1: failed: the disk is full (1 channel: c1)",
		"error channel c1: channel c2 has the same flow at the same ingress",
		"error channel c2: channel c1 has the same flow at the same ingress"}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
}
