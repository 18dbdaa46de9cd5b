package bier

import (
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

// Bodies as the documents have them: other names, objects for numbers, numbers as
// strings, stray blanks, trailing commas, keys without quotes, single quotes.
func TestDocumentedBodiesAreAccepted(t *testing.T) {
	l := newLab(t)
	l.network()
	const nodeBody = `"bier-global":{"sub-domain":[{"sub-domain-id":"0","igp-type":"ISIS","mt-id":"1","bfr-id":"%","bitstringlength":"64-bit",
	 "af":{"ipv4":[{"bitstringlength":"64","bier-mpls-label-base":"56","bier-mpls-label-range-size":"100"}]}}],
	 "encapsulation-type":"bier-encapsulation-mpls","bitstringlength":"64-bit","bfr-id":"%","ipv4-bfr-prefix":"192.168.%.1/24","ipv6-bfr-prefix":"1030:%::c9b4:ff12:48aa:1a2b/60"}`
	node := func(id string) string { return strings.ReplaceAll(nodeBody, "%", id) }
	for _, c := range []struct{ rpc, body, want string }{
		{"bier-topology-api:load-topology", ``, `"flow:1"`},
		{"bier-topology-api:load-topology", `{"input":{}}`, `"flow:1"`},
		{"bier-topology-api:configure-domain", `{input:{"topo-id":" flow:1","domain ":[{"domain-id":" 1"},{"domain-id":"2"}]}}`, success},
		{"bier-topology-api:configure-subdomain", `{"input":{"topo-id":"flow:1","domain-id":"1","sub-domain":[{"sub-domain-id":"11"},{"sub-domain-id":0}]}}`, success},
		{"bier-topology-api:configure-subdomain", `{"input":{"topo-id":"flow:1","domain-id":"1","sub-domain":"12"}}`, success},
		{"bier-topology-api:configure-node", `{"input":{"topology-id":"flow:1","node-id":"3","domain":[{"domain-id":"1",` + node("3") + `}]}}`, success},
		{"bier-config-api:configure-node", `{"input":{"topo-id":"flow:1","node-id":"2","domain":[{"domain-id":1,` + node("2") + `}]}}`, success},
		{"bier-topology-api:configure-node", `{"input":{"topo-id":"flow:1","node-id":"4","domain":[{"domain-id":1,"bier-global":{"bitstringlength":256,"bfr-id":4,"ipv4-bfr-prefix":"10.0.0.4/32",
			"sub-domain":[{"subdomain-id":0,"igp-type":"OSPF","bitstringlength":"64","af":{"ipv4":[{"bitstringlength":"64-bit","bier-mpls-label-base":100,"bier-mpls-label-range-size":4}]}}]}}]}}`, success},
		{"bier-topology-api:query-topology", `{"input":{'topo-id':'flow:1',}}`, `"topology-id":"flow:1"`},
		{"bier-topology-api:query-node", `{"input":{"topo-id":"flow:1","node-id":"3"}}`, `"bfr-id":3`},
		{"bier-topology-api:query-link", `{"input":{"topo-id":"flow:1","link-id":"2:1"}}`, `"source-node":"2"`},
		{"bier-topology-api:query-domain", `{"input":{"topo-id":"flow:1"}}`, `{"domain":[{"domain-id":1},{"domain-id":2}]}`},
		{"bier-topology-api:query-subdomain", `{"input":{"topo-id":"flow:1","domain-id":"1"}}`, `{"subdomain":[{"sub-domain-id":0},{"sub-domain-id":11},{"sub-domain-id":12}]}`},
		{"bier-topology-api:query-subdomain-node", `{"input":{"topology-id":"flow:1","domain-id":"1","sub-domain-id":"0"}}`, `"node-id":"3"`},
		{"bier-topology-api:query-subdomain-link", `{"input":{"topo-id":"flow:1","domain-id":"1","subdomain-id":"0"}}`, `"link-id":"2:1"`},
		{"bier-channel-api:add-channel", `{"input":{"topology-id":"flow:1","name":"channel-1","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":"1","sub-domain-id":"0","source-wildcard":"24","group-wildcard":"30"}}`, channelSuccess},
		{"bier-channel-api:add-channel", `{"input":{"name":"any","src-ip":"0.0.0.0","dst-group":"224.1.1.2","domain-id":"1","sub-domain-id":"0","source-wildcard":"32","group-wildcard":"32"}}`, channelSuccess},
		{"bier-channel-api:add-channel", `{"input":{"name":"six","src-ip":"2001:db8::1","dst-group":"ff3e::1","domain-id":"1","sub-domain-id":"0","source-wildcard":"128","group-wildcard":"128"}}`, channelSuccess},
		{"bier-channel-api:modify-channel", `{"input":{"topology-id":"flow:1","name":"channel-1","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":"1","sub-domain-id":"0","source-wildcard":"24","group-wildcard":"30"}}`, channelSuccess},
		{"bier-channel-api:deploy-channel", `{"input":{"topology-id":"flow:1","channel-name":"channel-1","ingress-node":"3","egress-node":[{"node-id":"2"},{"node-id":"4"}]}}`, channelSuccess},
		{"bier-channel-api:query-channel", `{"input":{"topology-id":"flow:1","channel-name":"channel-1"}}`, `"ingress-node":"3"`},
		{"bier-channel-api:remove-channel", `{"input":{"topology-id":"flow:1","channel-name":"channel-1"}}`, channelSuccess},
		{"bier-topology-api:delete-node", `{"input":{"topo-id":"flow:1","node-id":"4","domain-id":"1","subdomain-id":"0"}}`, success},
		{"bier-topology-api:delete-subdomian", `{"input":{"topo-id":"flow:1","domain-id":"1","subdomain-id":"11"}}`, success},
		{"bier-topology-api:delete-domian", `{"input":{"topo-id":"flow:1","domain-id":"1"}}`, success},
	} {
		if out := l.must(c.rpc, c.body); !strings.Contains(out, c.want) {
			t.Errorf("%s %s\n  answers %s, want %s", c.rpc, c.body, out, c.want)
		}
	}
}

// Each rule has a cause of its own, which names the node and the value in the way.
func TestFailuresNameWhatIsInTheWay(t *testing.T) {
	l := newLab(t)
	l.network()
	l.must("bier-topology-api:configure-domain", `{"input":{"topology-id":"flow:1","domain":[1]}}`)
	l.must("bier-topology-api:configure-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain":[1]}}`)
	for i := 1; i <= 3; i++ {
		l.must("bier-topology-api:configure-node", node(i, 1, 1, i, 100, 200, "ISIS"))
	}
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"3"}]}}`)
	with := func(old, new string) string { return strings.Replace(node(4, 1, 1, 4, 100, 200, "ISIS"), old, new, 1) }
	for name, c := range map[string]struct{ rpc, body, want string }{
		"unknown topology":   {"configure-domain", `{"input":{"topology-id":"x","domain":[1]}}`, `no topology \"x\"`},
		"unknown node":       {"configure-node", with(`"node-id":"4"`, `"node-id":"99"`), "no node 99"},
		"unknown domain":     {"configure-node", with(`"domain-id":"1"`, `"domain-id":"8"`), "no domain 8"},
		"unknown sub-domain": {"configure-node", with(`"sub-domain-id":"1"`, `"sub-domain-id":"9"`), "no sub-domain 9"},
		"sub-domain above":   {"configure-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain":[256]}}`, "256 is not within 0..255"},
		"sub-domain twice":   {"configure-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain":[1]}}`, "sub-domain 1 of domain 1 exists already"},
		"bfr-id taken":       {"configure-node", strings.ReplaceAll(with("", ""), `"bfr-id":"4"`, `"bfr-id":"3"`), "bfr-id 3 is node 3's"},
		"bfr-id 0":           {"configure-node", strings.ReplaceAll(with("", ""), `"bfr-id":"4"`, `"bfr-id":"0"`), "bfr-id 0 is not within 1..65535"},
		"prefix taken":       {"configure-node", with("192.168.4.1", "192.168.2.1"), "192.168.2.1/32 is node 2's"},
		"no prefix":          {"configure-node", strings.NewReplacer(`"ipv4-bfr-prefix":"192.168.4.1/32",`, "", `"ipv6-bfr-prefix":"fe80::4/128",`, "").Replace(with("", "")), "one is needed"},
		"no igp":             {"configure-node", with(`"igp-type":"ISIS",`, ""), "igp-type is missing"},
		"no length":          {"configure-node", with(`"bitstringlength":"256-bit","bfr-id"`, `"bfr-id"`), "bitstringlength is missing"},
		"labels overlap":     {"configure-node", with(`"bier-mpls-label-base":"200"`, `"bier-mpls-label-base":"102"`), "labels 102..105 overlap 100..103"},
		"labels within":      {"configure-node", with(`"bier-mpls-label-base":"200","bier-mpls-label-range-size":"4"`, `"bier-mpls-label-base":"90","bier-mpls-label-range-size":"50"`), "labels 90..139 overlap 100..103"},
		"labels too high":    {"configure-node", with(`"bier-mpls-label-base":"100"`, `"bier-mpls-label-base":"1048574"`), "1048574..1048577 are not within"},
		"length not legal":   {"configure-node", with(`"bitstringlength":"256","bier-mpls-label-base":"100"`, `"bitstringlength":"100","bier-mpls-label-base":"100"`), "bitstringlength 100 is not one of"},
		"set too high":       {"configure-node", strings.NewReplacer(`"256-bit"`, `"64-bit"`, `"bfr-id":"4"`, `"bfr-id":"20000"`).Replace(with("", "")), "bfr-id 20000 is in set 312"},
		"node in use":        {"delete-node", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":1,"node-id":"3"}}`, "node 3 is egress of the deployed channel tv"},
		"sub-domain in use":  {"delete-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":1}}`, "channel tv is deployed"},
		"domain in use":      {"delete-domain", `{"input":{"topology-id":"flow:1","domain-id":1}}`, "channel tv is deployed"},
		"channel twice":      {"add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`, "channel tv exists already"},
		"source multicast":   {"add-channel", `{"input":{"name":"a","src-ip":"224.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`, "224.1.1.1 is neither a unicast"},
		"group unicast":      {"add-channel", `{"input":{"name":"a","src-ip":"1.1.1.1","dst-group":"10.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`, "10.1.1.1 is not a multicast"},
		"families":           {"add-channel", `{"input":{"name":"a","src-ip":"1.1.1.1","dst-group":"ff3e::1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`, "different families"},
		"wildcard":           {"add-channel", `{"input":{"name":"a","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":33,"group-wildcard":32}}`, "source-wildcard 33 is not within 1..32"},
		"field missing":      {"add-channel", `{"input":{"name":"a","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32}}`, "group-wildcard is missing"},
		"ingress outside":    {"deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"7","egress-node":[{"node-id":"3"}]}}`, "ingress node 7 is not in sub-domain 1"},
		"egress outside":     {"deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"7"}]}}`, "egress node 7 is not in sub-domain 1"},
		"both":               {"deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"1"}]}}`, "node 1 is ingress and egress"},
		"no channel":         {"deploy-channel", `{"input":{"channel-name":"nix","ingress-node":"1","egress-node":[{"node-id":"3"}]}}`, "no channel nix"},
	} {
		module := "bier-topology-api:"
		if strings.Contains(c.rpc, "channel") {
			module = "bier-channel-api:"
		}
		if out := l.must(module+c.rpc, c.body); !strings.Contains(out, `"FAILURE"`) || !strings.Contains(out, c.want) {
			t.Errorf("%s: %s\n  want a FAILURE with %q", name, out, c.want)
		}
	}
	l.refused("bier-topology-api:query-topology", `{"input":{"topology-id":"x"}}`, fault.NotFound)
	l.refused("bier-topology-api:query-topology", `{"input":{}}`, fault.Missing)
	l.refused("bier-topology-api:query-node", `{"input":{"topology-id":"flow:1"}}`, fault.Missing)
	l.refused("bier-topology-api:query-domain", `{"input":{"topology-id":"flow:1","colour":1}}`, fault.Unknown)
	l.refused("bier-topology-api:query-subdomain", `{"input":{"topology-id":"flow:1","domain-id":7}}`, fault.NotFound)
	l.refused("bier-channel-api:query-channel", `{"input":{}}`, fault.Missing)
	l.refused("bier-topology-api:configure-domain", `{"input":{"topology-id":"flow:1","domain":["x"]}}`, fault.Invalid)
}
