package bier

import (
	"regexp"
	"strings"
	"testing"
)

// Numbers are proposed for all nodes, shown, and applied as they were shown; then channels can be deployed. A proposal
// that is not what would be applied is refused.
func TestNumbersAreProposedAndApplied(t *testing.T) {
	l := newLab(t)
	l.network()
	l.must("bier-topology-api:configure-domain", `{"input":{"topology-id":"flow:1","domain":[1]}}`)
	const in = `"topology-id":"flow:1","domain-id":1,"sub-domain-id":0,"ipv4-pool":"10.0.0.0/24"`
	out := l.must("bier-topology-api:number-subdomain", `{"input":{`+in+`}}`)
	for _, want := range []string{`"result":"SUCCESS"`, `"applied":false`, `"node-id":"7","bfr-id":7,"ipv4-bfr-prefix":"10.0.0.7/32","bitstringlength":256,"igp-type":"ISIS","label-base":100000,"label-range-size":1`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\n  want %s", out, want)
		}
	}
	const members = `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":0}}`
	if said := l.must("bier-topology-api:query-subdomain-node", members); said != "{}" {
		t.Errorf("it was applied: %s", said)
	}
	id := regexp.MustCompile(`"proposal":"([0-9a-f]+)"`).FindStringSubmatch(out)[1]
	l.must("bier-topology-api:configure-node", node(3, 1, 0, 1, 100, 200, "OSPF"))
	out = l.must("bier-topology-api:number-subdomain", `{"input":{`+in+`,"apply":true,"proposal":"`+id+`"}}`)
	if !strings.Contains(out, "FAILURE") || !strings.Contains(out, "is not what would be applied now") {
		t.Errorf("what was not shown is applied: %s", out)
	}
	options := map[string]string{"ipv4-pool": "10.0.0.0/24", "domain": "1", "sub-domain": "0", "bsl": "256", "label-base": "100000"}
	said := l.run("bier-topomanager", "bier:number", options)
	proposal := regexp.MustCompile(`--proposal ([0-9a-f]+)`).FindStringSubmatch(said)
	if proposal == nil || !strings.Contains(said, "Nothing was changed") || !strings.Contains(said, "OSPF") {
		t.Fatal(said)
	}
	options["apply"], options["proposal"] = "true", proposal[1]
	if said := l.run("bier-topomanager", "bier:number", options); !strings.Contains(said, "Applied.") || strings.Contains(said, "error") {
		t.Error(said)
	}
	l.mount(7)
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":0,"source-wildcard":32,"group-wildcard":32}}`)
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"4"},{"node-id":"7"}]}}`)
	l.shows("the channel is applied", `"state":"applied","egress-states":{"applied":2}`)
	for body, cause := range map[string]string{
		`"topology-id":"flow:1","domain-id":1`:                                              "sub-domain-id is missing",
		`"topology-id":"flow:1","domain-id":5,"sub-domain-id":0`:                            "there is no domain 5",
		`"topology-id":"no","domain-id":1,"sub-domain-id":0`:                                "no",
		`"topology-id":"flow:1","domain-id":1,"sub-domain-id":0,"ipv4-pool":"10.0.0"`:       "is no prefix",
		`"topology-id":"flow:1","domain-id":1,"sub-domain-id":0,"node":["99"],"apply":true`: "there is no node 99",
	} {
		if out := l.must("bier-topology-api:number-subdomain", `{"input":{`+body+`}}`); !strings.Contains(out, "FAILURE") || !strings.Contains(out, cause) {
			t.Errorf("%s: %s, want %s", body, out, cause)
		}
	}
}
