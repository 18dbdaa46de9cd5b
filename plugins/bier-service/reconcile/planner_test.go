package reconcile

import (
	"fmt"
	"iter"
	"math/rand"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
)

// After any sequence of changes a planner that followed them all says the same as one that
// sees the network for the first time, and routers of no change keep their pointer.
func TestPlannerFollowsChanges(t *testing.T) {
	for seed := range int64(40) {
		r := rand.New(rand.NewSource(seed))
		n, lists := bier.Network{Channels: map[string]iter.Seq[bier.Channel]{}}, map[string][]bier.Channel{}
		for i := range 2 {
			x := network(3+r.Intn(8), seed)
			x.ID = fmt.Sprint("flow:", i)
			n.Topologies = append(n.Topologies, x)
			lists[x.ID] = channels(x, r, 6)
			n.Channels[x.ID] = slices.Values(lists[x.ID])
		}
		var p Planner
		for step := range 30 {
			x := n.Topologies[r.Intn(len(n.Topologies))]
			list := slices.Clone(lists[x.ID])
			before := map[string]*Desired{}
			all, _ := p.Wanted(n)
			for node, d := range all {
				before[node] = d
			}
			touched := map[string]bool{}
			switch k := r.Intn(len(list)); r.Intn(5) {
			case 0: // another deployment
				mark(touched, &list[k])
				c := channels(x, r, 1)[0]
				list[k].IngressNode, list[k].EgressNodes = c.IngressNode, c.EgressNodes
				mark(touched, &list[k])
			case 1: // no longer deployed
				mark(touched, &list[k])
				list[k].IngressNode, list[k].EgressNodes = "", nil
			case 2: // another flow, which may be one that is there
				mark(touched, &list[k])
				list[k].SrcIP = fmt.Sprint("10.0.0.", r.Intn(8))
			case 3: // a node leaves its domains
				next := *x
				next.Nodes = slices.Clone(x.Nodes)
				next.Nodes[r.Intn(len(next.Nodes))].Params.Domains = nil
				n.Topologies[slices.Index(n.Topologies, x)], touched = &next, nil
			case 4: // a channel goes
				if len(list) > 2 {
					mark(touched, &list[k])
					list = slices.Delete(list, k, k+1)
				}
			}
			lists[x.ID], n.Channels[x.ID] = list, slices.Values(list)
			got, changed := p.Wanted(n)
			want := wanted(n)
			if len(got) != len(want) {
				t.Fatalf("seed %d step %d: %d routers, want %d", seed, step, len(got), len(want))
			}
			for node := range before {
				if _, ok := changed[node]; !ok && got[node] != before[node] {
					t.Fatalf("seed %d step %d: node %s has changed and is not said to", seed, step, node)
				}
			}
			for node, w := range want {
				g := got[node]
				if g == nil || !wireIsConfig(t, g.Made()) || !proto.Equal(g.Config, w.Config) || !slices.Equal(g.Problems, w.Problems) {
					t.Fatalf("seed %d step %d, node %s:\n%v\nwant\n%v", seed, step, node, g, w)
				}
				if touched != nil && !touched[node] && g != before[node] {
					t.Fatalf("seed %d step %d: node %s was computed again for a change that does not concern it", seed, step, node)
				}
			}
		}
	}
}

// wireIsConfig reports whether a driver gets what Config has.
func wireIsConfig(t *testing.T, d *Desired) bool {
	t.Helper()
	text, err := proto.Marshal(d.Wire(true))
	if err != nil {
		t.Fatal(err)
	}
	got := &bierdriver.Config{}
	if err := proto.Unmarshal(text, got); err != nil {
		t.Fatal(err)
	}
	return proto.Equal(got, d.Config)
}

func mark(touched map[string]bool, c *bier.Channel) {
	if !c.Deployed() {
		return
	}
	touched[c.IngressNode] = true
	for _, e := range c.EgressNodes {
		touched[e.ID] = true
	}
}
