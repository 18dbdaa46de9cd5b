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

type datastoreServer struct {
	pluginv1.UnimplementedHostDatastoreServer
	s *Server
}

// rangeChunk is how many bytes of values one message of a range carries, about.
const rangeChunk = 256 << 10

func (d *datastoreServer) Get(ctx context.Context, r *pluginv1.GetRequest) (*pluginv1.GetResponse, error) {
	store, ns, key, err := d.reach(r.Space, r.Key, read)
	if err != nil {
		return nil, err
	}
	e, err := datastore.Get(ctx, store, ns, key)
	if errors.Is(err, datastore.ErrNotFound) {
		return &pluginv1.GetResponse{}, nil
	}
	if err != nil {
		return nil, storeFault(err)
	}
	return &pluginv1.GetResponse{Entry: entry(e)}, nil
}

func (d *datastoreServer) Range(r *pluginv1.RangeRequest, out grpc.ServerStreamingServer[pluginv1.RangeResponse]) error {
	store, ns, prefix, err := d.reach(r.Space, r.Prefix, read)
	if err != nil {
		return err
	}
	return storeFault(store.View(out.Context(), func(sn datastore.Snapshot) error {
		msg := &pluginv1.RangeResponse{Revision: uint64(sn.Revision())}
		size := 0
		for e, err := range sn.Range(ns, datastore.RangeOptions{Prefix: prefix, After: r.After, Limit: int(max(r.Limit, 0))}) {
			if err != nil {
				return err
			}
			msg.Entries = append(msg.Entries, entry(e))
			if size += len(e.Key) + len(e.Value); size >= rangeChunk {
				if err := out.Send(msg); err != nil {
					return err
				}
				msg, size = &pluginv1.RangeResponse{Revision: msg.Revision}, 0
			}
		}
		return out.Send(msg)
	}))
}

func (d *datastoreServer) Commit(ctx context.Context, r *pluginv1.CommitRequest) (*pluginv1.CommitResponse, error) {
	if len(r.Ops)+len(r.Compares) == 0 {
		return nil, fault.New(fault.Invalid, "the transaction is empty")
	}
	t := datastore.Txn{Volatile: r.Volatile || r.Space == pluginv1.Space_SPACE_OPERATIONAL}
	var store datastore.Store
	for _, c := range r.Compares {
		st, ns, key, err := d.reach(r.Space, c.Key, read)
		if err != nil {
			return nil, err
		}
		store = st
		t.Compares = append(t.Compares, datastore.Compare{Namespace: ns, Key: key, Revision: datastore.Revision(c.Revision)})
	}
	for _, o := range r.Ops {
		st, ns, key, err := d.reach(r.Space, o.Key, write)
		if err != nil {
			return nil, err
		}
		store = st
		t.Ops = append(t.Ops, datastore.Op{Namespace: ns, Key: key, Value: o.Value, Delete: o.Delete, DeletePrefix: o.DeletePrefix})
	}
	rev, err := store.Commit(ctx, t)
	if errors.Is(err, datastore.ErrConflict) {
		return &pluginv1.CommitResponse{Conflict: true}, nil
	}
	if err != nil {
		return nil, storeFault(err)
	}
	return &pluginv1.CommitResponse{Revision: uint64(rev)}, nil
}

func (d *datastoreServer) Watch(r *pluginv1.WatchRequest, out grpc.ServerStreamingServer[pluginv1.WatchResponse]) error {
	store, ns, prefix, err := d.reach(r.Space, r.Prefix, read)
	if err != nil {
		return err
	}
	err = store.Watch(out.Context(), datastore.Revision(r.After), []datastore.Prefix{{Namespace: ns, Key: prefix}}, func(b datastore.Batch) error {
		if len(b.Events) == 0 {
			return nil
		}
		msg := &pluginv1.WatchResponse{Revision: uint64(b.Revision)}
		for _, e := range b.Events {
			msg.Events = append(msg.Events, &pluginv1.WatchEvent{Entry: entry(e.Entry), Deleted: e.Deleted})
		}
		return out.Send(msg)
	})
	return storeFault(err)
}

type access int

const (
	read access = iota
	write
)

// reach translates a space and a key into a namespace and the key there, and checks
// that the key is one the plugin may touch.
func (d *datastoreServer) reach(space pluginv1.Space, key string, how access) (_ datastore.Store, ns, at string, _ error) {
	store := d.s.services.Store
	if space == pluginv1.Space_SPACE_OPERATIONAL {
		store = d.s.services.Operational
	}
	if store == nil {
		return nil, "", "", absent("datastore")
	}
	switch space {
	case pluginv1.Space_SPACE_PRIVATE:
		return store, NamespacePrivate(d.s.plugin), key, nil
	case pluginv1.Space_SPACE_OPERATIONAL:
		if !below(key, d.s.Manifest().GetPublishes()) {
			return nil, "", "", fault.At(fault.Denied, key, "the manifest does not list this tree under `publishes`")
		}
		return store, NamespaceOperational, TreeKey(key), nil
	case pluginv1.Space_SPACE_CONFIG:
		if how == write {
			return nil, "", "", fault.At(fault.Denied, key, "the configuration is written by its owners, over RESTCONF; plugins read it")
		}
		if !d.ownModule(key) {
			return nil, "", "", fault.At(fault.Denied, key, "the configuration of this module is not the plugin's: its manifest implements no such module")
		}
		return store, NamespaceConfig, TreeKey(key), nil
	}
	return nil, "", "", fault.New(fault.Invalid, "unknown space %d", space)
}

// below reports whether key is one of the trees or inside one.
func below(key string, trees []string) bool {
	for _, t := range trees {
		if rest, ok := strings.CutPrefix(TreeKey(key), TreeKey(t)); ok && t != "" && (rest == "" || rest[0] == '/' || rest[0] == '=') {
			return true
		}
	}
	return false
}

func (d *datastoreServer) ownModule(key string) bool {
	module, _, ok := strings.Cut(strings.TrimPrefix(key, "/"), ":")
	if !ok {
		return false
	}
	for _, m := range d.s.Manifest().GetYangModules() {
		name, _, _ := strings.Cut(m.Name, "@")
		if m.Implemented && name == module {
			return true
		}
	}
	return false
}

func entry(e datastore.Entry) *pluginv1.Entry {
	return &pluginv1.Entry{Key: e.Key, Value: e.Value, Revision: uint64(e.Revision)}
}

// storeFault gives the errors of the datastore a kind.
func storeFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, datastore.ErrCompacted):
		return fault.Wrap(fault.NotFound, err, "the history after that revision is no longer kept; read the data again and watch from there")
	case errors.Is(err, datastore.ErrTooBig):
		return fault.Wrap(fault.TooBig, err, "the transaction is larger than the datastore allows; split it")
	case errors.Is(err, datastore.ErrClosed):
		return fault.Wrap(fault.Unavailable, err, "the controller is stopping")
	case errors.Is(err, datastore.ErrDamaged):
		return fault.Wrap(fault.Internal, err, "the datastore is damaged; the controller's log says where")
	}
	return err
}
