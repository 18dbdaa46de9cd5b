package e2e

import (
	"fmt"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

const networks = "/rests/data/network-topology:network-topology/topology="

// What was acknowledged to a client is there for everything that is made of it.
func TestDerivedDataIncludeWhatWasAcknowledged(t *testing.T) {
	c := start(t, harness.NewHome(t))
	c.Ctl("feature:install ctl-bier-all")
	for i := range 150 {
		id := fmt.Sprintf("t%d", i)
		body := fmt.Sprintf(`{"network-topology:topology":[{"topology-id":%q,"node":[{"node-id":"r1"}]}]}`, id)
		if a := c.Do("PUT", networks+id, admin, body); a.Status != 201 {
			t.Fatalf("%s: %d %s", id, a.Status, a.Body)
		}
		if status, answer, err := c.Call("bier-topology-api:configure-domain", fmt.Sprintf(`{"input":{"topology-id":%q,"domain":[1]}}`, id)); err != nil || status != 200 || !strings.Contains(answer, "SUCCESS") {
			t.Fatalf("%s was written: %d %s %v", id, status, answer, err)
		}
	}
	tree := "/rests/data/bier-topology:bier-network-topology/bier-topology=t7"
	if a := c.Do("GET", tree+"/bier-node=r1", admin, ""); a.Status != 200 {
		t.Errorf("the node of a BIER topology: %d %s", a.Status, a.Body)
	}
	if a := c.Do("DELETE", networks+"t7/node=r1", admin, ""); a.Status != 204 {
		t.Errorf("DELETE of a node: %d %s", a.Status, a.Body)
	}
	if a := c.Do("GET", tree+"/bier-node=r1", admin, ""); a.Status != 404 {
		t.Errorf("the node was deleted, the BIER topology has it: %d %s", a.Status, a.Body)
	}
}

// A list that was written in parts goes at once.
func TestListOf30000EntriesIsDeleted(t *testing.T) {
	c := start(t, harness.NewHome(t))
	if a := c.Do("PUT", networks+"big", admin, `{"network-topology:topology":[{"topology-id":"big"}]}`); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	const all, part = 30000, 3000
	for i := 0; i < all; i += part {
		var b strings.Builder
		for j := range part {
			fmt.Fprintf(&b, `%s{"node-id":"n%d"}`, map[bool]string{true: ","}[j > 0], i+j)
		}
		if a := c.Do("PATCH", networks+"big", admin, `{"network-topology:topology":[{"topology-id":"big","node":[`+b.String()+`]}]}`); a.Status != 204 {
			t.Fatalf("after %d: %d %s", i, a.Status, a.Body)
		}
	}
	if a := c.Do("DELETE", networks+"big/node", admin, ""); a.Status != 204 {
		t.Fatalf("DELETE: %d %s", a.Status, a.Body)
	}
	if a := c.Do("GET", networks+"big/node", admin, ""); a.Status != 404 {
		t.Errorf("after the DELETE: %d, %d bytes", a.Status, len(a.Body))
	}
	c.Restart()
	if a := c.Do("GET", networks+"big/node", admin, ""); a.Status != 404 {
		t.Errorf("after a restart: %d, %d bytes", a.Status, len(a.Body))
	}
}
