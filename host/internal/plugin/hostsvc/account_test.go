package hostsvc_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/plugin/events"
	"ctl.internal/host/internal/plugin/hostsvc"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// bounds are those of a plugin, with a time for reading that a test chooses.
func bounds(unread time.Duration) hostsvc.Quotas {
	return hostsvc.Quotas{StoreBytes: 128 << 20, StoreKeys: 200_000, Calls: 512, Streams: 1024, RequestBytes: 32 << 20, UnreadBytes: 16 << 20, UnreadTime: unread, Snapshots: 8}
}

// put writes 8 keys of 1 MB, again and again.
func put(ctx context.Context, c *host.Client, times int) error {
	big := []byte(strings.Repeat("v", 1_000_000))
	for range times {
		t := host.Txn{}
		for i := range 8 {
			t.Ops = append(t.Ops, host.Op{Key: fmt.Sprint("k", i), Value: big})
		}
		if _, err := c.Datastore.Commit(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// heap is what the process has in use, without garbage.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A plugin that opens streams and reads none takes no more of the host than its account: it took 5 GB.
func TestUnreadStreamsAreBounded(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	bus := events.New()
	defer bus.Close()
	conn := dial(t, listen(t, hostsvc.Services{Store: store, Bus: bus, Quotas: bounds(time.Minute)}))
	c := client(t, conn)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := put(ctx, c, 1); err != nil {
		t.Fatal(err)
	}
	rpc := pluginv1.NewHostDatastoreClient(conn)
	follow := func() (grpc.ClientStream, error) {
		return rpc.Follow(ctx, &pluginv1.FollowRequest{Prefixes: []*pluginv1.Prefix{{Space: pluginv1.Space_SPACE_PRIVATE}}})
	}
	open := map[string]struct {
		n    int
		open func() (grpc.ClientStream, error)
	}{
		"follow": {240, follow},
		"range": {200, func() (grpc.ClientStream, error) {
			return rpc.Range(ctx, &pluginv1.RangeRequest{Space: pluginv1.Space_SPACE_PRIVATE})
		}},
		"subscribe": {240, func() (grpc.ClientStream, error) {
			return pluginv1.NewHostEventsClient(conn).Subscribe(ctx, &pluginv1.SubscribeRequest{Streams: []string{"s"}})
		}},
	}
	before := heap()
	for name, o := range open {
		for range o.n {
			if _, err := o.open(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	event := []byte(`{"m:n":"` + strings.Repeat("e", 200<<10) + `"}`)
	for range 20 {
		if err := put(ctx, c, 1); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			bus.Publish("s", "p", event)
		}
	}
	runtime.GC()
	const most = 200 << 20 // the log of the store has 32 MiB, and the ends of the client are in this process
	if took := int64(heap()) - int64(before); took > most {
		t.Errorf("the host holds %d MiB for one plugin", took>>20)
	}
}

// Answers that a plugin does not read are bounded as its streams are, those of calls on links and those of calls of
// their own: a link queued small answers without a bound, and each of thousands of calls kept a large one.
func TestUnreadAnswersAreBounded(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	srv := listen(t, hostsvc.Services{Store: store, Quotas: bounds(time.Minute), CallTimeout: time.Minute})
	conn := dial(t, srv)
	if err := put(t.Context(), client(t, conn), 1); err != nil {
		t.Fatal(err)
	}
	small := host.Txn{Ops: []host.Op{{Key: "small", Value: []byte(strings.Repeat("s", 10_000))}}}
	if _, err := client(t, conn).Datastore.Commit(t.Context(), small); err != nil {
		t.Fatal(err)
	}
	before := heap()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, key := range []string{"k1", "small"} {
		request, err := proto.Marshal(&pluginv1.GetRequest{Space: pluginv1.Space_SPACE_PRIVATE, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			stream, err := pluginv1.NewLinkClient(conn).Carry(ctx)
			if err != nil {
				t.Fatal(err)
			}
			sent := make(chan struct{})
			go func() { // until the host reads no more, because this end does not
				defer close(sent)
				for id := range uint64(8000) {
					if stream.Send(&pluginv1.CarryRequest{Calls: []*pluginv1.LinkCall{{Id: id + 1, Method: pluginv1.HostDatastore_Get_FullMethodName, Request: request}}}) != nil {
						return
					}
				}
			}()
			defer func() { cancel(); <-sent }()
		}
	}
	for range 900 { // as many as a connection may have, without the links
		stream, err := conn.NewStream(ctx, &grpc.StreamDesc{}, pluginv1.HostDatastore_Get_FullMethodName)
		if err == nil {
			err = stream.SendMsg(&pluginv1.GetRequest{Space: pluginv1.Space_SPACE_PRIVATE, Key: "k2"})
		}
		if err == nil {
			err = stream.CloseSend()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for srv.OverQuota()["unread"] == 0 && t.Context().Err() == nil {
		runtime.Gosched()
	}
	const most = 400 << 20
	if took := int64(heap()) - int64(before); took > most {
		t.Errorf("the host holds %d MiB for one plugin", took>>20)
	}
}

// Calls whose request never arrives are bounded over all connections, since each has a goroutine; when they end, others
// are served.
func TestCallsWithoutARequestAreBounded(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	srv := listen(t, hostsvc.Services{Store: store, Quotas: bounds(time.Minute), CallTimeout: time.Minute})
	const served, opened = 2048, 3 * 1000
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	refused := make(chan error, opened)
	for range 3 {
		conn := dial(t, srv)
		for range 1000 {
			stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, pluginv1.HostDatastore_Get_FullMethodName)
			if err != nil {
				t.Fatal(err)
			}
			go func() { refused <- stream.RecvMsg(&pluginv1.GetResponse{}) }()
		}
	}
	for range opened - served {
		if err := <-refused; status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "over all its connections") {
			t.Fatal(err)
		}
	}
	// Of this end each call has two as long as it is open.
	if n := runtime.NumGoroutine() - before; n > 3*served+200 {
		t.Errorf("%d goroutines for %d calls", n, served)
	}
	cancel()
	for range served {
		<-refused
	}
	last := client(t, dial(t, srv))
	for {
		if _, err := last.Datastore.Commit(t.Context(), host.Txn{Ops: []host.Op{{Key: "k", Value: []byte("v")}}}); err == nil {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("calls are not served again")
		}
		runtime.Gosched()
	}
}

// A stream that is not read ends, with a reason; one that is read goes on.
func TestAFollowerThatDoesNotReadIsReset(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	srv := listen(t, hostsvc.Services{Store: store, Quotas: bounds(time.Second)})
	conn := dial(t, srv)
	c := client(t, conn)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream, err := pluginv1.NewHostDatastoreClient(conn).Follow(ctx, &pluginv1.FollowRequest{Prefixes: []*pluginv1.Prefix{{Space: pluginv1.Space_SPACE_PRIVATE}}})
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan uint64, 100)
	ended := make(chan error, 1)
	go func() { ended <- c.Datastore.Follow(ctx, []host.Prefix{{Space: host.Private}}, follower{read}) }()
	if err := put(ctx, c, 1); err != nil { // more than the window of a stream
		t.Fatal(err)
	}
	for srv.OverQuota()["unread"] == 0 && ctx.Err() == nil {
		runtime.Gosched()
	}
	for err = error(nil); err == nil; {
		_, err = stream.Recv()
	}
	if err = fault.FromStatus(err); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "has not read the stream for 1s") {
		t.Errorf("ended with %v", err)
	}
	if err := put(ctx, c, 1); err != nil {
		t.Fatal(err)
	}
	for newest := uint64(0); newest < uint64(store.Revision()); {
		select {
		case newest = <-read:
		case err := <-ended:
			t.Fatalf("the follower that reads has ended, too: %v", err)
		}
	}
	cancel()
	<-ended
}

type follower struct{ read chan uint64 }

func (f follower) Reset(r uint64, _ []host.Event) error { f.read <- r; return nil }
func (f follower) Apply(r uint64, _ []host.Event) error { f.read <- r; return nil }

// What a connection that ends has not read is given back.
func TestTheAccountOfAConnectionEndsWithIt(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	q := bounds(time.Minute)
	q.UnreadBytes, q.Snapshots = 1<<20, 1000
	srv := listen(t, hostsvc.Services{Store: store, Quotas: q})
	if err := put(t.Context(), client(t, dial(t, srv)), 1); err != nil {
		t.Fatal(err)
	}
	for range 5 { // each takes the whole account
		conn := dial(t, srv)
		stream, err := pluginv1.NewHostDatastoreClient(conn).Range(t.Context(), &pluginv1.RangeRequest{Space: pluginv1.Space_SPACE_PRIVATE})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	if n := srv.OverQuota()["unread"]; n > 0 {
		t.Errorf("refused %d times", n)
	}
}

func TestWritesAndRequestsAreBounded(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	for quota, c := range map[string]struct {
		change func(*hostsvc.Quotas)
		says   string
	}{
		"writes":   {func(q *hostsvc.Quotas) { q.Commits, q.WriteBytes = 1000, 1<<20 }, "writes faster than its quota, 1000 commits and 1 MiB a second, so nothing was written"},
		"requests": {func(q *hostsvc.Quotas) { q.RequestBytes = 1 }, "that are under way have"},
	} {
		q := bounds(time.Minute)
		c.change(&q)
		srv := listen(t, hostsvc.Services{Store: store, Quotas: q})
		conn := dial(t, srv)
		failed := make(chan error, 16)
		for range cap(failed) {
			go func() { failed <- put(t.Context(), client(t, conn), 1) }()
		}
		var refused error
		for range cap(failed) {
			if err := <-failed; err != nil {
				refused = err
			}
		}
		if fault.KindOf(refused) != fault.Unavailable || !strings.Contains(refused.Error(), c.says) || srv.OverQuota()[quota] == 0 {
			t.Errorf("%s: %v, counted %v", quota, refused, srv.OverQuota())
		}
	}
}

func client(t *testing.T, conn *grpc.ClientConn) *host.Client {
	t.Helper()
	c, err := host.NewClient(t.Context(), conn)
	if err != nil {
		t.Error(err)
	}
	return c
}
