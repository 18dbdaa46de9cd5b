package hostsvc_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/events"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type token string

func (t token) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{wire.MetaToken: string(t)}, nil
}

func (token) RequireTransportSecurity() bool { return false }

// directory is a list of providers that a test changes.
type directory struct {
	mu      sync.Mutex
	list    []host.Provider
	changed chan struct{}
}

func (d *directory) Providers(string) []host.Provider {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.list
}

func (d *directory) Changed() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed
}

func (d *directory) set(list ...host.Provider) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = list
	close(d.changed)
	d.changed = make(chan struct{})
}

// serve opens a socket with the services and returns a client of it.
func serve(t *testing.T, s hostsvc.Services) *host.Client {
	t.Helper()
	srv := listen(t, s)
	c, err := host.NewClient(t.Context(), dial(t, srv))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// dial returns a connection of the plugin.
func dial(t *testing.T, srv *hostsvc.Server) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+srv.Socket(), wire.DialOptions(
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(token("t1")),
		grpc.WithInitialWindowSize(64<<10), grpc.WithInitialConnWindowSize(64<<20))...) // fixed: they do not grow with what is sent
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// listen opens a socket for the plugin p, which was granted all that it requests.
func listen(t *testing.T, s hostsvc.Services) *hostsvc.Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "svc")
	if err != nil {
		t.Fatal(err)
	}
	s.Log, s.Refused = slog.New(slog.DiscardHandler), func(grant.Grant) {}
	s.Serving = func(string) (context.Context, bool) { return nil, false }
	s.Fence = func() (datastore.Compare, bool, error) { return datastore.Compare{}, false, nil }
	s.Exports = func(string) ([]string, bool) { return nil, true }
	s.Relay = func(any, grpc.ServerStream) error { return fault.New(fault.Unsupported, "no relay") }
	s.RelayUnary = func(context.Context, string, []byte) ([]byte, error) {
		return nil, fault.New(fault.Unsupported, "no relay")
	}
	srv, err := hostsvc.Listen(filepath.Join(dir, "p"), "p", s)
	if err != nil {
		t.Fatal(err)
	}
	srv.AddToken("t0", 0)
	srv.AddToken("t1", 0)
	srv.RemoveToken("t0")
	srv.SetManifest(&pluginv1.Manifest{Name: "p", YangModules: []*pluginv1.YangModule{{Name: "m@2026-01-01", Implemented: true}, {Name: "imported"}},
		Requests: []*pluginv1.Request{{Kind: grant.Service, Value: "*"}, {Kind: grant.Plugins, Value: "x"}, {Kind: grant.Stream, Value: "s"},
			{Kind: grant.RPC, Value: "m:r"}, {Kind: grant.Certificate, Value: "trust"}}, Streams: []string{"s"}})
	all := grant.Held{}
	for _, kind := range []string{grant.Service, grant.Plugins, grant.Stream, grant.RPC, grant.Certificate} {
		all = all.Grant("test", time.Time{}, grant.Grant{Kind: kind, Value: "*"})
	}
	srv.SetHeld(all)
	t.Cleanup(func() { srv.Close(); _ = os.RemoveAll(dir) })
	return srv
}

func TestDatastore(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	c := serve(t, hostsvc.Services{Store: store})
	ctx := t.Context()
	big := strings.Repeat("v", 100<<10)
	for i := range 9 { // more than one message of a range
		if err := c.Datastore.Put(ctx, fmt.Sprintf("k%d", i), []byte(big)); err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	for e, err := range c.Datastore.Range(ctx, host.Private, "k") {
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Value) != len(big) || e.Revision == 0 {
			t.Errorf("%s: %d bytes, revision %d", e.Key, len(e.Value), e.Revision)
		}
		keys = append(keys, e.Key)
	}
	if want := "[k0 k1 k2 k3 k4 k5 k6 k7 k8]"; fmt.Sprint(keys) != want {
		t.Errorf("keys %v", keys)
	}
	if _, err := c.Datastore.Get(ctx, host.Private, "none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an absent key: %v", err)
	}
	_, err := c.Datastore.Commit(ctx, host.Txn{Compares: []host.Compare{{Key: "k0"}}, Ops: []host.Op{{Key: "k0", Delete: true}}})
	if fault.KindOf(err) != fault.InUse {
		t.Errorf("a compare that does not hold: %v", err)
	}
	if _, err := c.Datastore.Commit(ctx, host.Txn{}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an empty transaction: %v", err)
	}
	if _, err := c.Datastore.Get(ctx, 9, "k"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an unknown space: %v", err)
	}
	for key, want := range map[string]fault.Kind{"m:x": fault.NotFound, "/m:x/y=1": fault.NotFound, "imported:x": fault.Denied, "x": fault.Denied, "": fault.Denied} {
		if _, err := c.Datastore.Get(ctx, host.Tree, key); fault.KindOf(err) != want {
			t.Errorf("configuration %q: %v", key, err)
		}
	}
}

// followed writes what a follower is sent, and ends after the wanted number of steps.
type followed struct {
	lines []string
	more  func(step int)
	end   int
}

func (f *followed) step(line string) error {
	f.lines = append(f.lines, line)
	f.more(len(f.lines))
	if len(f.lines) == f.end {
		return errEnough
	}
	return nil
}

var errEnough = errors.New("enough")

func (f *followed) Reset(_ uint64, entries []host.Event) error {
	return f.step("reset" + keysOf(entries))
}
func (f *followed) Apply(_ uint64, events []host.Event) error {
	return f.step("change" + keysOf(events))
}

func keysOf(events []host.Event) (out string) {
	for _, e := range events {
		out += fmt.Sprintf(" %d:%s", e.Prefix, e.Key)
		if e.Deleted {
			out += "-"
		}
	}
	return out
}

func TestFollowSendsTheStateAndThenEachChange(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	c := serve(t, hostsvc.Services{Store: store})
	commit := func(ops ...host.Op) {
		t.Helper()
		if _, err := c.Datastore.Commit(t.Context(), host.Txn{Ops: ops}); err != nil {
			t.Fatal(err)
		}
	}
	commit(host.Op{Key: "a/1", Value: []byte("1")}, host.Op{Key: "b/1"}, host.Op{Key: "c"})
	f := &followed{end: 4}
	f.more = func(step int) {
		switch step {
		case 1:
			commit(host.Op{Key: "a/1", Delete: true}, host.Op{Key: "b/2"})
		case 2:
			commit(host.Op{Key: "c"}) // none of what is followed: progress
		case 3:
			commit(host.Op{Key: "a/3"})
		}
	}
	err := c.Datastore.Follow(t.Context(), []host.Prefix{{Space: host.Private, Prefix: "a/"}, {Space: host.Private, Prefix: "b/"}}, f)
	want := []string{"reset 0:a/1 1:b/1", "change 0:a/1- 1:b/2", "change", "change 0:a/3"}
	if err != errEnough || fmt.Sprint(f.lines) != fmt.Sprint(want) {
		t.Errorf("%q, %v", f.lines, err)
	}
	if err := c.Datastore.Follow(t.Context(), []host.Prefix{{Space: host.Shared, Plugin: "q", Prefix: "a/"}}, f); fault.KindOf(err) != fault.Denied {
		t.Errorf("data that no plugin exports: %v", err)
	}
}

func TestAbsentServicesSaySo(t *testing.T) {
	c := serve(t, hostsvc.Services{})
	ctx := t.Context()
	_, sealed := c.Secrets.Seal(ctx, "p", nil)
	_, text := c.Secrets.OpenText(ctx, "{sealed}AAAA")
	_, listed := c.Switchboard.Providers(ctx, "x")
	_, trusted := c.Certificates.Trust(ctx)
	for what, err := range map[string]error{
		"datastore": c.Datastore.Put(ctx, "k", nil), "events": c.Events.Publish(ctx, "s", "m:n", 1), "secrets": sealed, "texts": text,
		"operations": c.Operations.Call(ctx, "m", "r", nil, nil), "switchboard": listed, "certificates": trusted,
		"subscription": c.Events.Subscribe(ctx, []string{"s"}, nil),
	} {
		if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "this controller has no") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// texts is a key that opens one text.
type texts struct{ hostsvc.Sealer }

func (texts) OpenText(text string) (string, error) {
	if text != "{sealed}AAAA" {
		return "", errors.New("not of this home")
	}
	return "plain", nil
}

func TestOpenText(t *testing.T) {
	c := serve(t, hostsvc.Services{Secrets: texts{}})
	for text, want := range map[string]string{"{sealed}AAAA": "plain", "no mark": "no mark", "": ""} {
		if got, err := c.Secrets.OpenText(t.Context(), text); err != nil || got != want {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
	if _, err := c.Secrets.OpenText(t.Context(), "{sealed}BBBB"); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "not of this home") {
		t.Errorf("another text: %v", err)
	}
}

func TestSubscriptionsEndWithTheBus(t *testing.T) {
	bus := events.New()
	c := serve(t, hostsvc.Services{Bus: bus})
	if err := c.Events.Subscribe(t.Context(), nil, nil); fault.KindOf(err) != fault.Missing {
		t.Errorf("no streams: %v", err)
	}
	done := make(chan struct{})
	go func() { // until the subscription is there
		for {
			select {
			case <-done:
				return
			default:
				bus.Publish("s", "host", []byte(`{"m:n":1}`))
			}
		}
	}()
	n := 0
	err := c.Events.Subscribe(t.Context(), []string{"s"}, func(r host.Received) error {
		if n++; n == 1 {
			if r.Publisher != "host" || string(r.Data) != `{"m:n":1}` || r.Time.IsZero() {
				t.Errorf("received %+v", r)
			}
			close(done)
			bus.Close()
		}
		return nil
	})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("the end: %v", err)
	}
}

func TestProvidersAreToldWhenTheyChange(t *testing.T) {
	d := &directory{changed: make(chan struct{}), list: []host.Provider{{Name: "a", Ready: true, Generation: 1, RestartIn: 5}}}
	c := serve(t, hostsvc.Services{Directory: d})
	stop := fmt.Errorf("enough")
	var got []string
	err := c.Switchboard.Watch(t.Context(), "x", func(list []host.Provider) error {
		text := ""
		for _, p := range list {
			text += fmt.Sprintf("%s:%v:%d ", p.Name, p.Ready, p.Generation)
		}
		got = append(got, text)
		switch len(got) {
		case 1:
			d.set(host.Provider{Name: "a", Ready: true, Generation: 1, RestartIn: 7}) // nothing of interest
			d.set(host.Provider{Name: "a", Generation: 1})
		case 2:
			d.set(host.Provider{Name: "a", Ready: true, Generation: 2})
		case 3:
			return stop
		}
		return nil
	})
	if want := "[a:true:1  a:false:1  a:true:2 ]"; err != stop || fmt.Sprint(got) != want {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAPluginKeepsToItsQuotas(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	c := serve(t, hostsvc.Services{Store: store, Bus: events.New(), Quotas: hostsvc.Quotas{StoreBytes: 10_000, StoreKeys: 20, Streams: 2, Events: 1, EventBytes: 100}})
	ctx := t.Context()
	for range 100 { // the same keys again and again: what is there counts, not what was written
		if err := c.Datastore.Put(ctx, "k", make([]byte, 5000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Datastore.Put(ctx, "l", make([]byte, 6000)); fault.KindOf(err) != fault.TooBig || !strings.Contains(err.Error(), "quota") {
		t.Errorf("more bytes than the quota: %v", err)
	}
	var txn host.Txn
	for i := range 20 {
		txn.Ops = append(txn.Ops, host.Op{Key: fmt.Sprint(i), Value: []byte("x")})
	}
	if _, err := c.Datastore.Commit(ctx, txn); fault.KindOf(err) != fault.TooBig {
		t.Errorf("more keys than the quota: %v", err)
	}
	if _, err := c.Datastore.Commit(ctx, host.Txn{Ops: []host.Op{{Key: "k", Delete: true}}}); err != nil {
		t.Errorf("a deletion makes room: %v", err)
	}
	if err := c.Datastore.Put(ctx, "l", make([]byte, 6000)); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	if err := c.Events.Publish(ctx, "s", "m:n", strings.Repeat("x", 200)); fault.KindOf(err) != fault.TooBig {
		t.Errorf("a large event: %v", err)
	}
	refused := 0
	for range 40 {
		if err := c.Events.Publish(ctx, "s", "m:n", 1); fault.KindOf(err) == fault.Unavailable {
			refused++
		}
	}
	if refused == 0 {
		t.Error("events at any rate")
	}
}
