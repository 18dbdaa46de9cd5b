package bier

import (
	"fmt"
	"strings"
	"time"
)

// view is the ways of a channel as they are now: which routers on them work.
type view struct {
	*ways
	l        *look
	revision uint64
	routers  []*RouterState // by index, of BFRs that were asked for
}

func (l *look) view(w *ways, revision uint64) *view {
	return &view{ways: w, l: l, revision: revision, routers: make([]*RouterState, len(w.vertices))}
}

// router is the state of the BFR of an index.
func (v *view) router(i int32) *RouterState {
	if v.routers[i] == nil {
		x := v.l.state(v.name(i), v.revision)
		v.routers[i] = &x
	}
	return v.routers[i]
}

// obstacle is what stops packets that are sent from one vertex to the next, "" if nothing is known
// to; doubt is what may stop them.
func (v *view) obstacle(from, hop, end int32, w *Way) (obstacle, doubt string) {
	if !v.isBFR(hop) {
		if !v.isBFR(from) { // they are in the tunnel already
			return "", ""
		}
		need := v.tunnel(from, hop, w)
		if v.l.lacks(need.Node, Tunnel) {
			return need.Lacking(), ""
		}
		return "", fmt.Sprintf("router %s needs a tunnel (RFC 8279 section 6.9) %s; routers may drop, re-encapsulate or tunnel, and which is not known of this one", need.Node, need.For)
	}
	if hop == end {
		return "", ""
	}
	if x := v.router(hop); x.State == Failed {
		return fmt.Sprintf("router %s is %s: %s", x.Node, x.State, x.Reason), ""
	}
	if m := v.g.Members[v.vertices[hop]]; m.ID == 0 && v.l.lacks(m.Node, Transit) {
		return Need{m.Node, Transit, "on the way to " + v.name(end) + ": it has no bfr-id"}.Lacking(), ""
	}
	return "", ""
}

// to says how packets come to an egress node. Routers may choose any of the ways of the least
// distance: all of them must work for the egress node to be applied. since is when the state
// of the router began that is the reason.
func (v *view) to(w *Way) (state, reason string, since time.Time) {
	end := v.index(w.Node)
	on := v.ways.to(end)
	open := make([]bool, len(on)) // packets may come there
	open[0] = true
	var stopped, choice, doubted string
	for hop := int32(1); hop <= end; hop++ {
		if !on[hop] {
			continue
		}
		for _, from := range v.before[hop] {
			if !open[from] {
				continue
			}
			obstacle, doubt := v.obstacle(from, hop, end, w)
			if obstacle == "" {
				open[hop] = true
			} else if stopped == "" {
				stopped, choice = obstacle, fmt.Sprintf("router %s may choose %s: %s", v.last(from), v.name(hop), obstacle)
			}
			if doubted == "" && doubt != "" {
				doubted = doubt
			}
		}
	}
	if !open[end] {
		return Unreachable, stopped, since
	}
	state = Applied
	switch {
	case stopped != "":
		state, reason = AtRisk, choice
	case doubted != "":
		state, reason = AtRisk, doubted
	}
	for i, used := range v.used(open, end, w) {
		if !used || i == 0 || int32(i) == end || !v.isBFR(int32(i)) {
			continue
		}
		if x := v.router(int32(i)); worse(x.State, state) {
			state, since = x.State, x.Since
			reason = fmt.Sprintf("router %s on the way is %s: %s", x.Node, x.State, x.Reason)
		}
	}
	return state, reason, since
}

// tunnel is the need of a tunnel that begins at a BFR with a hop that is not one.
func (v *view) tunnel(from, hop int32, w *Way) Need {
	for _, n := range w.Needs {
		if n.Ability == Tunnel && n.Node == v.name(from) && strings.Contains(n.For, v.plain(hop)) {
			return n
		}
	}
	return Need{v.name(from), Tunnel, "over " + v.plain(hop)}
}

// last is the node-id of the BFR that packets at a vertex left last, which may be that vertex.
func (v *view) last(at int32) string {
	for !v.isBFR(at) {
		at = v.before[at][0]
	}
	return v.name(at)
}

// used marks the vertices on the ways to a node that packets can take, which are open.
func (v *view) used(open []bool, end int32, w *Way) []bool {
	out := make([]bool, len(open))
	out[end] = true
	for hop := end; hop > 0; hop-- {
		if !out[hop] {
			continue
		}
		for _, from := range v.before[hop] {
			if obstacle, _ := v.obstacle(from, hop, end, w); open[from] && obstacle == "" {
				out[from] = true
			}
		}
	}
	return out
}
