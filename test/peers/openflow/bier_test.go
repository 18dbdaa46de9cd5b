//go:build peers

package openflowpeers

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rpc calls an RPC as a REST client does and returns the answer's body.
func (c *controller) rpc(ctx context.Context, name, input string) string {
	c.t.Helper()
	addr, err := os.ReadFile(filepath.Join(c.home, "data", "run", "http.addr"))
	if err != nil {
		c.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+strings.TrimSpace(string(addr))+"/restconf/operations/"+name, strings.NewReader(input))
	if err != nil {
		c.t.Fatal(err)
	}
	req.SetBasicAuth("admin", "admin")
	req.Header.Set("Content-Type", "application/json")
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(body)
}

// The BIER topology is built from what OpenFlow discovers, under the names the BIER
// documents use, and a domain is configured on it.
func TestBIERTopologyOfOpenFlow(t *testing.T) {
	listen := freePort(t)
	r := newRing(t, 4, "tcp:"+listen)
	c := newController(t, "./plugins/openflow", "./plugins/bier-topomanager")
	if err := os.WriteFile(filepath.Join(c.home, "etc", "openflow.yaml"), []byte("listen: "+listen+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.ctl("feature:install ctl-openflow ctl-bier-topomanager-rest")
	r.lab("up")
	c.until("after the start", r.want())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const node = `{"node-id":"3"}`
	for topology := ""; !strings.Contains(topology, node) || strings.Count(topology, `"link-id":"`) < 8; {
		if ctx.Err() != nil {
			t.Fatalf("the BIER topology is not that of the ring: %s", topology)
		}
		topology = c.rpc(ctx, "bier-topology-api:query-topology", `{"input":{"topology-id":"flow:1"}}`)
	}
	for _, k := range []struct{ rpc, input, want string }{
		{"configure-domain", `{"input":{"topo-id":"flow:1","domain":[{"domain-id":"1"}]}}`, `"result":"SUCCESS"`},
		{"query-domain", `{"input":{"topo-id":"flow:1"}}`, `{"output":{"domain":[{"domain-id":1}]}}`},
		{"configure-node", `{"input":{"topology-id":"flow:1","node-id":"3","domain":[{"domain-id":"1","bier-global":{"encapsulation-type":"bier-encapsulation-mpls",` +
			`"bitstringlength":"256-bit","bfr-id":"3","ipv4-bfr-prefix":"10.0.0.3/32","sub-domain":[{"sub-domain-id":"0","igp-type":"OSPF","mt-id":"0","bfr-id":"3",` +
			`"bitstringlength":"256-bit","af":{"ipv4":[{"bitstringlength":"256","bier-mpls-label-base":"1000","bier-mpls-label-range-size":"4"}]}}]}}]}}`, `"result":"SUCCESS"`},
		{"query-subdomain-node", `{"input":{"topology-id":"flow:1","domain-id":"1","sub-domain-id":"0"}}`, `"node-id":"3"`},
	} {
		if got := c.rpc(ctx, "bier-topology-api:"+k.rpc, k.input); !strings.Contains(got, k.want) {
			t.Errorf("%s answered %s, want %s", k.rpc, got, k.want)
		}
	}
}
