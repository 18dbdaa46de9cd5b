package bier

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	success        = `{"configure-result":{"result":"SUCCESS"}}`
	channelSuccess = `{"configure-result":{"result":"SUCCESS","errorCause":""}`
)

// times are members of an answer that are different each time.
var times = regexp.MustCompile(`,\n *"(since|intended|sent|confirmed|session|session-since)": "[^"]*"`)

// transcript sends calls and keeps what was said.
type transcript struct {
	*lab
	text bytes.Buffer
}

func (x *transcript) call(rpc, body string) string {
	x.t.Helper()
	out, err := x.post(rpc, body)
	if err != nil {
		out = `{"error":` + fmt.Sprintf("%q", err.Error()) + `}`
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(out), "", " "); err != nil {
		x.t.Fatalf("%s: %v: %s", rpc, err, out)
	}
	fmt.Fprintf(&x.text, "POST %s\n%s\n%s\n\n", rpc, body, times.ReplaceAllString(pretty.String(), ""))
	return out
}

func (x *transcript) routersHold() {
	x.must("bier-service-api:reconcile", `{"input":{"wait":10000}}`)
	for _, id := range x.routers.IDs() {
		c := x.routers.Config(id)
		fmt.Fprintf(&x.text, "ROUTER %s\n", id)
		if g := c.Global; g != nil {
			fmt.Fprintf(&x.text, " bsl %d bfr-id %d %s %s\n", g.Bitstringlength, g.BfrId, g.Ipv4BfrPrefix, g.Ipv6BfrPrefix)
			for _, s := range g.SubDomains {
				fmt.Fprintf(&x.text, "  sub-domain %d %s mt %d bfr-id %d\n", s.SubDomainId, s.IgpType, s.MtId, s.BfrId)
				for _, e := range s.Ipv4 {
					fmt.Fprintf(&x.text, "   ipv4 bsl %d labels %d+%d\n", e.Bitstringlength, e.BierMplsLabelBase, e.BierMplsLabelRangeSize)
				}
				for _, e := range s.Ipv6 {
					fmt.Fprintf(&x.text, "   ipv6 bsl %d labels %d+%d\n", e.Bitstringlength, e.BierMplsLabelBase, e.BierMplsLabelRangeSize)
				}
			}
		}
		for _, m := range c.Channels {
			fmt.Fprintf(&x.text, " flow %s/%d %s/%d sub-domain %d ingress %d egress %v\n", m.SourceAddress, m.SourceWildcard, m.GroupAddress, m.GroupWildcard, m.SubDomain, m.IngressBfrId, m.EgressBfrIds)
		}
	}
	x.text.WriteByte('\n')
}

func node(id, domain, sub, bfr, base4, base6 int, igp string) string {
	return fmt.Sprintf(`{"input":{"topology-id":"flow:1","node-id":"%d","domain":[{"domain-id":"%d","bier-global":{"encapsulation-type":"ietf-bier:bier-encapsulation-mpls",
 "bitstringlength":"256-bit","bfr-id":"%d","ipv4-bfr-prefix":"192.168.%d.1/32","ipv6-bfr-prefix":"fe80::%d/128",
 "sub-domain":[{"sub-domain-id":"%d","igp-type":"%s","mt-id":"0","bfr-id":"%d","bitstringlength":"256-bit","af":{
  "ipv4":[{"bitstringlength":"256","bier-mpls-label-base":"%d","bier-mpls-label-range-size":"4"}],
  "ipv6":[{"bitstringlength":"64","bier-mpls-label-base":"%d","bier-mpls-label-range-size":"4"}]}}]}}]}}`, id, domain, bfr, id, id, sub, igp, bfr, base4, base6)
}

// TestOrderOfTheSystemTest goes the way of the upstream system test.
func TestOrderOfTheSystemTest(t *testing.T) {
	x := &transcript{lab: newLab(t)}
	x.network()
	for i := 1; i <= 7; i++ {
		x.must("bier-service-api:mount-router", fmt.Sprintf(`{"input":{"node-id":"%d","host":"192.0.2.%d","username":"u","password":"p"}}`, i, i))
	}
	const api, ch = "bier-topology-api:", "bier-channel-api:"
	x.call(api+"load-topology", ``)
	x.call(api+"query-topology", `{"input":{"topology-id":"flow:1"}}`)
	x.call(api+"query-node", `{"input":{"topology-id":"flow:1","node":["1","9"]}}`)
	x.call(api+"query-link", `{"input":{"topology-id":"flow:1","link":["1:1"]}}`)
	x.call(api+"query-domain", `{"input":{"topology-id":"flow:1"}}`)
	x.call(api+"configure-domain", `{"input":{"topology-id":"flow:1","domain":[1,2]}}`)
	x.call(api+"configure-domain", `{"input":{"topology-id":"flow:1","domain":[3,2]}}`)
	x.call(api+"query-domain", `{"input":{"topology-id":"flow:1"}}`)
	x.call(api+"configure-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain":[1,2,3,4]}}`)
	x.call(api+"query-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1}}`)
	for i := 1; i <= 4; i++ {
		x.call(api+"configure-node", node(i, 1, 1, i, 1, 5, "ISIS"))
	}
	x.call(api+"configure-node", node(2, 1, 2, 12, 9, 13, "ISIS"))
	x.call(api+"configure-node", `{"input":{"topology-id":"flow:1","node-id":"1","domain":[{"domain-id":1,"bier-global":{"sub-domain":[{"sub-domain-id":1,"af":{"ipv4":[{"bitstringlength":64,"bier-mpls-label-base":17,"bier-mpls-label-range-size":4}]}}]}}]}}`)
	x.call(api+"query-subdomain-node", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":2}}`)
	x.call(api+"query-subdomain-link", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":1}}`)
	x.call(api+"configure-node", node(5, 1, 1, 4, 1, 5, "ISIS")) // bfr-id of node 4
	x.call(api+"configure-node", `{"input":{"topology-id":"flow:1","node-id":"4","domain":[{"domain-id":1,"bier-global":{"bitstringlength":"128-bit","bfr-id":44,"sub-domain":[{"sub-domain-id":1,"igp-type":"OSPF","mt-id":1}]}}]}}`)
	x.call(api+"delete-ipv4", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":1,"node-id":"1","ipv4":{"bitstringlength":64,"bier-mpls-label-base":17,"bier-mpls-label-range-size":4}}}`)
	x.call(api+"delete-ipv6", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":1,"node-id":"1","ipv6":{"bitstringlength":64,"bier-mpls-label-base":6}}}`)
	x.call(api+"delete-node", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":2,"node-id":"2"}}`)
	for i, group := range []string{"224.1.1.1", "225.1.1.1"} {
		x.call(ch+"add-channel", fmt.Sprintf(`{"input":{"topology-id":"flow:1","name":"channel%d","src-ip":"1.1.1.1","dst-group":"%s","domain-id":1,"sub-domain-id":1,"source-wildcard":24,"group-wildcard":30}}`, i+1, group))
	}
	x.call(ch+"get-channel", `{"input":{"topology-id":"flow:1"}}`)
	x.call(ch+"modify-channel", `{"input":{"topology-id":"flow:1","name":"channel1","src-ip":"2.2.2.2"}}`)
	x.call(ch+"query-channel", `{"input":{"topology-id":"flow:1","channel-name":["channel1","channel2","channel3"]}}`)
	x.call(ch+"deploy-channel", `{"input":{"topology-id":"flow:1","channel-name":"channel1","ingress-node":"1","egress-node":[{"node-id":"2"},{"node-id":"3"}]}}`)
	x.routersHold()
	x.call(ch+"modify-channel", `{"input":{"topology-id":"flow:1","name":"channel1","src-ip":"3.3.3.3"}}`)
	x.call(api+"delete-node", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":1,"node-id":"2"}}`)
	x.call(ch+"deploy-channel", `{"input":{"topology-id":"flow:1","channel-name":"channel1","ingress-node":"2","egress-node":[{"node-id":"1"},{"node-id":"3"}]}}`)
	x.call(ch+"query-channel", `{"input":{"topology-id":"flow:1","channel-name":["channel1"]}}`)
	x.routersHold()
	x.call(ch+"remove-channel", `{"input":{"topology-id":"flow:1","channel-name":"channel1"}}`)
	x.call(ch+"remove-channel", `{"input":{"topology-id":"flow:1","channel-name":"channel1"}}`)
	x.call(api+"delete-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":0}}`)
	x.call(api+"delete-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":4}}`)
	x.call(api+"delete-domain", `{"input":{"topology-id":"flow:1","domain-id":1}}`)
	x.must("bier-service-api:reconcile", `{"input":{"wait":10000}}`)
	x.routersHold()
	golden(t, "system-test.txt", x.text.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = "testdata/" + name
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); d != "" {
		t.Errorf("%s (go test -update accepts it):\n%s", name, d)
	}
}
