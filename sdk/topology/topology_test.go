package topology_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"ctl.internal/sdk/internal/pair"
	"ctl.internal/sdk/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ring(id string, n int, seed int64) topology.Topology {
	r := rand.New(rand.NewSource(seed))
	t := topology.Topology{ID: id, Nodes: map[string]topology.Node{}, Links: map[string]topology.Link{}, Observed: time.Unix(1000, 0).UTC()}
	for i := range n {
		if r.Intn(4) == 0 && seed != 0 {
			continue
		}
		node := fmt.Sprint(i)
		t.Nodes[node] = topology.Node{ID: node, TPs: map[string]topology.TerminationPoint{"1": {ID: "1"}}, Attributes: map[string]string{"name": fmt.Sprint("n", r.Intn(3))}}
		next := fmt.Sprint((i + 1) % n)
		id := node + "-" + next
		t.Links[id] = topology.Link{ID: id, SourceNode: node, SourceTP: "1", DestNode: next, DestTP: "1"}
	}
	return t
}

// A watcher that starts at any time and misses any number of views ends with the
// newest one, over the wire as well.
func TestWatcherEndsWithTheNewestView(t *testing.T) {
	var p topology.Publisher
	p.Set(ring("switch:1", 8, 0))
	p.Set(ring("gone", 3, 0))
	client := topology.NewClient(pair.New(t, func(s *grpc.Server) { topology.Register(s, "demo", func() (topology.Source, error) { return &p, nil }) }))
	last := ring("switch:1", 8, 99)
	last.Links["end"] = topology.Link{ID: "end"}
	for name, src := range map[string]topology.Source{"local": &p, "remote": client} {
		t.Run(name, func(t *testing.T) {
			views := map[string]topology.Topology{}
			done := errors.New("seen the last view")
			err := src.Watch(context.Background(), nil, func(c topology.Change) error {
				if c.Removed {
					delete(views, c.TopologyID)
				} else {
					views[c.TopologyID] = views[c.TopologyID].Apply(c)
				}
				_, ok := views["switch:1"].Links["end"]
				_, still := views["gone"]
				if ok && !still {
					return done
				}
				return nil
			}, func() {
				for seed := range int64(50) {
					p.Set(ring("switch:1", 8, seed+1))
				}
				p.Remove("gone")
				p.Set(last)
			})
			if !errors.Is(err, done) {
				t.Fatalf("watch ended with %v", err)
			}
			got := views["switch:1"]
			if len(got.Nodes) != len(last.Nodes) || len(got.Links) != len(last.Links) {
				t.Fatalf("%d nodes %d links, want %d and %d", len(got.Nodes), len(got.Links), len(last.Nodes), len(last.Links))
			}
			for id, n := range last.Nodes {
				if !reflect.DeepEqual(got.Nodes[id].Attributes, n.Attributes) {
					t.Errorf("node %s: %v, want %v", id, got.Nodes[id], n)
				}
			}
			p.Set(ring("switch:1", 8, 0))
			p.Set(ring("gone", 3, 0))
		})
	}
}

func TestWatchOfOneTopologyOnly(t *testing.T) {
	var p topology.Publisher
	p.Set(ring("a", 3, 0))
	p.Set(ring("b", 3, 0))
	ctx, cancel := context.WithCancel(context.Background())
	var seen []string
	err := p.Watch(ctx, []string{"b"}, func(c topology.Change) error { seen = append(seen, c.TopologyID); return nil }, cancel)
	if !errors.Is(err, context.Canceled) || len(seen) != 1 || seen[0] != "b" {
		t.Fatalf("seen %v, err %v", seen, err)
	}
}

func TestDiffThenApplyIsTheNewView(t *testing.T) {
	for seed := range int64(200) {
		from, to := ring("x", 10, seed+1), ring("x", 10, seed+500)
		c, differs := topology.Diff(from, to)
		got := from.Apply(c)
		if !reflect.DeepEqual(got.Nodes, to.Nodes) || !reflect.DeepEqual(got.Links, to.Links) {
			t.Fatalf("seed %d: apply(diff) is not the new view", seed)
		}
		if again, more := topology.Diff(got, to); more {
			t.Fatalf("seed %d: still different: %+v", seed, again)
		}
		if !differs && !reflect.DeepEqual(from.Nodes, to.Nodes) {
			t.Fatalf("seed %d: a difference was missed", seed)
		}
	}
}
