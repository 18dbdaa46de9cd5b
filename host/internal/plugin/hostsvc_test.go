package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/keys/encrypt/encrypttest"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/internal/wire/link"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// modules answers the RPCs of other modules with who calls.
// door is the key of what only the host knows of a request.
type door struct{}

type modules struct{}

func (modules) Call(ctx context.Context, plugin, module, rpc string, _ []byte) ([]byte, error) {
	if module == "missing" {
		return nil, fault.New(fault.NotFound, "no such module")
	}
	who, _ := caller.From(ctx)
	answer := map[string]string{"called": module + ":" + rpc, "by": plugin, "for": who.User}
	if through, ok := hostsvc.Served(ctx).Value(door{}).(string); ok {
		answer["through"] = through
	}
	return json.Marshal(answer)
}

type certificates struct{}

func (certificates) Trust(context.Context) ([]byte, error) { return nil, nil }
func (certificates) Identity(context.Context) (cert, key []byte, err error) {
	return nil, nil, errors.New("must not be asked")
}

// documents keeps each instance as one document, unchecked.
type documents struct{}

func (documents) Draft(_ context.Context, edits []hostsvc.TreeEdit, t *datastore.Txn) error {
	for _, e := range edits {
		t.Ops = append(t.Ops, datastore.Put(e.Namespace, e.Path, e.Value))
	}
	return nil
}

// ring is a key that has sealed no texts.
type ring struct{ *encrypt.Ring }

func (ring) OpenText(string) (string, error) { return "", encrypt.ErrForeign }

func servicesRig(t *testing.T) (*rig, datastore.Store) {
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { _ = store.Close() })
	sealer := ring{encrypttest.Ring(t, "key")}
	r := newRig(t, func(o *Options) {
		o.Store, o.Secrets, o.Operations, o.Certificates, o.Trees = store, sealer, modules{}, certificates{}, documents{}
	})
	r.ensure(faulty())
	return r, store
}

// host makes the plugin call the host.
func (r *rig) host(ctx context.Context, call, text string) (string, error) {
	in, _ := json.Marshal(map[string]string{"call": call, "text": text})
	out, err := r.Invoke(ctx, "faulty", "host", in)
	var res struct{ Text string }
	_ = json.Unmarshal(out, &res)
	return res.Text, err
}

func TestWhatPluginsMayAskOfTheHost(t *testing.T) {
	r, store := servicesRig(t)
	ann := caller.With(context.WithValue(r.ctx(), door{}, "8443"), caller.Caller{User: "ann", RequestID: "r7"})
	for _, c := range []struct {
		call, text, want string
		kind             fault.Kind // when want is empty and it fails
		fails            bool
	}{
		{call: "put", text: "value"},
		{call: "get", want: "value"},
		{call: "seal", text: "secret", want: "secret"},
		{call: "seal-mix", text: "secret", fails: true, kind: fault.Invalid},
		{call: "publish-tree", text: "faulty:state/a"},
		{call: "publish-tree", text: "faulty:state"},
		{call: "publish-tree", text: "faulty:statement", fails: true, kind: fault.Denied},
		{call: "publish-tree", text: "other:state", fails: true, kind: fault.Denied},
		{call: "write-config", text: "faulty:x", fails: true, kind: fault.Denied},
		{call: "publish", text: "faulty-events"},
		{call: "publish", text: "others-events", fails: true, kind: fault.Denied},
		{call: "call", text: "other:thing", want: "map[by:faulty called:other:thing for:ann through:8443]"},
		{call: "call", text: "missing:thing", fails: true, kind: fault.NotFound},
		{call: "providers", text: "topology", want: "faulty:true"},
		{call: "providers", text: "realm", fails: true, kind: fault.Denied},
		{call: "identity", fails: true, kind: fault.Denied},
	} {
		t.Run(c.call+" "+c.text, func(t *testing.T) {
			got, err := r.host(ann, c.call, c.text)
			if c.fails != (err != nil) || c.fails && fault.KindOf(err) != c.kind || got != c.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	e, err := datastore.Get(t.Context(), store, hostsvc.NamespacePrivate("faulty"), "k")
	if err != nil || string(e.Value) != "value" {
		t.Errorf("in the store: %q, %v", e.Value, err)
	}
	if _, err := datastore.Get(t.Context(), store, hostsvc.NamespaceOperational, "/faulty:state/a"); err != nil {
		t.Errorf("operational data: %v", err)
	}
	if err := r.Remove(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	if _, err := datastore.Get(t.Context(), store, hostsvc.NamespaceOperational, "/faulty:state/a"); !errors.Is(err, datastore.ErrNotFound) {
		t.Errorf("operational data of a removed plugin: %v", err)
	}
	if _, err := datastore.Get(t.Context(), store, hostsvc.NamespacePrivate("faulty"), "k"); err != nil {
		t.Errorf("private data of a removed plugin: %v", err)
	}
}

func TestEventsOfPluginsReachTheBus(t *testing.T) {
	r, _ := servicesRig(t)
	sub := r.bus.Subscribe(4, "faulty-events")
	defer sub.Close()
	if _, err := r.host(r.ctx(), "publish", "faulty-events"); err != nil {
		t.Fatal(err)
	}
	e, err := sub.Next(r.ctx())
	if err != nil || e.Publisher != "faulty" || string(e.Data) != `{"faulty:event":{"n":1}}` {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestTheSocketNeedsTheToken(t *testing.T) {
	r, _ := servicesRig(t)
	s, _ := r.findSupervisor("faulty")
	c, err := grpc.NewClient("unix://"+s.services.Socket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	good := s.cur.Load().token
	for _, token := range []string{"", "wrong", good[1:], good + "x"} {
		ctx := metadata.AppendToOutgoingContext(r.ctx(), "ctl-token", token)
		_, err := pluginv1.NewHostSwitchboardClient(c).Providers(ctx, &pluginv1.ProvidersRequest{Capability: "topology"})
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("token %q: %v", token, err)
		}
		_, err = pluginv1.NewSwitchDriverClient(c).ReadPorts(metadata.AppendToOutgoingContext(ctx, "ctl-provider", "faulty"), &pluginv1.ReadPortsRequest{})
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("relay with token %q: %v", token, err)
		}
	}
	if err := r.Reload(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	for { // the old process ends in the background, and its token with it
		ctx := metadata.AppendToOutgoingContext(r.ctx(), "ctl-token", good)
		_, err := pluginv1.NewHostSwitchboardClient(c).Providers(ctx, &pluginv1.ProvidersRequest{Capability: "topology"})
		if status.Code(err) == codes.Unauthenticated {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// second is another plugin that serves only what two may serve.
func second() Spec {
	s := faulty("no-claims", "name=second")
	s.Name = "second"
	return s
}

func TestPluginsReachEachOther(t *testing.T) {
	r, _ := servicesRig(t)
	r.ensure(second())
	if got := r.must("relay", `{"provider":"second"}`); got != `{"number":7}` {
		t.Errorf("relayed: %s", got)
	}
	if got, err := r.host(r.ctx(), "providers", "switchdriver"); err != nil || got != "faulty:true second:true" {
		t.Errorf("providers: %q, %v", got, err)
	}
	if _, err := r.call("relay", `{"provider":"nobody"}`); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown provider: %v", err)
	}
	if err := r.Stop(r.ctx(), "second"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.call("relay", `{"provider":"second"}`); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "second is stopped") {
		t.Errorf("a stopped provider: %v", err)
	}
}

// ways are how a plugin's unary call to another travels to the host.
var ways = []string{"call", "link"}

// relayed calls ReadPorts of a provider as the faulty plugin, without a deadline and
// with more metadata. Trailers come by the one way only.
func (r *rig) relayed(t *testing.T, way, provider string, node uint64, md ...string) (metadata.MD, error) {
	s, _ := r.findSupervisor("faulty")
	c, err := grpc.NewClient("unix://"+s.services.Socket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	token := []string{"ctl-token", s.cur.Load().token}
	var over grpc.ClientConnInterface = c
	var trailer metadata.MD
	opts := []grpc.CallOption{grpc.Trailer(&trailer)}
	if way == "link" {
		l, err := link.Open(metadata.AppendToOutgoingContext(r.ctx(), token...), c)
		if err != nil || !l.Linked() {
			return nil, fmt.Errorf("linked %v: %w", l.Linked(), err)
		}
		defer l.Close()
		over, opts, token = l, nil, nil
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), append(append([]string{"ctl-provider", provider}, token...), md...)...)
	_, err = pluginv1.NewSwitchDriverClient(over).ReadPorts(ctx, &pluginv1.ReadPortsRequest{Switch: &pluginv1.Switch{NodeId: node}}, opts...)
	return trailer, err
}

func TestTheRelayTellsWhoseFaultItIs(t *testing.T) {
	for _, way := range ways {
		t.Run(way, func(t *testing.T) { theRelayTellsWhoseFaultItIs(t, way) })
	}
}

func theRelayTellsWhoseFaultItIs(t *testing.T, way string) {
	r, _ := servicesRig(t)
	r.ensure(second())
	trailer, err := r.relayed(t, way, "second", 0)
	var e *fault.Error
	if err = fault.FromStatus(err); !errors.As(err, &e) || e.Kind != fault.Downstream || e.Source != fault.SourceDevice {
		t.Errorf("a device's error: %#v", e)
	}
	if len(trailer.Get("ctl-relay")) != 0 {
		t.Errorf("trailer %v", trailer)
	}
	if _, err := r.relayed(t, way, "nobody", 1); fault.KindOf(fault.FromStatus(err)) != fault.NotFound {
		t.Errorf("an unknown provider: %v", err)
	}
	if err := r.Stop(r.ctx(), "second"); err != nil {
		t.Fatal(err)
	}
	trailer, err = r.relayed(t, way, "second", 1)
	if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "plugin second is stopped") {
		t.Errorf("provider gone: %v", err)
	}
	if way == "call" && fmt.Sprint(trailer.Get("ctl-relay")) != "[provider-gone]" {
		t.Errorf("provider gone: trailer %v", trailer)
	}
	for _, hops := range []string{"8", "-1", "many"} {
		if _, err := r.relayed(t, way, "second", 1, "ctl-hops", hops); status.Code(err) != codes.PermissionDenied {
			t.Errorf("hops %q: %v", hops, err)
		}
	}
	if _, err := r.relayed(t, way, "second", 1, "ctl-hops", "8"); status.Code(err) != codes.PermissionDenied || !strings.Contains(err.Error(), "loop") {
		t.Errorf("a circle: %v", err)
	}
}

func TestTheRelayDoesNotWaitForEver(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Limits.CallTimeout = 300e6 })
	r.ensure(faulty())
	r.ensure(second())
	for _, way := range ways {
		if _, err := r.relayed(t, way, "second", 99); fault.KindOf(fault.FromStatus(err)) != fault.Timeout || !strings.Contains(err.Error(), "did not answer within 300ms") {
			t.Errorf("%s: a provider that never answers: %v", way, err)
		}
	}
	r.until("second", "idle", func(i Info) bool { r.must2("echo"); r.changed.Fire(); return i.InFlight == 0 })
}

// TestALinkServesWhileItsTokenDoes: the token comes with the link and is asked for at
// each call.
func TestALinkServesWhileItsTokenDoes(t *testing.T) {
	r, _ := servicesRig(t)
	s, _ := r.findSupervisor("faulty")
	c, err := grpc.NewClient("unix://"+s.services.Socket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if l, err := link.Open(metadata.AppendToOutgoingContext(r.ctx(), "ctl-token", "wrong"), c); status.Code(err) != codes.Unauthenticated || l.Linked() {
		t.Errorf("a link with a wrong token: %v", err)
	}
	s.services.AddToken("of the test", 0)
	l, err := link.Open(metadata.AppendToOutgoingContext(r.ctx(), "ctl-token", "of the test"), c)
	if err != nil || !l.Linked() {
		t.Fatal(err)
	}
	defer l.Close()
	ask := func() error {
		_, err := pluginv1.NewHostSwitchboardClient(l).Providers(r.ctx(), &pluginv1.ProvidersRequest{Capability: "topology"})
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	s.services.RemoveToken("of the test")
	if err := ask(); status.Code(err) != codes.Unauthenticated {
		t.Errorf("after the token was withdrawn: %v", err)
	}
	_, err = pluginv1.NewSwitchDriverClient(l).ReadPorts(metadata.AppendToOutgoingContext(r.ctx(), "ctl-provider", "faulty"), &pluginv1.ReadPortsRequest{})
	if status.Code(err) != codes.Unauthenticated {
		t.Errorf("relayed after the token was withdrawn: %v", err)
	}
}

// TestAProviderThatDiesFailsTheRelayedCall: and the caller learns that it is gone.
func TestAProviderThatDiesFailsTheRelayedCall(t *testing.T) {
	r, _ := servicesRig(t)
	r.ensure(second())
	for _, way := range ways {
		before, err := r.Info("second")
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan error, 1)
		go func() {
			_, err := r.relayed(t, way, "second", 99)
			failed <- err
		}()
		r.until("second", "serving it", func(i Info) bool { r.changed.Fire(); return i.InFlight == 1 })
		if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := <-failed; status.Code(err) != codes.Unavailable || fault.KindOf(fault.FromStatus(err)) != fault.Unavailable {
			t.Errorf("%s: %v", way, err)
		}
		r.until("second", "running again", func(i Info) bool { r.changed.Fire(); return i.State.Serving() && i.PID != 0 && i.PID != before.PID })
	}
}

func TestStreamsAreRelayedAndMoveOn(t *testing.T) {
	r, _ := servicesRig(t)
	r.ensure(second())
	s, _ := r.findSupervisor("faulty")
	c, err := grpc.NewClient("unix://"+s.services.Socket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := metadata.AppendToOutgoingContext(r.ctx(), "ctl-token", s.cur.Load().token, "ctl-provider", "second")
	stream, err := pluginv1.NewTopologyClient(c).Watch(ctx, &pluginv1.WatchTopologyRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := stream.Recv(); err != nil || len(m.GetSnapshot().GetNodes()) != 2 {
		t.Errorf("the first message: %v, %v", m, err)
	}
	if m, err := stream.Recv(); err != nil || !m.Synchronized {
		t.Errorf("the second message: %v, %v", m, err)
	}
	// A watch does not hold the old process up: it ends, and its reader asks again.
	if err := r.Reload(r.ctx(), "second"); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Unavailable || fmt.Sprint(stream.Trailer().Get("ctl-relay")) != "[provider-gone]" {
		t.Errorf("after the reload: %v, trailer %v", err, stream.Trailer())
	}
}

// A list of troubles of the process before is kept while the plugin runs and has not reported yet.
func TestReportsOfTroubles(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Troubles = func(context.Context, string, []*pluginv1.Trouble) error { return nil }
	})
	is := func(when string, reports, awaited bool) {
		t.Helper()
		if r.Reports("faulty") != reports || r.AwaitsReport("faulty") != awaited {
			t.Errorf("%s: it reports %v, a report is awaited %v", when, r.Reports("faulty"), r.AwaitsReport("faulty"))
		}
	}
	report := func() {
		t.Helper()
		if _, err := r.host(r.ctx(), "troubles", "router r1"); err != nil {
			t.Fatal(err)
		}
	}
	is("unknown", false, false)
	r.ensure(faulty())
	is("started", false, true)
	report()
	is("it has reported", true, false)
	if err := r.Restart(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	is("started again", false, false)
	report()
	if err := r.Stop(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	is("stopped", false, false)
}
