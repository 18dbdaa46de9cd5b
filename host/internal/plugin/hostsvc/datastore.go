package hostsvc

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/grant"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// chunk is about how many bytes of entries go into one message of a stream.
const chunk = 256 << 10

type datastoreServer struct {
	pluginv1.UnimplementedHostDatastoreServer
	s *Server
}

func (d *datastoreServer) Get(
	ctx context.Context,
	r *pluginv1.GetRequest,
) (*pluginv1.GetResponse, error) {
	store := d.s.services.Store
	at, err := d.resolveKey(r.Space, r.Plugin, r.Key, false)
	if err != nil {
		return nil, err
	}
	out := &pluginv1.GetResponse{}
	err = store.View(ctx, func(sn datastore.Snapshot) error {
		// The value is not copied: hundreds of calls may wait for their turn to be answered.
		for e, err := range sn.Range(
			at.Namespace,
			datastore.RangeOptions{
				Prefix: at.Key,
				Limit:  1,
				Shared: true,
			},
		) {
			if err != nil {
				return err
			}
			if e.Key == at.Key {
				out.Entry = toProtoEntry(r.Space, e)
			}
		}
		return nil
	})
	if err != nil {
		return nil, storeFault(err)
	}
	return out, nil
}

func (d *datastoreServer) Range(
	r *pluginv1.RangeRequest,
	out grpc.ServerStreamingServer[pluginv1.RangeResponse],
) error {
	store := d.s.services.Store
	at, err := d.resolveKey(r.Space, r.Plugin, r.Prefix, false)
	if err != nil {
		return err
	}
	ctx, leave, err := d.s.acquireSnapshot(out.Context())
	if err != nil {
		return err
	}
	defer leave()
	return storeFault(store.View(ctx, func(sn datastore.Snapshot) error {
		msg := &pluginv1.RangeResponse{Revision: uint64(sn.Revision())}
		size := 0
		for e, err := range sn.Range(
			at.Namespace,
			datastore.RangeOptions{
				Prefix: at.Key,
				After:  r.After,
				Limit:  int(max(r.Limit, 0)),
				Shared: true,
			},
		) {
			if err == nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				return err
			}
			msg.Entries = append(msg.Entries, toProtoEntry(r.Space, e))
			if size += len(e.Key) + len(e.Value); size >= chunk {
				if err := out.Send(msg); err != nil {
					return err
				}
				msg, size = &pluginv1.RangeResponse{Revision: msg.Revision}, 0
			}
		}
		return out.Send(msg)
	}))
}

func (d *datastoreServer) Barrier(
	ctx context.Context,
	_ *pluginv1.BarrierRequest,
) (*pluginv1.BarrierResponse, error) {
	rev, err := d.s.services.Store.Barrier(ctx)
	return &pluginv1.BarrierResponse{Revision: uint64(rev)}, storeFault(err)
}

// Commit applies what the plugin decided. Edits of trees are worked out on the newest
// state that this node knows; its conditions make sure that it is still so.
func (d *datastoreServer) Commit(
	ctx context.Context,
	r *pluginv1.CommitRequest,
) (*pluginv1.CommitResponse, error) {
	store := d.s.services.Store
	if len(r.Ops)+len(r.Compares) == 0 {
		return nil, fault.New(fault.Invalid, "the transaction is empty")
	}
	t := datastore.Txn{
		Volatile: r.Volatile,
		By:       "plugin " + d.s.plugin,
	}
	if r.By != "" {
		t.By = r.By + " (" + t.By + ")"
	}
	var err error
	if t.Compares, err = d.toCompares(r.Compares); err != nil {
		return nil, err
	}
	own := len(t.Compares)
	var edits []TreeEdit
	for _, o := range r.Ops {
		at, err := d.resolveKey(o.Space, "", o.Key, true)
		if err != nil {
			return nil, err
		}
		if o.Space == pluginv1.Space_SPACE_PRIVATE {
			t.Ops = append(
				t.Ops,
				datastore.Op{
					Namespace:    at.Namespace,
					Key:          at.Key,
					Value:        o.Value,
					Delete:       o.Delete,
					DeletePrefix: o.DeletePrefix,
				},
			)
			continue
		}
		if o.DeletePrefix {
			return nil, fault.At(
				fault.Unsupported,
				o.Key,
				"delete_prefix is for private keys; delete the instance by its path",
			)
		}
		edits = append(
			edits,
			TreeEdit{
				Namespace: at.Namespace,
				Path:      at.Key,
				Value:     o.Value,
				Delete:    o.Delete,
			},
		)
	}
	if len(edits) > 0 {
		if d.s.services.Trees == nil {
			return nil, absentServiceError("YANG trees")
		}
		if err := d.s.services.Trees.Draft(ctx, edits, &t); err != nil {
			return nil, err
		}
	}
	c, needed, err := d.s.services.Fence()
	if err != nil {
		return nil, err
	}
	if needed {
		t.Compares = append(t.Compares, c)
	}
	if r.Role != "" {
		c, err := d.s.roleCondition(ctx, r.Role)
		if err != nil {
			return nil, err
		}
		t.Compares = append(t.Compares, c)
	}
	if len(t.Ops)+len(t.Compares) == 0 &&
		len(edits) > 0 { // nothing is different, and nothing was asked for
		return &pluginv1.CommitResponse{Revision: uint64(store.Revision())}, nil
	}
	if err := d.s.checkStoreRoom(ctx, t); err != nil {
		return nil, err
	}
	bytes := 0
	for _, o := range t.Ops {
		bytes += len(o.Key) + len(o.Value)
	}
	if err := d.s.paceWrites(ctx, bytes); err != nil {
		return nil, err
	}
	rev, err := store.Commit(ctx, t)
	var lost *datastore.ConflictError
	switch {
	case errors.As(err, &lost):
		return d.conflictResponse(r, &t, own, lost)
	case err != nil:
		return nil, storeFault(err)
	}
	return &pluginv1.CommitResponse{Revision: uint64(rev)}, nil
}

func (d *datastoreServer) toCompares(list []*pluginv1.Compare) ([]datastore.Compare, error) {
	var out []datastore.Compare
	for _, c := range list {
		at, err := d.resolveKey(c.Space, c.Plugin, c.Key, false)
		if err != nil {
			return nil, err
		}
		out = append(
			out,
			datastore.Compare{
				Namespace: at.Namespace,
				Key:       at.Key,
				Revision:  datastore.Revision(c.Revision),
				Prefix:    c.Prefix,
			},
		)
	}
	return out, nil
}

// Decided is what a plugin adds to somebody else's change: conditions, and writes of its
// private keys and of its trees.
func (s *Server) Decided(
	compares []*pluginv1.Compare,
	ops []*pluginv1.Op,
) (t datastore.Txn, edits []TreeEdit, err error) {
	d := &datastoreServer{s: s}
	if t.Compares, err = d.toCompares(compares); err != nil {
		return t, nil, err
	}
	for _, o := range ops {
		if o.Space == pluginv1.Space_SPACE_TREE && !o.DeletePrefix {
			at, err := d.resolveKey(o.Space, "", o.Key, true)
			if err != nil {
				return t, nil, err
			}
			edits = append(
				edits,
				TreeEdit{
					Namespace: at.Namespace,
					Path:      at.Key,
					Value:     o.Value,
					Delete:    o.Delete,
				},
			)
			continue
		}
		if o.Space != pluginv1.Space_SPACE_PRIVATE {
			return t, nil, fault.At(
				fault.Denied,
				o.Key,
				"plugin %s adds a write that is not of its private keys or trees",
				s.plugin,
			)
		}
		t.Ops = append(
			t.Ops,
			datastore.Op{
				Namespace:    NamespacePrivate(s.plugin),
				Key:          o.Key,
				Value:        o.Value,
				Delete:       o.Delete,
				DeletePrefix: o.DeletePrefix,
			},
		)
	}
	return t, edits, nil
}

func (d *datastoreServer) conflictResponse(
	r *pluginv1.CommitRequest,
	t *datastore.Txn,
	own int,
	lost *datastore.ConflictError,
) (*pluginv1.CommitResponse, error) {
	if r.Role != "" && lost.Index == len(t.Compares)-1 {
		return nil, fault.New(
			fault.Denied,
			"this process does not hold the role %s any more, so nothing was written",
			r.Role,
		)
	}
	c := &pluginv1.Conflict{
		Index:    int32(lost.Index),
		Key:      lost.Key,
		Revision: uint64(lost.Revision),
		By:       lost.By,
	}
	if lost.Index >= own {
		c.Index = -1
	}
	if !lost.At.IsZero() {
		c.Time = lost.At.UnixNano()
	}
	return &pluginv1.CommitResponse{Conflict: c}, nil
}

func toProtoEntry(space pluginv1.Space, e datastore.Entry) *pluginv1.Entry {
	value := e.Value
	if space == pluginv1.Space_SPACE_TREE || space == pluginv1.Space_SPACE_OPERATIONAL {
		// An entry of a user-ordered list has its rank on a line before the JSON.
		i := bytes.IndexByte(value, '\n')
		if i >= 0 && !bytes.HasPrefix(value, []byte("{")) {
			value = value[i+1:]
		}
	}
	return &pluginv1.Entry{
		Key:      e.Key,
		Value:    value,
		Revision: uint64(e.Revision),
	}
}

// resolveKey translates a space and a key into a namespace and the key there, and checks
// that the key is one the plugin may read, or write.
func (d *datastoreServer) resolveKey(
	space pluginv1.Space,
	owner, key string,
	write bool,
) (datastore.Prefix, error) {
	m := d.s.Manifest()
	none := datastore.Prefix{}
	switch space {
	case pluginv1.Space_SPACE_PRIVATE:
		return datastore.Prefix{
			Namespace: NamespacePrivate(d.s.plugin),
			Key:       key,
		}, nil
	case pluginv1.Space_SPACE_OPERATIONAL:
		if !isBelowTree(key, m.GetPublishes()) {
			return none, fault.At(
				fault.Denied,
				key,
				"the manifest does not list this tree under `publishes`",
			)
		}
		return datastore.Prefix{
			Namespace: NamespaceOperational,
			Key:       TreeKey(key),
		}, nil
	case pluginv1.Space_SPACE_TREE:
		if write && !isBelowTree(key, m.GetOwns()) {
			return none, fault.At(
				fault.Denied,
				key,
				"the manifest does not list this tree under `owns`, so the plugin cannot write it",
			)
		}
		if !write && !isBelowTree(key, m.GetOwns()) && !d.ownModule(key) {
			if !isBelowTree(key, m.GetReads()) {
				return none, fault.At(
					fault.Denied,
					key,
					"the tree is not the plugin's, and its manifest does not list it under `reads`",
				)
			}
			if err := d.s.Allowed(grant.Data, TreeKey(key)); err != nil {
				return none, err
			}
		}
		return datastore.Prefix{
			Namespace: NamespaceConfig,
			Key:       TreeKey(key),
		}, nil
	case pluginv1.Space_SPACE_SHARED:
		if write {
			return none, fault.At(
				fault.Denied,
				key,
				"the data of plugin %s is written by itself only",
				owner,
			)
		}
		if !isSharedKey(m.GetReads(), owner, key) || !d.isExportedKey(owner, key) {
			return none, fault.At(fault.Denied, key, "plugin %s does not export this to plugin %s: `exports` of the one and `reads` (%s:…) of the other must name it",
				owner, d.s.plugin, owner)
		}
		if err := d.s.Allowed(grant.Data, owner+":"+key); err != nil {
			return none, err
		}
		return datastore.Prefix{
			Namespace: NamespacePrivate(owner),
			Key:       key,
		}, nil
	}
	return none, fault.New(fault.Invalid, "unknown space %d", space)
}

// isSharedKey reports whether one of the manifest's reads, "PLUGIN:prefix", covers a key.
func isSharedKey(reads []string, owner, key string) bool {
	return slices.ContainsFunc(reads, func(r string) bool {
		plugin, prefix, ok := strings.Cut(r, ":")
		return ok && plugin == owner && strings.HasPrefix(key, prefix)
	})
}

// isExportedKey reports whether a plugin lets others read a key. Data of one that is not
// installed may be followed: it may come later.
func (d *datastoreServer) isExportedKey(owner, key string) bool {
	prefixes, installed := d.s.services.Exports(owner)
	return !installed ||
		slices.ContainsFunc(prefixes, func(p string) bool {
			return strings.HasPrefix(key, p)
		})
}

// isBelowTree reports whether key is one of the trees or inside one.
func isBelowTree(key string, trees []string) bool {
	return slices.ContainsFunc(trees, func(t string) bool {
		rest, ok := strings.CutPrefix(TreeKey(key), TreeKey(t))
		return ok && t != "" && (rest == "" || rest[0] == '/' || rest[0] == '=')
	})
}

func (d *datastoreServer) ownModule(key string) bool {
	module, _, ok := strings.Cut(strings.TrimPrefix(key, "/"), ":")
	return ok && slices.ContainsFunc(d.s.Manifest().GetYangModules(), func(m *pluginv1.YangModule) bool {
		name, _, _ := strings.Cut(m.Name, "@")
		return m.Implemented && name == module
	})
}

// storeFault gives the errors of the datastore a kind.
func storeFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, datastore.ErrTooBig):
		return fault.Wrap(
			fault.TooBig,
			err,
			"a value in the transaction is larger than the datastore keeps; split the value",
		)
	case errors.Is(err, datastore.ErrClosed):
		return fault.Wrap(fault.Unavailable, err, "the controller is stopping")
	case errors.Is(err, datastore.ErrDamaged):
		return fault.Wrap(
			fault.Internal,
			err,
			"the datastore is damaged; the controller's log has the details",
		)
	case fault.KindOf(err) == fault.Timeout:
		return fault.Wrap(fault.Unavailable, err, "%v", err)
	}
	return err
}
