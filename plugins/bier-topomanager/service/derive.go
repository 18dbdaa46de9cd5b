package service

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/topology"
)

// The names, among the sources, of what users imported and of what they configured in the
// tree network-topology.
const (
	imports       = "import"
	configuration = "configuration"
)

// netconf is the topology of network-topology that says how routers are reached; it is no
// network.
const netconf = "topology-netconf"

// networkTree is what users configure.
const networkTree = "/network-topology:network-topology/topology="

// parts are what may have changed in a topology: nodes and links by the ids that they have in
// network-topology, or all of it.
type parts struct {
	all          bool
	nodes, links map[string]bool
}

// manyParts are so many that all of the topology is looked at: one condition on it instead of
// several on each part.
const manyParts = 200

// deriveConfigured derives the BIER topologies from changes of network-topology that are about to
// be made, in the same transaction.
func (d *data) deriveConfigured(tx *state.Tx) error {
	touched := map[string]*parts{}
	for _, path := range tx.Changed() {
		if !strings.HasPrefix(path, networkTree) {
			continue
		}
		keys := d.Points.Keys(path)
		id, ok := d.localTopologyID(keys[0])
		if !ok {
			continue
		}
		p := touched[id]
		if p == nil {
			p = &parts{
				nodes: map[string]bool{},
				links: map[string]bool{},
			}
			touched[id] = p
		}
		switch {
		case len(keys) < 2:
		case strings.HasPrefix(path, d.Points.Path(keys[0])+"node="):
			p.nodes[keys[1]] = true
		case strings.HasPrefix(path, d.Lines.Path(keys[0])+"link="):
			p.links[keys[1]] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(touched)) {
		if p := touched[id]; len(p.nodes)+len(p.links) > manyParts {
			p.all = true
		}
		err := d.deriveTopology(tx, id, given{
			of:   *touched[id],
			kept: d.readObserved(tx, id),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// given is what a topology is derived from beside what is stored.
type given struct {
	of       parts
	imported map[string]*topology.Topology // in place of those stored, by their ids; nil: taken back
	seen     *topology.Topology            // what plugins see now
	kept     observed                      // what they may still see
}

// importedTopologies returns what users imported for a topology.
func (d *data) importedTopologies(r state.Reader, id string, g given) (all []topology.Topology) {
	for _, there := range d.sourceTopologyIDs(id) {
		if t, ok := g.imported[there]; ok {
			if t != nil {
				all = append(all, *t)
			}
		} else if t, ok := d.Imported.Get(r, there); ok {
			all = append(all, t)
		}
	}
	return all
}

// localTopologyID returns the id that a source's topology has here; false if it is ignored.
func (d *data) localTopologyID(id string) (string, bool) {
	if id == netconf || slices.Contains(d.set.Ignore, id) {
		return "", false
	}
	return cmp.Or(d.set.Rename[id], id), true
}

// sourceTopologyIDs lists the ids that a topology may have in network-topology and among imports.
func (d *data) sourceTopologyIDs(id string) (all []string) {
	for _, candidate := range append(slices.Sorted(maps.Keys(d.set.Rename)), id) {
		here, ok := d.localTopologyID(candidate)
		if ok && here == id && !slices.Contains(all, candidate) {
			all = append(all, candidate)
		}
	}
	return all
}

// readObserved returns what plugins that are sources see of a topology, as the holder of the role
// has stored it.
func (d *data) readObserved(r state.Reader, id string) observed {
	o, _ := d.Observed.Get(r, id)
	was := len(o.Sources)
	o.Sources = slices.DeleteFunc(slices.Clone(o.Sources), func(name string) bool {
		return name == imports || name == configuration
	})
	if len(o.Sources) == 0 {
		return observed{}
	}
	o.all = o.Links == nil || was != len(o.Sources) // of a release that did not store them apart
	return o
}

// topologySources returns who has a topology now, and the nodes that they have.
func (d *data) topologySources(r state.Reader, id string) (names []string, nodes map[string]bool) {
	o := d.readObserved(r, id)
	names, nodes = slices.Clone(o.Sources), map[string]bool{}
	for _, n := range o.Nodes {
		nodes[n] = true
	}
	for _, t := range d.importedTopologies(r, id, given{}) {
		names = append(names, imports)
		for n := range t.Nodes {
			nodes[bier.ShortID(n)] = true
		}
	}
	for _, there := range d.sourceTopologyIDs(id) {
		if _, ok := d.Networks.Get(r, there); ok {
			names = append(names, configuration)
			for _, n := range d.Points.All(r, there) {
				nodes[bier.ShortID(n.ID)] = true
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nodes
}

// statedTopology returns the parts of a topology that users imported and configured, on top of what
// is seen, and whether there is such a topology.
func (d *data) statedTopology(
	tx *state.Tx,
	id string,
	g given,
) (out topology.Topology, found bool) {
	of := g.of
	out = topology.Topology{
		ID:    id,
		Nodes: map[string]topology.Node{},
		Links: map[string]topology.Link{},
	}
	if g.seen != nil {
		maps.Copy(out.Nodes, g.seen.Nodes)
		maps.Copy(out.Links, g.seen.Links)
		found = true
	}
	for _, t := range d.importedTopologies(tx, id, g) {
		found = true
		of.copyParts(&out, t)
	}
	for _, there := range d.sourceTopologyIDs(id) {
		if _, ok := d.Networks.Get(tx, there); !ok {
			continue
		}
		found = true
		if of.all {
			of.copyParts(&out, d.networkTopology(tx, there))
			continue
		}
		for n := range of.nodes {
			if p, ok := d.Points.Get(tx, there, n); ok {
				out.Nodes[n] = p.toNode()
			}
		}
		for l := range of.links {
			if x, ok := d.Lines.Get(tx, there, l); ok {
				out.Links[l] = x.toLink()
			}
		}
	}
	return out, found
}

// copyParts copies the parts of a topology.
func (p parts) copyParts(out *topology.Topology, t topology.Topology) {
	for id, n := range t.Nodes {
		if p.all || p.nodes[id] {
			out.Nodes[id] = n
		}
	}
	for id, l := range t.Links {
		if p.all || p.links[id] {
			out.Links[id] = l
		}
	}
}

// deriveTopology brings parts of a BIER topology up to date with its sources: what users imported and
// configured, and what plugins see.
func (d *data) deriveTopology(tx *state.Tx, id string, g given) error {
	stated, found := d.statedTopology(tx, id, g)
	if !found && len(g.kept.Sources) == 0 {
		return d.forgetTopology(tx, id)
	}
	if _, ok := d.Derived.Get(tx, id); !ok {
		if err := d.Derived.Put(tx, id, struct{}{}); err != nil {
			return err
		}
	}
	if _, ok := d.Topologies.Get(tx, id); !ok {
		if err := d.Topologies.Put(tx, map[string]string{"topology-id": id}, id); err != nil {
			return err
		}
	}
	return d.writeSeen(
		tx,
		id,
		model.Observe(
			d.topologyPart(tx, id, g.of),
			stated,
			model.Kept{
				All:   g.kept.all,
				Nodes: g.kept.Nodes,
				Links: g.kept.Links,
			},
		),
	)
}

// forgetTopology removes a topology that no source has, unless something is configured in it.
func (d *data) forgetTopology(tx *state.Tx, id string) error {
	d.Derived.Delete(tx, id)
	for range d.Domains.All(tx, id) {
		return d.writeSeen(
			tx,
			id,
			model.Observe(
				d.topologyPart(tx, id, parts{all: true}),
				topology.Topology{},
				model.Kept{},
			),
		)
	}
	if _, ok := d.Topologies.Get(tx, id); ok {
		d.Topologies.Delete(tx, id)
	}
	return nil
}

// topologyPart returns parts of a topology as they are.
func (d *data) topologyPart(tx *state.Tx, id string, of parts) *bier.Topology {
	if of.all {
		return d.Topology(tx, id)
	}
	t := &bier.Topology{ID: id}
	for n := range of.nodes {
		if x, ok := d.Nodes.Get(tx, id, bier.ShortID(n)); ok {
			t.Nodes = append(t.Nodes, x)
		}
	}
	for l := range of.links {
		if x, ok := d.Links.Get(tx, id, bier.ShortID(l)); ok {
			t.Links = append(t.Links, x)
		}
	}
	t.Sort()
	return t
}

func (d *data) writeSeen(tx *state.Tx, id string, c model.Seen) error {
	for _, n := range c.PutNodes {
		if err := d.Nodes.Put(tx, n, id, n.ID); err != nil {
			return err
		}
	}
	for _, l := range c.PutLinks {
		if err := d.Links.Put(tx, l, id, l.ID); err != nil {
			return err
		}
	}
	for _, node := range c.DelNodes {
		d.Nodes.Delete(tx, id, node)
	}
	for _, link := range c.DelLinks {
		d.Links.Delete(tx, id, link)
	}
	return nil
}

// catchUp derives what was written while no process of the plugin was asked.
func (d *data) catchUp(ctx context.Context) error {
	for id := range d.knownTopologies(d.Store.Now()) {
		_, err := d.Store.Update(ctx, func(tx *state.Tx) error {
			kept := d.readObserved(tx, id)
			if len(kept.Sources) == 0 {
				d.Observed.Delete(tx, id)
			}
			return d.deriveTopology(tx, id, given{
				of:   parts{all: true},
				kept: kept,
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// knownTopologies are the ids of the topologies that have, or had, a source.
func (d *data) knownTopologies(r state.Reader) map[string]bool {
	all := map[string]bool{}
	add := func(id string) {
		if here, ok := d.localTopologyID(id); ok {
			all[here] = true
		}
	}
	for _, n := range d.Networks.All(r) {
		add(n.ID)
	}
	for id := range d.Imported.All(r, "") {
		add(id)
	}
	for id := range d.Observed.All(r, "") {
		all[strings.Clone(id)] = true
	}
	for id := range d.Derived.All(r, "") {
		all[strings.Clone(id)] = true
	}
	return all
}

// storeImports replaces or takes back imports, with what is derived from them.
func (d *data) storeImports(ctx context.Context, changes map[string]*topology.Topology) error {
	_, err := d.Store.Update(ctx, func(tx *state.Tx) error {
		ids := map[string]bool{}
		for id, t := range changes {
			switch _, ok := d.Imported.Get(tx, id); {
			case t != nil:
				if err := d.Imported.Put(tx, id, *t); err != nil {
					return err
				}
			case !ok:
				return fault.New(fault.NotFound, "there is no imported topology %q", id)
			default:
				d.Imported.Delete(tx, id)
			}
			if here, ok := d.localTopologyID(id); ok {
				ids[here] = true
			}
		}
		for id := range ids {
			err := d.deriveTopology(
				tx,
				id,
				given{
					of:       parts{all: true},
					imported: changes,
					kept:     d.readObserved(tx, id),
				},
			)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
