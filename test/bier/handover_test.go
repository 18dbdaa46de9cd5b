package bier

import (
	"fmt"
	"strings"
	"testing"

	bierservice "ctl.internal/plugins/bier-service"
)

// The role of acting on routers changes hands 200 times, as when nodes come and go: no router gets an edit
// that was not requested, and each change that is asked for meanwhile reaches each router once.
func TestTwoHundredHandOversSendNothingUnasked(t *testing.T) {
	l := configured(t, 3)
	l.mount(3)
	edits := func() string {
		var out []string
		for _, id := range l.routers.IDs() {
			_, n := l.routers.Counts(id)
			out = append(out, fmt.Sprint(id, ":", n))
		}
		return strings.Join(out, " ")
	}
	deploy := func(egress string) {
		t.Helper()
		answer := l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[`+egress+`]}}`)
		if strings.Count(answer, `"applied"`) < 2 || strings.Contains(answer, `"pending"`) || strings.Contains(answer, `"failed"`) {
			t.Fatalf("the deployment answered %s", answer)
		}
	}
	const two, three = `{"node-id":"2"}`, `{"node-id":"2"},{"node-id":"3"}`
	l.must("bier-channel-api:add-channel", addTV)
	deploy(two)
	before := edits()
	for i := range 200 {
		old := l.plugins["bier-service"]
		next := l.start("bier-service", bierservice.Options(), configs["bier-service"]) // waits for the role
		old.Stop()
		if i%50 != 49 {
			// The new holder has looked at every router when it has answered for them.
			var out struct {
				State []struct {
					Node  string `json:"node-id"`
					State string `json:"state"`
				} `json:"router"`
			}
			if err := next.Call(l.ctx(), "bier-service-api:reconcile", map[string]any{"wait": 5000}, &out); err != nil {
				t.Fatal(err)
			}
			if now := edits(); now != before {
				t.Fatalf("after %d hand-overs the edits at the routers are %s, before %s", i+1, now, before)
			}
			continue
		}
		// A change in the middle of a hand-over: the holder before may have begun it.
		deploy(map[bool]string{true: three, false: two}[i%100 == 49])
		before = edits()
	}
	t.Logf("edits at the routers: %s", before)
}
