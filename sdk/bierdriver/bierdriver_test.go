package bierdriver_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/internal/pair"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// notebook records which watches run.
type notebook struct {
	mu      sync.Mutex
	running map[string]string // node-id → host
}

func (n *notebook) Describe() bierdriver.Description {
	return bierdriver.Description{Name: "ignored", Capabilities: []string{"urn:x"}, Dialects: []string{"a", "b"}, Priority: 7, Probes: true}
}

func (n *notebook) Probe(context.Context, *bierdriver.Router) (*bierdriver.Probe, error) {
	return nil, fault.Device(fault.Downstream, "the router speaks no protocol of ours")
}

func (n *notebook) Apply(_ context.Context, _ *bierdriver.Router, c *bierdriver.Config, permit bierdriver.Permit) (*bierdriver.Result, error) {
	if c.Global == nil && permit == nil {
		return &bierdriver.Result{State: bierdriver.Failed, Reason: "nothing and only a try"}, nil
	}
	return &bierdriver.Result{State: bierdriver.Applied}, nil
}

func (n *notebook) Read(context.Context, *bierdriver.Router) (*bierdriver.Observed, error) {
	return &bierdriver.Observed{Config: &bierdriver.Config{Global: &bierdriver.Global{BfrId: 5}}}, nil
}

func (n *notebook) Watch(ctx context.Context, r *bierdriver.Router, emit func(*bierdriver.Event) error) error {
	n.mu.Lock()
	n.running[r.NodeId] = r.Host
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		delete(n.running, r.NodeId)
		n.mu.Unlock()
	}()
	if err := emit(&bierdriver.Event{Session: &bierdriver.Session{State: bierdriver.Up, HostKey: r.Host}}); err != nil {
		return err
	}
	if r.Host == "broken" {
		return errors.New("out of ideas")
	}
	<-ctx.Done()
	return ctx.Err()
}

func serve(t *testing.T) (*notebook, *bierdriver.Client) {
	n := &notebook{running: map[string]string{}}
	conn := pair.New(t, func(s *grpc.Server) {
		bierdriver.Register(s, "note", func() (bierdriver.Driver, error) { return n, nil })
	})
	return n, bierdriver.NewClient(conn)
}

func TestCallsReachTheDriver(t *testing.T) {
	_, c := serve(t)
	ctx := context.Background()
	d, err := c.Describe(ctx)
	if err != nil || d.Name != "note" || d.Priority != 7 || !d.Probes || len(d.Dialects) != 2 {
		t.Fatalf("described %+v, %v", d, err)
	}
	r := &bierdriver.Router{NodeId: "1", Host: "::1"}
	if _, err := c.Probe(ctx, r); !errors.Is(err, &fault.Error{Kind: fault.Downstream}) {
		t.Errorf("probe: %v", err)
	}
	if a, err := c.Apply(ctx, r, nil, nil); err != nil || a.State != bierdriver.Failed {
		t.Errorf("apply: %v %v", a, err)
	}
	if o, err := c.Read(ctx, r); err != nil || o.Config.Global.BfrId != 5 {
		t.Errorf("read: %v %v", o, err)
	}
	if _, err := c.Read(ctx, &bierdriver.Router{NodeId: "1"}); !errors.Is(err, &fault.Error{Kind: fault.Invalid}) {
		t.Errorf("a router without host: %v", err)
	}
}

func TestWatchFollowsTheSet(t *testing.T) {
	n, c := serve(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, err := c.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	set := func(put []*bierdriver.Router, remove ...string) {
		t.Helper()
		if err := w.Set(put, remove); err != nil {
			t.Fatal(err)
		}
	}
	next := func() *bierdriver.Event {
		t.Helper()
		e, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	one, two := &bierdriver.Router{NodeId: "1", Host: "a"}, &bierdriver.Router{NodeId: "2", Host: "broken"}
	set([]*bierdriver.Router{one})
	if e := next(); e.NodeId != "1" || e.Session.HostKey != "a" {
		t.Fatalf("first event %v", e)
	}
	set([]*bierdriver.Router{one, {NodeId: "1", Host: "b"}}) // the same is not taken again, another host is
	if e := next(); e.NodeId != "1" || e.Session.HostKey != "b" {
		t.Fatalf("after a change %v", e)
	}
	set([]*bierdriver.Router{two}, "1")
	if e := next(); e.NodeId != "2" || e.Session.State != bierdriver.Up {
		t.Fatalf("second router %v", e)
	}
	if e := next(); e.NodeId != "2" || e.Session.State != bierdriver.Down || e.Session.Reason == "" {
		t.Fatalf("a watch that fails is told: %v", e)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.running) != 0 {
		t.Fatalf("still running: %v", n.running)
	}
}
