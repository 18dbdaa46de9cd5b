package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/lease"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/internal/wire/frames"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

func revision(n uint64) datastore.Revision { return datastore.Revision(n) }

// patient is for nodes that must reach each other.
var patient = waits{time.Minute, time.Minute, time.Minute}

func newWorld() *world {
	return &world{changed: make(chan struct{}), nodes: map[string]lease.Node{}, roles: map[string]lease.Role{}}
}

// call makes a unary call of the plugin p from a node.
func call(ctx context.Context, from *testNode, text string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var answer frames.Message
	err := from.Conn("p", "").Invoke(ctx, "/test.P/Do", &frames.Message{Body: []byte(text)}, &answer, grpc.ForceCodecV2(frames.Codec()))
	return string(answer.Body), err
}

func echo(_ context.Context, request string) (string, error) { return "echo " + request, nil }

func TestACallIsCarriedWithItsCaller(t *testing.T) {
	w := newWorld()
	w.waits = patient
	a, b := newNode(t, w, true), newNode(t, w, true)
	w.give(b, 7)
	b.plugin.answer = func(ctx context.Context, request string) (string, error) {
		who, _ := caller.From(ctx)
		md, _ := metadata.FromOutgoingContext(ctx)
		_, limited := ctx.Deadline()
		if !limited || !plugin.IsSafe(ctx) {
			t.Errorf("deadline %v, safe %v", limited, plugin.IsSafe(ctx))
		}
		for k := range md {
			if strings.HasPrefix(k, "ctl-node-") {
				t.Errorf("the plugin gets %s", k)
			}
		}
		return strings.Join([]string{request, who.User, strings.Join(who.Roles, "+"), who.RequestID, firstMetadataValue(md, "ctl-min-revision"), firstMetadataValue(md, "traceparent")}, " "), nil
	}
	ctx := caller.With(plugin.Safe(context.Background()), caller.Caller{User: "Änne", Roles: []string{"r1", "r2"}, RequestID: "id-1"})
	ctx = metadata.AppendToOutgoingContext(ctx, "ctl-min-revision", "42", "traceparent", "00-x")
	got, err := call(ctx, a, "hello")
	if err != nil || got != "hello Änne r1+r2 id-1 42 00-x" {
		t.Errorf("%q %v", got, err)
	}
	acting := make(chan bool, 2)
	b.plugin.answer = func(ctx context.Context, _ string) (string, error) {
		acting <- aaa.IsPlugin(ctx)
		return "", nil
	}
	for who, want := range map[context.Context]bool{
		aaa.AsPlugin(context.Background(), "q"):                                               true,
		caller.With(context.Background(), caller.Caller{User: "q", Domain: aaa.PluginDomain}): false,
	} {
		if _, err := call(who, a, "x"); err != nil || <-acting != want {
			t.Errorf("a plugin that acts for nobody: want %v, %v", want, err)
		}
	}
	b.plugin.answer = func(context.Context, string) (string, error) {
		return "", fault.ToStatus(fault.At(fault.Exists, "/p", "it is there"))
	}
	if _, err := call(ctx, a, "x"); fault.KindOf(fault.FromStatus(err)) != fault.Exists {
		t.Errorf("an error of the plugin arrives as %v", err)
	}
	if n := b.plugin.count(); n != 4 {
		t.Errorf("%d calls", n)
	}
}

func TestWhereACallGoes(t *testing.T) {
	type nodes struct{ a, b, c *testNode }
	for name, c := range map[string]struct {
		safe    bool
		prepare func(w *world, n nodes)
		want    string // empty = unavailable, with a time
		calls   int    // at b
	}{
		"this node has the role": {want: "echo x", prepare: func(w *world, n nodes) { w.give(n.a, 3) }},
		"refused, and looked up once more": {want: "echo x", prepare: func(w *world, n nodes) {
			w.give(n.b, 3)
			n.b.plugin.epoch = 0 // it has lost the role, and the news is on its way
			// Who holds the role is looked up for the call, to watch it, and once more when it was refused.
			n.a.view.third = func() { w.give(n.c, 9) }
		}},
		"refused, and nobody else has it": {prepare: func(w *world, n nodes) { w.give(n.b, 3); n.b.plugin.epoch = 4 }},
		"nobody has it":                   {prepare: func(*world, nodes) {}},
		"the node cannot be reached, and another takes over": {want: "echo x", prepare: func(w *world, n nodes) {
			w.give(n.b, 3)
			n.b.Close()
			time.AfterFunc(300*time.Millisecond, func() { w.give(n.c, 9) })
		}},
		"the node has no address": {prepare: func(w *world, n nodes) {
			w.give(n.b, 3)
			w.set(func() { w.nodes[n.b.o.Identity.ID] = lease.Node{ID: n.b.o.Identity.ID} })
		}},
		"it dies under a call that changes something": {calls: 1, prepare: func(w *world, n nodes) {
			w.give(n.b, 3)
			n.b.plugin.answer = func(ctx context.Context, _ string) (string, error) {
				go n.b.Close()
				<-ctx.Done()
				w.give(n.c, 9)
				return "", ctx.Err()
			}
		}},
		"it dies under a call that changes nothing": {safe: true, want: "echo x", calls: 1, prepare: func(w *world, n nodes) {
			w.give(n.b, 3)
			n.b.plugin.answer = func(ctx context.Context, _ string) (string, error) {
				go n.b.Close()
				<-ctx.Done()
				w.give(n.c, 9)
				return "", ctx.Err()
			}
		}},
		"it does not know yet that it has the role": {safe: true, want: "echo x", calls: 1, prepare: func(w *world, n nodes) {
			w.give(n.b, 3)
			n.b.view.late, n.b.plugin.epoch = true, 0
			time.AfterFunc(300*time.Millisecond, func() {
				w.set(func() { n.b.view.late = false })
				n.b.plugin.mu.Lock()
				defer n.b.plugin.mu.Unlock()
				n.b.plugin.epoch = 3
			})
		}},
		"it stands still, and the role goes elsewhere": {safe: true, want: "echo x", calls: 1, prepare: func(w *world, n nodes) {
			w.give(n.b, 3)
			n.b.plugin.answer = func(ctx context.Context, _ string) (string, error) {
				w.give(n.c, 9)
				<-ctx.Done()
				return "", ctx.Err()
			}
		}},
		"it stands still under a call that changes something": {calls: 1, prepare: func(w *world, n nodes) {
			w.give(n.b, 3)
			n.b.plugin.answer = func(ctx context.Context, _ string) (string, error) {
				w.give(n.c, 9)
				<-ctx.Done()
				return "", ctx.Err()
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.waits = waits{dial: 4 * time.Second, safe: 12 * time.Second, unsafe: 4 * time.Second}
			n := nodes{newNode(t, w, true), newNode(t, w, true), newNode(t, w, true)}
			for _, x := range []*testNode{n.a, n.b, n.c} {
				x.plugin.answer = echo
			}
			c.prepare(w, n)
			ctx := context.Background()
			if c.safe {
				ctx = plugin.Safe(ctx)
			}
			got, err := call(ctx, n.a, "x")
			if c.want != "" && (err != nil || got != c.want) {
				t.Errorf("%q %v, want %q", got, err, c.want)
			}
			var later interface{ RetryAfter() time.Duration }
			if c.want == "" && (!errors.As(err, &later) || later.RetryAfter() < time.Second || fault.KindOf(err) != fault.Unavailable) {
				t.Errorf("%q %v, want an error with a time to try again", got, err)
			}
			if calls := n.b.plugin.count(); calls != c.calls {
				t.Errorf("the node was called %d times, want %d", calls, c.calls)
			}
		})
	}
}

func TestOnlyMembersCall(t *testing.T) {
	w := newWorld()
	a, b := newNode(t, w, true), newNode(t, w, true)
	unknown := newNode(t, w, false)
	b.plugin.answer = echo
	w.give(b, 3)
	if got, err := call(context.Background(), unknown, "x"); err == nil {
		t.Errorf("a node without a record got %q", got)
	}
	if n := b.plugin.count(); n != 0 {
		t.Errorf("it reached the plugin %d times", n)
	}
	// Something else listens at the address of a node.
	w.set(func() {
		n := w.nodes[b.o.Identity.ID]
		n.Address = unknown.o.Listener.Addr().String()
		w.nodes[n.ID] = n
	})
	if got, err := call(context.Background(), a, "x"); err == nil {
		t.Errorf("another certificate answered %q", got)
	}
}

func TestACallIsForwardedOnce(t *testing.T) {
	w := newWorld()
	w.waits = patient
	a, b := newNode(t, w, true), newNode(t, w, true)
	b.plugin.answer = echo
	w.give(b, 3)
	for _, md := range []metadata.MD{
		{}, metadata.Pairs(metaPlugin, "p", metaEpoch, "3"), metadata.Pairs(metaPlugin, "p", metaEpoch, "3", metaHop, "2"), metadata.Pairs(metaPlugin, "p", metaHop, "1", metaEpoch, "-3"),
		metadata.Pairs(metaPlugin, "p", metaHop, "1", metaEpoch, "3", metaCaller+"-bin", "{"),
	} {
		c, err := a.dialNode(t.Context(), b.o.Identity.ID)
		if err != nil {
			t.Fatal(err)
		}
		md.Set(metaUnary, "1")
		var answer frames.Message
		err = c.Invoke(metadata.NewOutgoingContext(t.Context(), md), "/test.P/Do", &frames.Message{}, &answer, grpc.ForceCodecV2(frames.Codec()))
		if err == nil || b.plugin.count() != 0 {
			t.Errorf("%v: %v, %d calls", md, err, b.plugin.count())
		}
	}
}

func TestStatusAndStepDown(t *testing.T) {
	w := newWorld()
	a, b := newNode(t, w, true), newNode(t, w, true)
	w.give(b, 3)
	gone := "node-00000000"
	w.set(func() { w.nodes[gone] = lease.Node{ID: gone, Address: "127.0.0.1:1", Fingerprint: "x"} })
	s := a.Status(t.Context())
	if len(s.Members) != 3 || len(s.Roles) != 1 {
		t.Fatalf("%+v", s)
	}
	for _, m := range s.Members {
		switch m.ID {
		case gone:
			if m.Live != nil || m.Why == "" {
				t.Errorf("%+v", m)
			}
		case a.o.Identity.ID:
			if !m.Self || m.Live == nil || len(m.Running.Plugins) != 1 {
				t.Errorf("%+v", m)
			}
		default:
			if m.Self || m.Live == nil || m.Live.LeaseMS != 1000 || len(m.Roles) != 1 {
				t.Errorf("%+v", m)
			}
		}
	}
	given, err := a.StepDown(t.Context(), "", []string{"plugin/p"}, time.Second, "ann")
	if err != nil || len(given) != 1 || len(b.view.stepped) != 1 || a.view.stepped != nil {
		t.Errorf("%v %v", given, err)
	}
	if _, err := a.StepDown(t.Context(), "", []string{"other"}, time.Second, "ann"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	if _, err := a.StepDown(t.Context(), "node-ffffffff", nil, time.Second, "ann"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// The clock of another node is compared with the moments before and after the question.
func TestHowFarAClockIsAhead(t *testing.T) {
	began := time.UnixMilli(1_000_000)
	ended := began.Add(40 * time.Millisecond)
	for at, want := range map[int64]time.Duration{
		0:         0, // it does not say
		1_000_020: 0,
		999_999:   0,
		1_003_040: 3 * time.Second,
		940_000:   -time.Minute,
	} {
		if got := clockAhead(at, began, ended); got != want {
			t.Errorf("a clock of %d is %v ahead, want %v", at, got, want)
		}
	}
}
