package service

import (
	"context"
	"slices"
	"strings"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-service/mounts"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
)

// data is the projection of all that the plugin reads.
type data struct {
	*bier.Trees
	*mounts.Mounts
	store *state.Store
	// What the holder of the role writes.
	status  bier.Routers           // exported
	managed *state.Table[Managed]  // by node-id
	asked   *state.Table[struct{}] // node-ids that are to be compared now, "*" = all
}

// Managed is kept of a router from before the first act on it until it holds nothing of
// ours any more.
type Managed struct {
	Epoch   uint64   `json:"epoch"`             // of the role that acted last
	Session string   `json:"session,omitempty"` // as the router names it
	Former  []string `json:"former,omitempty"`  // sessions of earlier acts, which may hold locks
	// Hash of the configuration that was made to stay last, and when.
	Hash  string    `json:"hash,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// all is every router, in the table asked.
const all = "*"

// openData follows the data until ctx ends. intent, reached, asked and status are called when
// topologies or channels, how routers are reached, requests, and what is known of routers
// have changed.
func openData(
	ctx context.Context,
	h *host.Client,
	intent func(),
	reached func(nodes []string),
	asked, status func(),
) (*data, error) {
	d := &data{
		Trees:   bier.NewTrees(intent),
		Mounts:  mounts.New(reached),
		status:  bier.RoutersAt(state.Private),
		managed: state.NewTable[Managed](state.Private("managed/")),
		asked:   state.NewTable[struct{}](state.Private("asked/")),
	}
	d.Mounts.Allow = d.checkDistinct
	d.asked.Notify(func([]string) { asked() })
	known := func(keys []string) {
		if len(keys) != 1 || keys[0] != bier.BeatKey {
			status()
		}
	}
	d.status.Notify(known)
	d.status.Sessions.Notify(known)
	d.status.Notices.Notify(known)
	d.status.Readings.Notify(known)
	d.status.Counts.Notify(known)
	views := slices.Concat(d.Trees.Views(), d.Mounts.Views(), d.status.Views())
	var err error
	d.store, err = state.Open(ctx, h, append(views, d.managed, d.asked)...)
	d.Mounts.Store = d.store
	return d, err
}

// checkDistinct says why a router cannot be mounted where others are: both are nodes of one topology.
func (d *data) checkDistinct(r state.Reader, m mounts.Mount, others []string) error {
	for _, id := range d.IDs(r) {
		n, ok := d.Trees.Nodes.Get(r, id, m.Node)
		if !ok || len(n.Params.Domains) == 0 {
			continue
		}
		for _, other := range others {
			n, ok := d.Trees.Nodes.Get(r, id, other)
			if ok && len(n.Params.Domains) > 0 {
				return bier.OnePlace(id, m.Node, other, bier.Place(m.Host, m.Port, m.Driver))
			}
		}
	}
	return nil
}

// findUnreadable says which record of a topology or channel cannot be read: what routers must
// hold is not known then.
func (d *data) findUnreadable() string {
	for _, err := range d.store.Broken(d.Trees.Views()...) {
		return err.Error() + "; routers stay as they are until it is repaired or deleted"
	}
	return ""
}

// routerStates of routers as of now, of all when nodes is empty.
func (d *data) routerStates(nodes []string, revision uint64) []bier.RouterState {
	now := d.store.Now()
	if len(nodes) == 0 {
		for key := range d.status.All(now, bier.RouterKey("")) {
			nodes = append(nodes, strings.TrimPrefix(key, bier.RouterKey("")))
		}
	}
	out := make([]bier.RouterState, len(nodes))
	for i, node := range nodes {
		if out[i] = d.status.State(now, node, revision); out[i].State == bier.Applied {
			out[i] = d.status.Latest(now, node)
		}
	}
	return out
}

// requestCompare asks the holder of the role to compare routers with what they must hold, all
// when nodes is empty, and waits until it has begun.
func (d *data) requestCompare(ctx context.Context, nodes []string) (revision uint64, err error) {
	if len(nodes) == 0 {
		nodes = []string{all}
	}
	revision, err = d.store.Update(ctx, func(tx *state.Tx) error {
		for _, node := range nodes {
			if err := d.asked.Put(tx, node, struct{}{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	begun := func(now *state.Snapshot) bool {
		return !slices.ContainsFunc(nodes, func(node string) bool {
			_, ok := d.asked.Get(now, node)
			return ok
		})
	}
	if d.store.WaitUntil(ctx, begun) != nil {
		return 0, fault.New(
			fault.Unavailable,
			"no process has accepted the request; routers are compared as soon as a process holds the role %s",
			role,
		)
	}
	return revision, nil
}

// awaitProcessed waits until it is known what routers must hold as configured at a revision, or ctx
// ends.
func (d *data) awaitProcessed(ctx context.Context, revision uint64) {
	_ = d.store.WaitUntil(ctx, func(now *state.Snapshot) bool { // else they are pending, which their states say
		service, _ := d.status.Get(now, bier.ServiceKey)
		return service.Processed >= revision
	})
}

// awaitAnswered waits until what was configured up to a revision was tried at routers, at all
// when nodes is empty, or ctx ends.
func (d *data) awaitAnswered(ctx context.Context, nodes []string, revision uint64) {
	_ = d.store.WaitUntil(ctx, func(now *state.Snapshot) bool {
		for key, x := range d.status.All(now, bier.RouterKey("")) {
			if x.Answered < min(x.Intent, revision) &&
				(len(nodes) == 0 || slices.Contains(
					nodes,
					strings.TrimPrefix(key, bier.RouterKey("")),
				)) {
				return false
			}
		}
		return true
	})
}

// taking bounds how long a question waits until what is configured now was taken in.
const taking = 2 * time.Second

// awaitRouterStates says how far routers are with what is configured now, all when nodes is empty,
// waiting up to a time for them.
func (s *Service) awaitRouterStates(
	ctx context.Context,
	nodes []string,
	wait time.Duration,
) []bier.RouterState {
	revision := s.moved.Load()
	ctx, cancel := context.WithTimeout(ctx, max(wait, taking))
	defer cancel()
	s.data.awaitProcessed(ctx, revision)
	if wait > 0 {
		s.data.awaitAnswered(ctx, nodes, revision)
	}
	return s.data.routerStates(nodes, revision)
}

// compareRouters has routers compared with what they must hold, and waits until ctx ends.
func (s *Service) compareRouters(ctx context.Context, nodes []string) ([]bier.RouterState, error) {
	revision, err := s.data.requestCompare(ctx, nodes)
	if err != nil {
		return nil, err
	}
	s.data.awaitAnswered(ctx, nodes, revision)
	return s.data.routerStates(nodes, s.moved.Load()), nil
}
