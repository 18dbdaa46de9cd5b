package service

import (
	"context"
	"encoding/json"
	"net/url"

	"ctl.internal/plugins/bier-topomanager/sources"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/topology"
)

// importKey precedes the escaped id of an imported topology.
const importKey = "import/"

// importer is the name of imports among the sources.
const importer = "import"

// imports are the topologies that users wrote down; they survive restarts.
type imports struct {
	data  *host.Datastore
	merge *sources.Merge
}

func (i *imports) load(ctx context.Context) error {
	for e, err := range i.data.Range(ctx, host.Private, importKey) {
		if err != nil {
			return err
		}
		var t topology.Topology
		if err := json.Unmarshal(e.Value, &t); err != nil {
			return fault.Wrap(fault.Internal, err, "the imported topology %s cannot be read: %v", e.Key, err)
		}
		i.show(t)
	}
	return nil
}

func (i *imports) show(t topology.Topology) {
	c, _ := topology.Diff(topology.Topology{}, t)
	c.TopologyID, c.Snapshot = t.ID, true
	i.merge.Change(importer, c)
}

// put keeps topologies, all or none, each in place of what was imported under its id.
func (i *imports) put(ctx context.Context, all []topology.Topology) error {
	var x host.Txn
	for _, t := range all {
		raw, err := json.Marshal(t)
		if err != nil {
			return fault.Wrap(fault.Internal, err, "topology %s cannot be encoded", t.ID)
		}
		x.Ops = append(x.Ops, host.Op{Key: importKey + url.PathEscape(t.ID), Value: raw})
	}
	if _, err := i.data.Commit(ctx, host.Private, x); err != nil {
		return err
	}
	for _, t := range all {
		i.show(t)
	}
	return nil
}

// remove forgets an imported topology.
func (i *imports) remove(ctx context.Context, id string) error {
	key := importKey + url.PathEscape(id)
	if _, err := i.data.Get(ctx, host.Private, key); err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return fault.New(fault.NotFound, "no topology %q was imported", id)
		}
		return err
	}
	if err := i.data.Delete(ctx, host.Private, key); err != nil {
		return err
	}
	i.merge.Change(importer, topology.Change{TopologyID: id, Removed: true})
	return nil
}
