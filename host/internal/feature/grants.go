package feature

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/fault"
)

// byCatalogue says who has decided about the grants of features.yaml.
const byCatalogue = "the catalogue of the home"

// grantRecord are the stored decisions about one plugin.
type grantRecord struct {
	grant.Held
	revision datastore.Revision
}

// newlyGranted are the grants of decisions that those before did not have.
func newlyGranted(now, before grant.Held) []grant.Grant {
	var out []grant.Grant
	for _, e := range now.Granted {
		if !slices.ContainsFunc(before.Granted, func(o grant.Entry) bool {
			return o.Grant == e.Grant
		}) {
			out = append(out, e.Grant)
		}
	}
	return out
}

func grantsOf(requests []grant.Request) []grant.Grant {
	var out []grant.Grant
	for _, r := range requests {
		out = append(out, r.Grant)
	}
	return out
}

// Agreement is what an operator grants while features are installed.
type Agreement struct {
	By  string // who agrees
	All bool   // to whatever the plugins request
	// To lists what was shown and agreed to, by plugin.
	To map[string][]grant.Grant
}

// agreesTo reports whether the operator agrees to all that a plugin needs.
func (a Agreement) agreesTo(n *grant.NeededError) bool {
	return a.All ||
		!slices.ContainsFunc(n.Requests, func(r grant.Request) bool {
			return !slices.Contains(a.To[n.Plugin], r.Grant)
		})
}

// findForbiddenGrants finds grants in a catalogue that may not give any.
func (r *Repository) findForbiddenGrants() (ps []home.Problem) {
	for _, f := range r.Features {
		for _, p := range f.Plugins {
			if len(p.Grants) > 0 {
				ps = append(ps, home.Problem{
					File: r.URL,
					Key:  f.Name,
					Text: fmt.Sprintf(
						"plugins: %s: only the catalogue of the home grants; remove `grants`, feature:install asks the operator", p.Name),
				})
			}
		}
	}
	return ps
}

// heldGrants are the decisions about a plugin: those of the catalogue, and what was stored since, which counts more.
func (m *Manager) heldGrants(plan Plan, plugin string) grant.Held {
	var h grant.Held
	for _, f := range plan.Features {
		for _, p := range f.Plugins {
			if p.Name == plugin {
				h = h.Grant(byCatalogue, time.Time{}, p.granted...)
			}
		}
	}
	r := m.grants[plugin]
	for _, e := range r.Refused {
		h = h.Refuse(e.By, e.At, e.Grant)
	}
	for _, e := range r.Granted {
		h = h.Grant(e.By, e.At, e.Grant)
	}
	return h
}

// grantsAfter are the stored decisions after a change, and what has to be written for that. Those about plugins that
// no feature names any more go: another plugin of that name starts without any.
func (m *Manager) grantsAfter(
	plan Plan,
	agreed map[string]grant.Held,
) (map[string]grantRecord, []datastore.Op) {
	out := maps.Clone(m.grants)
	var ops []datastore.Op
	for name := range m.grants {
		if !slices.ContainsFunc(plan.Features, func(f *Feature) bool {
			return slices.ContainsFunc(f.Plugins, func(p PluginRef) bool {
				return p.Name == name
			})
		}) {
			delete(out, name)
			ops = append(ops, datastore.Delete(namespace, grantPrefix+name))
		}
	}
	for name, held := range agreed {
		out[name] = grantRecord{Held: held}
		ops = append(ops, putJSON(grantPrefix+name, held))
	}
	return out, ops
}

// adoptGrants puts into force what is stored. The caller holds changes.
func (m *Manager) adoptGrants(grants map[string]grantRecord) {
	var changed []string
	for name := range grants {
		if grants[name].revision != m.grants[name].revision {
			changed = append(changed, name)
		}
	}
	for name := range m.grants {
		if _, ok := grants[name]; !ok {
			changed = append(changed, name)
		}
	}
	m.withLock(func() { m.grants = grants })
	for _, name := range changed {
		m.o.Plugins.Grant(name, m.heldGrants(m.plan, name))
	}
}

// applyGrants puts the decisions about all plugins that run into force.
func (m *Manager) applyGrants(t Target) {
	for _, p := range t.Plugins {
		m.o.Plugins.Grant(p.Name, m.heldGrants(m.plan, p.Name))
	}
}

// Decide grants or refuses what a plugin of an installed feature requests, at once and on all nodes.
func (m *Manager) Decide(
	ctx context.Context,
	plugin, by string,
	granted bool,
	grants []grant.Grant,
) error {
	_, err := m.runChange(ctx, func() (Change, error) {
		if !slices.ContainsFunc(m.Active().Plugins, func(p PluginSpec) bool {
			return p.Name == plugin
		}) {
			return Change{}, fault.New(
				fault.NotFound,
				"no installed feature runs a plugin %q",
				plugin,
			)
		}
		r := m.grants[plugin]
		if granted {
			r.Held = r.Held.Grant(by, time.Now().UTC(), grants...)
		} else {
			r.Held = r.Held.Refuse(by, time.Now().UTC(), grants...)
		}
		rev, err := m.o.Store.Commit(ctx, datastore.Txn{
			Compares: []datastore.Compare{{
				Namespace: namespace,
				Key:       grantPrefix + plugin,
				Revision:  r.revision,
			}},
			Ops: []datastore.Op{putJSON(grantPrefix+plugin, r.Held)},
		})
		if err != nil && !errors.Is(err, datastore.ErrConflict) {
			err = fault.Wrap(
				fault.Internal,
				err,
				"the grants could not be stored; nothing was changed: %v",
				err,
			)
		}
		if err != nil {
			return Change{}, err
		}
		next := maps.Clone(m.grants)
		next[plugin] = grantRecord{r.Held, rev}
		m.adoptGrants(next)
		return Change{}, nil
	})
	return err
}
