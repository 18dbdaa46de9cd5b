//go:build peers

package openflowpeers

import (
	"strings"
	"testing"
)

// rpc calls an RPC as a REST client does and returns the answer's body.
func (c *controller) rpc(name, input string) string {
	c.t.Helper()
	_, body, err := c.Call(name, input)
	if err != nil {
		c.t.Fatal(err)
	}
	return body
}

// The BIER topology is built from what OpenFlow discovers, under the names the BIER
// documents use, and a domain is configured on it.
func TestBIERTopologyOfOpenFlow(t *testing.T) {
	listen := freePort(t)
	r := newRing(t, 4, "tcp:"+listen)
	c := newController(t, listen)
	c.Ctl("feature:install ctl-openflow ctl-bier-topomanager-rest")
	r.lab("up")
	c.until("after the start", r.want())
	const node = `{"node-id":"3"}`
	patiently(t, "a BIER topology that is the ring's", func() bool {
		topology := c.rpc("bier-topology-api:query-topology", `{"input":{"topology-id":"flow:1"}}`)
		return strings.Contains(topology, node) && strings.Count(topology, `"link-id":"`) >= 8
	})
	for _, k := range []struct{ rpc, input, want string }{
		{"configure-domain", `{"input":{"topo-id":"flow:1","domain":[{"domain-id":"1"}]}}`, `"result":"SUCCESS"`},
		{"query-domain", `{"input":{"topo-id":"flow:1"}}`, `{"output":{"domain":[{"domain-id":1}]}}`},
		{"configure-node", `{"input":{"topology-id":"flow:1","node-id":"3","domain":[{"domain-id":"1","bier-global":{"encapsulation-type":"bier-encapsulation-mpls",` +
			`"bitstringlength":"256-bit","bfr-id":"3","ipv4-bfr-prefix":"10.0.0.3/32","sub-domain":[{"sub-domain-id":"0","igp-type":"OSPF","mt-id":"0","bfr-id":"3",` +
			`"bitstringlength":"256-bit","af":{"ipv4":[{"bitstringlength":"256","bier-mpls-label-base":"1000","bier-mpls-label-range-size":"4"}]}}]}}]}}`, `"result":"SUCCESS"`},
		{"query-subdomain-node", `{"input":{"topology-id":"flow:1","domain-id":"1","sub-domain-id":"0"}}`, `"node-id":"3"`},
	} {
		if got := c.rpc("bier-topology-api:"+k.rpc, k.input); !strings.Contains(got, k.want) {
			t.Errorf("%s answered %s, want %s", k.rpc, got, k.want)
		}
	}
}
