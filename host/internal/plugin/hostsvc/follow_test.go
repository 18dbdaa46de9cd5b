package hostsvc

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// sent are the messages of a stream.
type sent struct {
	grpc.ServerStream
	to chan *pluginv1.FollowResponse
}

func (s sent) Context() context.Context { return context.Background() }

func (s sent) Send(m *pluginv1.FollowResponse) error { s.to <- m; return nil }

// The changes of one transaction that are more than a message takes come as the state after
// it, in messages that can be sent.
func TestAFollowerGetsChangesOfAnySize(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	out := sent{to: make(chan *pluginv1.FollowResponse, 1000)}
	f := &following{s: &Server{}, out: out, request: []*pluginv1.Prefix{{Space: pluginv1.Space_SPACE_PRIVATE}}, at: []datastore.Prefix{{Namespace: "n"}}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- datastore.Follow(ctx, store, f.at, f) }()
	for m := range out.to { // nothing is there
		if m.GetSynced() > 0 || m.GetProgress() > 0 || m.GetStep() != nil && !m.GetReset_() {
			break
		}
	}
	const n = 300
	var ops []datastore.Op
	for i := range n {
		ops = append(ops, datastore.Put("n", fmt.Sprint(i), make([]byte, 256<<10)))
	}
	rev, err := store.Commit(t.Context(), datastore.Txn{Ops: ops})
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for m := range out.to {
		if size := proto.Size(m); size > wire.MaxMessage/2 {
			t.Fatalf("a message has %d bytes", size)
		}
		if m.GetReset_() {
			clear(have)
		}
		for _, e := range m.GetEntries().GetEntries() {
			have[e.Entry.Key] = true
		}
		for _, e := range m.GetBatch().GetEvents() {
			have[e.Entry.Key] = true
		}
		if m.GetSynced() == uint64(rev) || m.GetBatch().GetRevision() == uint64(rev) {
			break
		}
	}
	cancel()
	if err := <-ended; err != nil || len(have) != n {
		t.Errorf("%d of %d keys came, %v", len(have), n, err)
	}
}
