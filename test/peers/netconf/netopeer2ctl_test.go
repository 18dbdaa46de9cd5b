//go:build peers

package netconfpeers

import (
	"fmt"
	"strings"
	"testing"
)

const (
	nsEx        = "urn:ietf:params:xml:ns:yang:ietf-routing-ex"
	nsBier      = "urn:ietf:params:xml:ns:yang:ietf-bier"
	nsMulticast = "urn:ietf:params:xml:ns:yang:ietf-multicast-information"
)

// has waits until the router's own tool shows all of these, and none that begins with !.
func (c *controller) has(n *netopeer2, parts ...string) {
	c.t.Helper()
	c.until(fmt.Sprintf("the router holds %q", parts), func() string {
		held := n.holds()
		for _, p := range parts {
			p, not := strings.CutPrefix(p, "!")
			if strings.Contains(held, p) == not {
				return held
			}
		}
		return ""
	})
}

// A netopeer2 is a router of a real controller: what is deployed is seen with the
// router's own tools, what others change is repaired, what it tells is passed on.
func TestNetopeer2UnderController(t *testing.T) {
	n := newNetopeer2(t)
	c := newController(t, nil, "bier-driver-ietf")
	c.mount("r1", n.to, "")
	c.is("r1", "applied", `"driver":"bier-driver-ietf"`)
	c.has(n, "<bfr-id>1</bfr-id>", "<ipv4-bfr-prefix>2.2.2.1/32</ipv4-bfr-prefix>", "<bier-mpls-label-base>1000</bier-mpls-label-base>")
	c.logged("is trusted because it is the first it showed")

	answer := c.deploy("tv", "232.0.0.1", "r1", "r2", "r3")
	if want := `"node-id":"r2","role":"egress","state":"pending"`; !strings.Contains(answer, want) {
		t.Errorf("deploying answered %s, want %s", answer, want)
	}
	c.is("r1", "applied")
	c.has(n, "<group-address>232.0.0.1</group-address>", "<ingress-node>1</ingress-node>", "<egress-node>2</egress-node>", "<egress-node>3</egress-node>")
	c.redeploy("tv", "r1", "r3")
	c.has(n, "<egress-node>3</egress-node>", "!<egress-node>2</egress-node>")

	n.edit(`<routing xmlns="` + nsEx + `"><bier xmlns="` + nsBier + `"><bier-global><bfr-id>99</bfr-id></bier-global></bier></routing>`)
	c.logged("somebody else")
	c.has(n, "<bfr-id>1</bfr-id>", "!<bfr-id>99</bfr-id>")
	n.edit(`<multicast-information xmlns="` + nsMulticast + `" xmlns:nc="urn:ietf:params:xml:ns:netconf:base:1.0" nc:operation="remove"/>`)
	c.has(n, "<group-address>232.0.0.1</group-address>", "<egress-node>3</egress-node>")

	n.notify(`<bfr-id-collision xmlns="` + nsBier + `"><bfr-id>7</bfr-id></bfr-id-collision>`)
	c.logged("bfr-id-collision: another router has the bfr-id 7 too")
	n.notify(`<sub-domain-id-collision xmlns="` + nsBier + `"><sub-domain-id>5</sub-domain-id><mt-id>2</mt-id></sub-domain-id-collision>`)
	c.logged("sub-domain 5 is in use with mt-id 2")
	n.notify(`<bfr-zero xmlns="` + nsBier + `"><ipv4-bfr-prefix>192.0.2.9/32</ipv4-bfr-prefix></bfr-zero>`)
	c.logged("announces the bfr-id 0 with 192.0.2.9/32")
	c.is("r1", "applied")

	c.refused(n)
	c.killed(n)
}

// refused is a router that does not let us in, and one that is another than it was.
func (c *controller) refused(n *netopeer2) {
	c.t.Helper()
	wrong := n.to
	wrong.Password = "wrong"
	c.mount("r1", wrong, "")
	if shown := c.is("r1", "failed", "the router refuses the user", "root"); strings.Contains(shown, "wrong") {
		c.t.Errorf("a password is shown: %s", shown)
	}
	c.mount("r1", n.to, `,"host-key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBJmAFEcE0gAMjCrKV7YiTkR8mWWT0fxXAyp2kYNwxSC"`)
	c.is("r1", "failed", "another host key", "set its host key again")
	c.mount("r1", n.to, "")
	c.is("r1", "applied")
}

// killed takes the router away in the middle of deployments, as kill -9 does, and
// brings it back: what was deployed meanwhile arrives.
func (c *controller) killed(n *netopeer2) {
	c.t.Helper()
	var want []string
	for i := range 6 {
		if i == 3 {
			n.kill()
		}
		group := fmt.Sprintf("232.0.1.%d", i+1)
		want = append(want, "<group-address>"+group+"</group-address>")
		answer := c.deploy(fmt.Sprintf("c%d", i), group, "r1", "r2")
		if i < 3 {
			c.is("r1", "applied")
		} else if want := `"node-id":"r1","role":"ingress","state":"pending"`; !strings.Contains(answer, want) {
			c.t.Errorf("deployment %d: %s, want %s", i, answer, want)
		}
	}
	n.start()
	c.has(n, want...)
	c.is("r1", "applied")
}
