package server

import (
	"context"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/host/internal/restconf/tree"
)

// trees makes documents of what plugins write into YANG trees; it implements
// hostsvc.Trees.
type trees struct{ s *Server }

// Draft implements hostsvc.Trees.
func (x trees) Draft(_ context.Context, edits []hostsvc.TreeEdit, t *datastore.Txn) error {
	byTree := map[string][]tree.TextEdit{}
	for _, e := range edits {
		byTree[e.Namespace] = append(byTree[e.Namespace], tree.TextEdit{Path: e.Path, Value: e.Value, Delete: e.Delete})
	}
	schema := x.s.catalog.Installed().Schema
	_, err := x.s.store.Local(func(sn datastore.Snapshot) error {
		for _, ns := range []string{tree.ConfigNamespace, tree.OperationalNamespace} {
			if len(byTree[ns]) == 0 {
				continue
			}
			d := tree.NewDraft(sn, ns, schema)
			if err := d.ApplyText(byTree[ns]); err != nil {
				return err
			}
			if !d.Changed() {
				continue
			}
			if err := d.Check(); err != nil {
				return err
			}
			one, err := d.Txn(time.Now(), false)
			if err != nil {
				return err
			}
			t.Compares = append(t.Compares, one.Compares...)
			t.Ops = append(t.Ops, one.Ops...)
		}
		return nil
	})
	return err
}

// owner returns who checks changes of a top-level node, nil when no plugin owns it.
func (s *Server) owner(qname string) tree.Owner {
	for _, m := range s.plugins.Manifests() {
		for _, own := range m.Owns {
			if strings.TrimPrefix(own, "/") == qname {
				return func(ctx context.Context, at datastore.Revision, changes []tree.Change) (datastore.Txn, error) {
					docs := make([]plugin.Document, len(changes))
					for i, c := range changes {
						docs[i] = plugin.Document(c)
					}
					return s.plugins.Check(ctx, m.Name, at, docs)
				}
			}
		}
	}
	return nil
}
