package topomirror_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"ctl.internal/host/internal/plugin/topomirror"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sources are plugins that run in the test.
type sources struct {
	t       *testing.T
	mu      sync.Mutex
	list    map[string]host.Provider
	conns   map[string]*plugintest.Plugin
	changed chan struct{}
}

func newSources(t *testing.T) *sources {
	return &sources{t: t, list: map[string]host.Provider{}, conns: map[string]*plugintest.Plugin{}, changed: make(chan struct{})}
}

func (s *sources) Providers(string) []host.Provider {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.list))
}

func (s *sources) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *sources) Conn(name string) (grpc.ClientConnInterface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.conns[name]
	if !ok {
		return nil, fault.New(fault.NotFound, "no %s", name)
	}
	return p.Conn, nil
}

func (s *sources) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// run starts a process of a plugin and makes it the one that serves.
func (s *sources) run(name string, generation uint64) *topology.Publisher {
	pub := &topology.Publisher{}
	p := plugintest.Start(s.t, sdk.Options{
		Manifest: fmt.Appendf(nil, "name: %s\nversion: 1.0.0\nsummary: A source\ncapabilities: [topology]\n", name),
		New:      func(context.Context, *sdk.Env) (*sdk.Plugin, error) { return &sdk.Plugin{Topology: pub}, nil }})
	s.set(func() {
		s.conns[name] = p
		s.list[name] = host.Provider{Name: name, Ready: true, Generation: generation}
	})
	return pub
}

func ring(id string, nodes ...string) topology.Topology {
	t := topology.Topology{ID: id, Nodes: map[string]topology.Node{}, Links: map[string]topology.Link{}}
	for i, n := range nodes {
		t.Nodes[n] = topology.Node{ID: n, Attributes: map[string]string{"name": "x"}, TPs: map[string]topology.TerminationPoint{n + ":1": {ID: n + ":1"}}}
		to := nodes[(i+1)%len(nodes)]
		l := topology.Link{ID: n + "-" + to, SourceNode: n, SourceTP: n + ":1", DestNode: to, DestTP: to + ":1"}
		t.Links[l.ID] = l
	}
	return t
}

// until waits until the topologies of the view are those.
func until(t *testing.T, m *topomirror.Mirror, what, want string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		changed := m.Changed()
		var all []string
		for _, id := range slices.Sorted(maps.Keys(m.View().Topologies)) {
			all = append(all, string(m.View().Topology(id, topomirror.Seen{})))
		}
		got := strings.Join(all, ",")
		if got == want {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%s: %s, want %s", what, got, want)
		}
	}
}

const (
	twoA  = `{"topology-id":"a:1","server-provided":true,"node":[{"ctl-topology:name":"x","node-id":"x","termination-point":[{"tp-id":"x:1"}]},{"ctl-topology:name":"x","node-id":"y","termination-point":[{"tp-id":"y:1"}]}],"link":[{"destination":{"dest-node":"y","dest-tp":"y:1"},"link-id":"x-y","source":{"source-node":"x","source-tp":"x:1"}},{"destination":{"dest-node":"x","dest-tp":"x:1"},"link-id":"y-x","source":{"source-node":"y","source-tp":"y:1"}}]}`
	emptA = `{"topology-id":"a:1","server-provided":true}`
	emptB = `{"topology-id":"b:1","server-provided":true}`
)

func TestTheViewFollowsItsSources(t *testing.T) {
	s := newSources(t)
	m := topomirror.Start(s, slog.New(slog.DiscardHandler))
	t.Cleanup(m.Close)
	until(t, m, "nothing", "")

	a := s.run("a", 1)
	a.Set(ring("a:1", "x", "y"))
	until(t, m, "one source", twoA)
	b := s.run("b", 1)
	b.Set(ring("b:1"))
	until(t, m, "two sources", twoA+","+emptB)
	a.Set(ring("a:1"))
	until(t, m, "a change", emptA+","+emptB)
	a.Set(ring("a:1", "x", "y"))
	until(t, m, "a change back", twoA+","+emptB)

	s.set(func() { s.list["a"] = host.Provider{Name: "a", Generation: 1} })
	b.Set(ring("b:2"))
	b.Remove("b:1")
	until(t, m, "what a restarting source sent is kept", twoA+`,{"topology-id":"b:2","server-provided":true}`)

	a = s.run("a", 2)
	until(t, m, "the new process has nothing yet", `{"topology-id":"b:2","server-provided":true}`)
	a.Set(ring("a:1"))
	until(t, m, "the new process", emptA+`,{"topology-id":"b:2","server-provided":true}`)
	if got := string(m.View().Topology("a:1", topomirror.Seen{})); got != emptA || m.View().Topology("none", topomirror.Seen{}) != nil {
		t.Errorf("one topology: %s", got)
	}

	s.set(func() { delete(s.list, "b") })
	until(t, m, "a source is uninstalled", emptA)
}

func TestTwoSourcesOfOneTopology(t *testing.T) {
	s := newSources(t)
	m := topomirror.Start(s, slog.New(slog.DiscardHandler))
	t.Cleanup(m.Close)
	s.run("second", 1).Set(ring("a:1"))
	until(t, m, "one", emptA)
	s.run("first", 1).Set(ring("a:1", "x", "y"))
	until(t, m, "the first name wins", twoA)
	s.set(func() { delete(s.list, "first") })
	until(t, m, "the other one is shown again", emptA)
}

// A source that publishes without end takes a bounded part of the host's memory, and what it published before stays; a
// source beside it is followed on.
func TestASourceWithoutEndIsBounded(t *testing.T) {
	s := newSources(t)
	hostile, honest := s.run("hostile", 1), s.run("honest", 1)
	refused := make(errorLines, 1)
	m := topomirror.Start(s, slog.New(slog.NewTextHandler(refused, &slog.HandlerOptions{Level: slog.LevelError})))
	defer m.Close()
	large := strings.Repeat("x", 1<<20)
	for i := range 10 { // of 20 MiB each
		r := ring(fmt.Sprint("hostile:", i), "a", "b")
		for n := range 20 {
			id := fmt.Sprint("n", n)
			r.Nodes[id] = topology.Node{ID: id, Attributes: map[string]string{"name": large}}
		}
		hostile.Set(r)
	}
	honest.Set(ring("honest:1", "a", "b"))
	seen := func(what string, ok func(*topomirror.View) bool) {
		t.Helper()
		for deadline := time.After(time.Minute); ; {
			changed := m.Changed()
			if ok(m.View()) {
				return
			}
			select {
			case <-changed:
			case <-deadline:
				t.Fatal(what)
			}
		}
	}
	seen("the honest source is not followed", func(v *topomirror.View) bool { return len(v.Topologies["honest:1"].Nodes) == 2 })
	select {
	case line := <-refused:
		if !strings.Contains(line, "more than 128 MiB") || !strings.Contains(line, "plugin=hostile") {
			t.Error(line)
		}
	case <-time.After(time.Minute):
		t.Fatal("the hostile source is watched on")
	}
	kept := 0
	for _, topo := range m.View().Topologies {
		for _, n := range topo.Nodes {
			kept += len(n.Attributes["name"])
		}
	}
	if kept > 130<<20 || kept < 80<<20 {
		t.Errorf("%d MiB are kept of one source", kept>>20)
	}
	hostile = s.run("hostile", 2) // another process of it
	hostile.Set(ring("hostile:0", "a"))
	seen("the plugin is not followed after its restart", func(v *topomirror.View) bool { return len(v.Topologies["hostile:0"].Nodes) == 1 })
}

// errorLines takes the first line of a log.
type errorLines chan string

func (l errorLines) Write(b []byte) (int, error) {
	select {
	case l <- string(b):
	default:
	}
	return len(b), nil
}
