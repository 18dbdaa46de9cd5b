package hostsvc

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/datastore"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// maxPrefixes bounds what one Follow names.
const maxPrefixes = 64

// Follow streams the state below the prefixes and every change of it.
func (d *datastoreServer) Follow(
	r *pluginv1.FollowRequest,
	out grpc.ServerStreamingServer[pluginv1.FollowResponse],
) error {
	store := d.s.services.Store
	if len(r.Prefixes) == 0 || len(r.Prefixes) > maxPrefixes {
		return fault.New(
			fault.Invalid,
			"between 1 and %d prefixes can be followed, not %d",
			maxPrefixes,
			len(r.Prefixes),
		)
	}
	f := &following{s: d.s, out: out, request: r.Prefixes}
	for _, p := range r.Prefixes {
		at, err := d.resolveKey(p.Space, p.Plugin, p.Prefix, false)
		if err != nil {
			return err
		}
		f.at = append(f.at, at)
	}
	err := datastore.Follow(out.Context(), store, f.at, f)
	if f.failed != nil {
		return f.failed
	}
	if err == nil && out.Context().Err() == nil {
		err = datastore.ErrClosed
	}
	return storeFault(err)
}

// following sends what a store does to one follower. It implements datastore.Follower.
type following struct {
	s       *Server
	out     grpc.ServerStreamingServer[pluginv1.FollowResponse]
	request []*pluginv1.Prefix
	at      []datastore.Prefix
	failed  error // of the stream
}

func (f *following) sendResponse(m *pluginv1.FollowResponse) error {
	if f.failed == nil {
		f.failed = f.out.Send(m)
	}
	if f.failed != nil {
		return datastore.ErrClosed // no follower is left, so the store is no longer followed
	}
	return nil
}

// Reset implements datastore.Follower.
func (f *following) Reset(sn datastore.Snapshot) error {
	ctx, leave, err := f.s.acquireSnapshot(f.out.Context())
	if err != nil {
		f.failed = err
		return datastore.ErrClosed
	}
	defer leave()
	if err := f.sendResponse(&pluginv1.FollowResponse{Step: &pluginv1.FollowResponse_Reset_{Reset_: true}}); err != nil {
		return err
	}
	var list []*pluginv1.FollowEntry
	size := 0
	flush := func() error {
		err := f.sendResponse(&pluginv1.FollowResponse{Step: &pluginv1.FollowResponse_Entries{Entries: &pluginv1.FollowEntries{Entries: list}}})
		list, size = nil, 0
		return err
	}
	for i, p := range f.at {
		for e, err := range sn.Range(
			p.Namespace,
			datastore.RangeOptions{Prefix: p.Key, Shared: true},
		) {
			if f.failed = context.Cause(ctx); f.failed != nil {
				return datastore.ErrClosed
			}
			if err != nil {
				return err
			}
			list = append(
				list,
				&pluginv1.FollowEntry{
					Prefix: int32(i),
					Entry:  toProtoEntry(f.request[i].Space, e),
				},
			)
			if size += len(e.Key) + len(e.Value); size >= chunk {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if len(list) > 0 {
		if err := flush(); err != nil {
			return err
		}
	}
	return f.sendResponse(&pluginv1.FollowResponse{Step: &pluginv1.FollowResponse_Synced{Synced: uint64(sn.Revision())}})
}

// maxBatch bounds the bytes of the changes of one transaction in one message. Of a larger
// one the follower gets the state after it, in chunks.
const maxBatch = 8 << 20

var errLargeBatch = errors.New("the changes are more than one message takes")

// Apply implements datastore.Follower.
func (f *following) Apply(b datastore.Batch) error {
	var list []*pluginv1.FollowEntry
	size := 0
	for _, e := range b.Events {
		for i, p := range f.at {
			if e.Namespace == p.Namespace && strings.HasPrefix(e.Key, p.Key) {
				if size += len(e.Key) + len(e.Value); size > maxBatch {
					return errLargeBatch
				}
				list = append(
					list,
					&pluginv1.FollowEntry{
						Prefix:  int32(i),
						Entry:   toProtoEntry(f.request[i].Space, e.Entry),
						Deleted: e.Deleted,
					},
				)
			}
		}
	}
	if len(list) == 0 {
		return f.sendResponse(&pluginv1.FollowResponse{Step: &pluginv1.FollowResponse_Progress{Progress: uint64(b.Revision)}})
	}
	return f.sendResponse(&pluginv1.FollowResponse{Step: &pluginv1.FollowResponse_Batch{Batch: &pluginv1.FollowBatch{
		Revision: uint64(b.Revision),
		Events:   list,
	}}})
}
