package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

// TestSequenceOfUpstreamsSuite goes the way of upstream's own system test of BIER, case by
// case, over HTTP, without traffic engineering. Answers are those that the suite compares
// with, except:
//   - each node has BFR-prefixes of its own; the suite gives all nodes the same;
//   - domains have sub-domain 0 from the beginning;
//   - deploy-channel and remove-channel answer the state of the routers, too, and so does
//     query-channel for a channel that is deployed;
//   - bfr-id and label ranges that are not right for every router are warned of in the log.
func TestSequenceOfUpstreamsSuite(t *testing.T) {
	c := start(t, harness.NewHome(t))
	c.Ctl("feature:install ctl-bier-topomanager-rest ctl-bier-topomanager-cli ctl-bier-channel-rest ctl-bier-service-cli")
	topology := "topology-id: 'flow:1'\nnode: ["
	for i := 1; i <= 7; i++ {
		topology += fmt.Sprintf("{node-id: 'openflow:%d'}, ", i)
	}
	topology = strings.TrimSuffix(topology, ", ") + "]\nlink:\n"
	for _, l := range []string{"1:1 2:3", "1:2 5:3", "2:1 3:3", "2:2 4:3", "5:1 6:3", "5:2 7:3"} {
		for _, x := range [][2]string{{l[:3], l[4:]}, {l[4:], l[:3]}} {
			topology += fmt.Sprintf("- {link-id: 'openflow:%s', source: {source-node: 'openflow:%s', source-tp: 'openflow:%s'}, destination: {dest-node: 'openflow:%s', dest-tp: 'openflow:%s'}}\n", x[0], x[0][:1], x[0], x[1][:1], x[1])
		}
	}
	file := filepath.Join(t.TempDir(), "topology.yaml")
	if err := os.WriteFile(file, []byte(topology), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Ctl("bier:topo-import " + file)

	const done, channelDone = `{"output":{"configure-result":{"result":"SUCCESS"}}}`, `"configure-result":{"result":"SUCCESS","errorCause":""}`
	node := func(id int, length string, bfr int, sub, subBFR int, igp string, mt, base, base6, size int) string {
		return fmt.Sprintf(`"topology-id":"flow:1","node-id":"%d","domain":[{"domain-id":"1","bier-global":{"encapsulation-type":"ietf-bier:bier-encapsulation-mpls","bitstringlength":%q,"bfr-id":"%d",`+
			`"ipv4-bfr-prefix":"192.168.%d.1/24","ipv6-bfr-prefix":"1030:0:0:%d::1/60","sub-domain":[{"sub-domain-id":"%d","igp-type":%q,"mt-id":"%d","bfr-id":"%d","bitstringlength":"256-bit",`+
			`"af":{"ipv4":[{"bitstringlength":"256","bier-mpls-label-base":"%d","bier-mpls-label-range-size":"%d"}],"ipv6":[{"bitstringlength":"64","bier-mpls-label-base":"%d","bier-mpls-label-range-size":"4"}]}}]}}]`,
			id, length, bfr, id, 16*id, sub, igp, mt, subBFR, base, size, base6)
	}
	type step struct{ rpc, input, want string } // want: the whole answer when it begins with {"output", else a part
	var steps []step
	do := func(rpc, input string, want string) { steps = append(steps, step{rpc, input, want}) }
	four := func(f func(i int) string) {
		for i := 1; i <= 4; i++ {
			do("bier-topology-api:configure-node", f(i), done)
		}
	}
	const topo, channel = "bier-topology-api:", "bier-channel-api:"
	of := `"topology-id":"flow:1"`
	do(topo+"load-topology", "", `{"output":{"topology":[{"topology-id":"flow:1"}]}}`)
	do(topo+"query-topology", of, `"topology-id":"flow:1","node-id":[{"node-id":"1"},{"node-id":"2"},{"node-id":"3"},{"node-id":"4"},{"node-id":"5"},{"node-id":"6"},{"node-id":"7"}]`)
	do(topo+"query-node", of+`,"node":["1"]`, `"bier-node-params":{}`)
	do(topo+"query-link", of+`,"link":["1:1"]`, `"link-source":{"source-node":"1","source-tp":"1:1"},"link-dest":{"dest-node":"2","dest-tp":"2:3"}`)
	do(topo+"configure-domain", of+`,"domain":["1"]`, done)
	do(topo+"query-domain", of, `{"output":{"domain":[{"domain-id":1}]}}`)
	do(topo+"delete-domain", of+`,"domain-id":"1"`, done)
	do(topo+"configure-domain", of+`,"domain":["1"]`, done)
	do(topo+"configure-subdomain", of+`,"domain-id":"1","sub-domain":["1","2","3","4"]`, done)
	do(topo+"query-subdomain", of+`,"domain-id":"1"`, `{"output":{"subdomain":[{"sub-domain-id":0},{"sub-domain-id":1},{"sub-domain-id":2},{"sub-domain-id":3},{"sub-domain-id":4}]}}`)
	do(topo+"delete-subdomain", of+`,"domain-id":"1","sub-domain-id":"4"`, done)
	four(func(i int) string { return node(i, "256-bit", i, 1, i, "ISIS", 0, 1, 5, 4) })
	do(topo+"query-node", of+`,"node":["4"]`, `"bfr-id":4`)
	four(func(i int) string { return node(i, "256-bit", i, 2, i, "ISIS", 0, 9, 13, 4) })
	do(topo+"query-subdomain-node", of+`,"domain-id":"1","sub-domain-id":"2"`, `"node-id":"4"`)
	do(topo+"query-subdomain-link", of+`,"domain-id":"1","sub-domain-id":"1"`, `"link-id":"2:1"`)
	four(func(i int) string {
		return fmt.Sprintf(`%s,"node-id":"%d","domain":[{"domain-id":"1","bier-global":{"sub-domain":[{"sub-domain-id":"1","af":{"ipv4":[{"bitstringlength":"64","bier-mpls-label-base":"17","bier-mpls-label-range-size":"6"}]}}]}}]`, of, i)
	})
	do(topo+"query-node", of+`,"node":["1"]`, `"bier-mpls-label-base":17`)
	four(func(i int) string { return node(i, "128-bit", 4+i, 1, i, "ISIS", 0, 1, 5, 4) })
	do(topo+"query-node", of+`,"node":["4"]`, `"bitstringlength":"128-bit","bfr-id":8`)
	four(func(i int) string { return node(i, "128-bit", 4+i, 1, i, "OSPF", 1, 1, 5, 4) })
	do(topo+"query-node", of+`,"node":["2"]`, `"igp-type":"OSPF","mt-id":1`)
	four(func(i int) string { return node(i, "128-bit", 4+i, 1, i, "OSPF", 1, 1, 5, 3) })
	do(topo+"query-node", of+`,"node":["3"]`, `"bier-mpls-label-range-size":3`)
	do(topo+"delete-ipv4", of+`,"domain-id":"1","sub-domain-id":"1","node-id":"4","ipv4":{"bitstringlength":"64","bier-mpls-label-base":"17","bier-mpls-label-range-size":"6"}`, done)
	do(topo+"delete-node", of+`,"domain-id":"1","sub-domain-id":"1","node-id":"4"`, done)
	for i, group := range []string{"224.1.1.1", "225.1.1.1"} {
		do(channel+"add-channel", fmt.Sprintf(`%s,"name":"channel-%d","src-ip":"%d.1.1.1","dst-group":%q,"domain-id":"1","sub-domain-id":"1","source-wildcard":"24","group-wildcard":"30"`, of, i+1, i+1, group), `{"output":{`+channelDone+`}}`)
	}
	do(channel+"get-channel", of, `{"output":{"channel-name":[{"name":"channel-1"},{"name":"channel-2"}]}}`)
	do(channel+"modify-channel", of+`,"name":"channel-1","src-ip":"3.3.3.3","dst-group":"226.1.1.1","domain-id":"1","sub-domain-id":"1","source-wildcard":"24","group-wildcard":"30"`, `{"output":{`+channelDone+`}}`)
	do(channel+"query-channel", of+`,"channel-name":["channel-1"]`, `"src-ip":"3.3.3.3","dst-group":"226.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":24,"group-wildcard":30`)
	do(channel+"deploy-channel", of+`,"channel-name":"channel-1","bier-forwarding-type":"bier","ingress-node":"1","egress-node":[{"node-id":"2"},{"node-id":"3"}]`, channelDone)
	do(channel+"query-channel", of+`,"channel-name":["channel-1"]`, `"ingress-node":"1","egress-node":[{"node-id":"2"},{"node-id":"3"}]`)
	do(channel+"query-channel", of+`,"channel-name":["channel-1"]`, `"bier-forwarding-type":"bier"`)
	do(channel+"deploy-channel", of+`,"channel-name":"channel-1","bier-forwarding-type":"bier","ingress-node":"2","egress-node":[{"node-id":"1"},{"node-id":"3"}]`, channelDone)
	do(channel+"query-channel", of+`,"channel-name":["channel-1"]`, `"ingress-node":"2","egress-node":[{"node-id":"1"},{"node-id":"3"}]`)
	do(channel+"remove-channel", of+`,"channel-name":"channel-1"`, channelDone)
	do(channel+"remove-channel", of+`,"channel-name":"channel-2"`, channelDone)
	do(channel+"get-channel", of, `{"output":{}}`)
	for i := 1; i <= 3; i++ {
		do(topo+"delete-node", fmt.Sprintf(`%s,"domain-id":"1","sub-domain-id":"1","node-id":"%d"`, of, i), done)
	}
	for i := 1; i <= 4; i++ {
		do(topo+"delete-node", fmt.Sprintf(`%s,"domain-id":"1","sub-domain-id":"2","node-id":"%d"`, of, i), done)
	}
	do(topo+"delete-domain", of+`,"domain-id":"1"`, done)
	for _, s := range steps {
		body := ""
		if s.input != "" {
			body = `{"input":{` + s.input + `}}`
		}
		a := c.Do("POST", "/restconf/operations/"+s.rpc, "admin:admin", body)
		if got := strings.TrimSpace(a.Body); a.Status != 200 || strings.HasPrefix(s.want, `{"output"`) && got != s.want || !strings.Contains(got, s.want) {
			t.Errorf("%s %s\nanswers %d %s\nwant %s", s.rpc, body, a.Status, got, s.want)
		}
	}
}
