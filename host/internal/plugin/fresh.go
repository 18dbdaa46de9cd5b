package plugin

import (
	"context"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/wire/onward"
	"ctl.internal/sdk/host"
)

// fresh lets a call see everything that was acknowledged, on any node, before it: the
// plugin answers when its data has reached that revision. A call that asks for local
// state (datastore.AskLocal) sees what this node has.
func (m *Manager) fresh(ctx context.Context) (context.Context, error) {
	store := m.options.Store
	if store == nil {
		return ctx, nil
	}
	var at datastore.Revision
	var err error
	if !datastore.AsksLocal(ctx) {
		at, err = store.Barrier(ctx)
	} else {
		at = store.Revision()
	}
	if err != nil || at == 0 {
		return ctx, err
	}
	ctx = metadata.AppendToOutgoingContext(ctx, host.MetaMinRevision, strconv.FormatUint(uint64(at), 10))
	if left, ok := datastore.Budget(ctx); ok {
		ctx = metadata.AppendToOutgoingContext(ctx, onward.StoreLeft, strconv.FormatInt(left.Milliseconds(), 10))
	}
	return ctx, nil
}

// Fresh is Conn for calls that see everything acknowledged before them.
func (m *Manager) Fresh(name string) (grpc.ClientConnInterface, error) {
	s, err := m.get(name)
	if err != nil {
		return nil, err
	}
	return conn{s: s, fresh: true}, nil
}
