package bier

import (
	"fmt"
	"strings"
	"testing"

	"ctl.internal/internal/lab/simrouter"
)

// Without MPLS a router needs no labels: what it takes are the BIFT-ids that follow from length, sub-domain and set,
// which are configured on it and computed for its neighbours. A router whose model has MPLS
// only says so.
func TestEthernetFromTheRequestToTheRouters(t *testing.T) {
	l := configured(t, 0)
	for i := 1; i <= 3; i++ {
		l.must("bier-topology-api:configure-node", fmt.Sprintf(`{"input":{"topology-id":"flow:1","node-id":"%d","domain":[{"domain-id":1,"bier-global":{
 "encapsulation-type":"bier-topology:bier-encapsulation-ethernet","bitstringlength":"256-bit","bfr-id":%d,"ipv4-bfr-prefix":"192.168.%d.1/32",
 "sub-domain":[{"sub-domain-id":1,"igp-type":"ISIS","mt-id":0}]}}]}}`, i, i, i))
	}
	one, two, old := l.netconf(1, simrouter.RFC8349()), l.netconf(2, simrouter.RFC8349()), l.netconf(3, simrouter.Draft00())
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"2"},{"node-id":"3"}]}}`)
	l.shows("2 holds it, 3 cannot", `"state":"failed","egress-states":{"applied":1,"failed":1}`,
		`"node-id":"3","role":"egress","state":"failed","reason":"the router's ietf-bier (2016-07-23) has no encapsulation bier-encapsulation-ethernet, only bier-encapsulation-mpls"`)
	const base = 3<<16 | 1<<8 // 256 bits, sub-domain 1, set 0
	want := fmt.Sprintf("<bsl>256-bit</bsl><encapsulation-type>bier-encapsulation-ethernet</encapsulation-type><max-si>255</max-si><in-bift-id><in-bift-id-base>%d</in-bift-id-base></in-bift-id>", base)
	for i, r := range []*simrouter.Router{one, two} {
		if held := r.Config().String(); !strings.Contains(held, want) {
			t.Errorf("router %d holds %s\n  want %s", i+1, held, want)
		}
	}
	if held := old.Config(); len(held.Kids) > 0 {
		t.Errorf("router 3 holds %s", held)
	}
	shown := l.run("bier-topomanager", "bier:bift-show", map[string]string{"domain": "1", "sub-domain": "1", "bsl": "0"}, "1")
	if strings.Count(shown, fmt.Sprint(base)) != 3 { // at 1 itself, to 2, and to 3 over 2
		t.Errorf("the tables do not have BIFT-id %d:\n%s", base, shown)
	}
}
