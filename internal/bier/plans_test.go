package bier

import (
	"fmt"
	"testing"
)

// The plan of a channel is computed once in a network, whatever the channel is called and whichever ports it has; what
// the plan depends on makes another one.
func TestAPlanIsComputedOnce(t *testing.T) {
	top := sketch("r1-r2 r2-r3", map[string]uint16{"r1": 1, "r2": 2, "r3": 3})
	top.graphs = &graphs{all: map[[2]uint16]*Graph{}}
	channel := func(ingress string, egress ...EgressNode) *Channel {
		return &Channel{Name: fmt.Sprint(ingress, egress), DomainID: 1, IngressNode: ingress, EgressNodes: egress}
	}
	plan := func(c *Channel) *Plan {
		t.Helper()
		p, err := PlanChannel(top, c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := plan(channel("r1", EgressNode{ID: "r3"}))
	if plan(channel("r1", EgressNode{ID: "r3", Receivers: []Receiver{{TP: "eth1"}}})) != first {
		t.Error("it is computed again")
	}
	for _, c := range []*Channel{channel("r2", EgressNode{ID: "r3"}), channel("r1", EgressNode{ID: "r2"}), channel("r1", EgressNode{ID: "r3"}, EgressNode{ID: "r2"})} {
		if plan(c) == first {
			t.Errorf("%s has the plan of another channel", c.Name)
		}
	}
	for range 2 {
		if _, err := PlanChannel(top, channel("r9", EgressNode{ID: "r3"})); err == nil {
			t.Error("an ingress that is no member has a plan")
		}
	}
	for i := range 2 * keptPlans { // more than are kept
		want := uint16(2 + i%2)
		if p := plan(channel("r1", EgressNode{ID: fmt.Sprint("r", want)}, EgressNode{ID: fmt.Sprint("x", i)})); p.Egress[0].ID != want {
			t.Errorf("%d: %+v", i, p.Egress[0])
		}
	}
	if n := len(top.Graph(1, 0).plans.list); n > keptPlans {
		t.Errorf("%d plans are kept", n)
	}
	again := *top
	again.graphs = &graphs{all: map[[2]uint16]*Graph{}}
	if p, _ := PlanChannel(&again, channel("r1", EgressNode{ID: "r3"})); p == first {
		t.Error("another network has the same plan")
	}
}
