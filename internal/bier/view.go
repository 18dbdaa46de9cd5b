package bier

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// view is the ways of a channel as they are now: which routers on them work, and which of the ways they use, where
// they show it.
type view struct {
	*ways
	l        *look
	revision uint64
	routers  []*RouterState // by index, of BFRs that were asked for
	key      string         // GraphKey of the channel
	bsl      BSL
	stable   time.Time // since when no router on the ways has changed its state
	reads    shown     // whether a router on the ways shows its tables
}

// shown says whether routers show their tables.
type shown int

const (
	notLooked shown = iota
	noneShown
	someShown
)

// newView returns the view of a plan of a channel.
func (l *look) newView(topology string, plan *Plan, revision uint64) *view {
	w := plan.ways
	return &view{
		ways:     w,
		l:        l,
		revision: revision,
		routers:  make([]*RouterState, len(w.vertices)),
		key:      GraphKey(topology, w.g.Domain, w.g.SubDomain),
		bsl:      plan.BSL,
	}
}

// bfrState is the state of the BFR of an index.
func (v *view) bfrState(i int32) *RouterState {
	if v.routers[i] == nil {
		x := v.l.routerState(v.vertexName(i), v.revision)
		v.routers[i] = &x
	}
	return v.routers[i]
}

// findObstacle is what stops packets that are sent from one vertex to the next, "" if nothing is known
// to; doubt is what may stop them.
func (v *view) findObstacle(from, hop, end int32, w *Way) (obstacle, doubt string) {
	if !v.isBFR(hop) {
		if !v.isBFR(from) { // they are in the tunnel already
			return "", ""
		}
		need := v.tunnelNeed(from, hop, w)
		if v.l.lacksAbility(need.Node, Tunnel) {
			return need.Lacking(), ""
		}
		return "", fmt.Sprintf(
			"router %s needs a tunnel (RFC 8279 section 6.9) %s; routers may drop, re-encapsulate or tunnel, and which is not known of this one",
			need.Node,
			need.For,
		)
	}
	if hop == end {
		return "", ""
	}
	if x := v.bfrState(hop); x.State == Failed {
		return fmt.Sprintf("router %s is %s: %s", x.Node, x.State, x.Reason), ""
	}
	m := v.g.Members[v.vertices[hop]]
	if m.ID == 0 && v.l.lacksAbility(m.Node, Transit) {
		return Need{m.Node, Transit, "on the way to " + v.vertexName(end) + ": it has no bfr-id"}.Lacking(), ""
	}
	return "", ""
}

// outcome says how packets come to an egress node.
type outcome struct {
	state, reason string
	since         time.Time // when the state of the router began that is the reason
	shown         time.Time // the routers on the ways show that they come there, at least at this time; zero: not all show it
}

// walk collects an outcome.
type walk struct {
	*view
	way    *Way
	end    int32
	on     []bool // by index: on a computed way to the end
	open   []bool // packets may come there
	leaves []bool // packets leave the computed ways there, and come to the end
	beside []RouterState
	// The first obstacle, the choice of a router that leads there, and the first doubt.
	stopped, choice, doubted string
	// since when all that is shown was read; dark: a router does not show its table.
	shown time.Time
	dark  bool
}

// egressState follows packets to an egress node. Routers may choose any of the ways of the least distance, unless they show
// which they use: all of those must work for the egress node to be applied.
func (v *view) egressState(w *Way) outcome {
	x := &walk{view: v, way: w, end: v.nodeIndex(w.Node)}
	x.on = v.ways.markWayVertices(x.end)
	x.open, x.leaves = make([]bool, len(x.on)), make([]bool, len(x.on))
	x.open[0] = true
	for hop := int32(0); hop < x.end; hop++ {
		if x.on[hop] {
			x.enter(hop)
			x.leave(hop)
		}
	}
	x.enter(x.end)
	used := x.used()
	if !used[0] {
		return outcome{state: Unreachable, reason: x.stopped}
	}
	out := outcome{state: Applied}
	switch {
	case x.stopped != "":
		out.state, out.reason = AtRisk, x.choice
	case x.doubted != "":
		out.state, out.reason = AtRisk, x.doubted
	}
	passed := x.beside
	for i := int32(1); i < x.end; i++ {
		if used[i] && v.isBFR(i) {
			passed = append(passed, *v.bfrState(i))
		}
	}
	for _, r := range passed {
		if isWorseState(r.State, out.state) {
			out.state, out.since = r.State, r.Since
			out.reason = fmt.Sprintf("router %s on the way is %s: %s", r.Node, r.State, r.Reason)
		}
	}
	if !x.dark && out.state == Applied {
		out.shown = x.shown
	}
	return out
}

// enter finds out whether packets may come to a vertex over a computed way.
func (x *walk) enter(hop int32) {
	for _, from := range x.before[hop] {
		if !x.open[from] || !x.chosen(from, hop) {
			continue
		}
		obstacle, doubt := x.findObstacle(from, hop, x.end, x.way)
		if obstacle == "" {
			x.open[hop] = true
		} else {
			x.stop(obstacle, x.lastBFR(from), x.vertexName(hop))
		}
		if x.doubted == "" {
			x.doubted = doubt
		}
	}
}

func (x *walk) stop(obstacle, from, hop string) {
	if x.stopped == "" {
		x.stopped, x.choice = obstacle, fmt.Sprintf(
			"router %s may choose %s: %s",
			from,
			hop,
			obstacle,
		)
	}
}

// leave takes in what a BFR shows that it does besides using the computed ways.
func (x *walk) leave(at int32) {
	if !x.isBFR(at) || !x.open[at] {
		return
	}
	node := x.vertexName(at)
	next, read, ok := x.shows(node, x.way)
	if !ok {
		x.dark = true
		return
	}
	x.read(read)
	if len(next) == 0 {
		x.stop(
			fmt.Sprintf(
				"router %s shows no way to BFR-id %d (%s) in its forwarding table of %s",
				node,
				x.way.ID,
				x.way.Node,
				formatReasonTime(read),
			),
			node,
			"no way",
		)
	}
	for _, hop := range next {
		if x.direct(at, hop) {
			continue
		}
		d := detour{
			walk:    x,
			visited: map[string]visit{node: passing},
		}
		if d.follow(hop); d.obstacle != "" {
			x.stop(
				fmt.Sprintf(
					"router %s sends packets to %s (forwarding table of %s): %s",
					node,
					hop,
					formatReasonTime(read),
					d.obstacle,
				),
				node,
				hop,
			)
			continue
		}
		x.leaves[at] = true
		x.beside = append(x.beside, d.routers...)
	}
}

// read notes when a table was read.
func (x *walk) read(at time.Time) {
	if x.shown.IsZero() || at.Before(x.shown) {
		x.shown = at
	}
}

// chosen reports whether a BFR uses the computed way from a vertex to the next. Where it does not show its table,
// it may.
func (x *walk) chosen(from, hop int32) bool {
	if !x.someShow() {
		return true
	}
	for _, origin := range x.origins(from, map[int32]bool{}) {
		next, _, ok := x.shows(x.vertexName(origin), x.way)
		if !ok || slices.ContainsFunc(next, func(node string) bool {
			return x.leads(hop, node)
		}) {
			return true
		}
	}
	return false
}

// origins are the open BFRs from which packets come to a vertex; a BFR is its own.
func (x *walk) origins(at int32, seen map[int32]bool) (out []int32) {
	if x.isBFR(at) {
		return []int32{at}
	}
	if seen[at] {
		return nil
	}
	seen[at] = true
	for _, from := range x.before[at] {
		if x.open[from] {
			out = append(out, x.origins(from, seen)...)
		}
	}
	return out
}

// leads reports whether a vertex is a BFR, or is on the way to it over vertices that are none.
func (x *walk) leads(at int32, bfr string) bool {
	to := x.nodeIndex(bfr)
	if to < 0 || !x.on[to] {
		return false
	}
	return at == to || !x.isBFR(at) && x.between(at, to, map[int32]bool{})
}

// between reports whether packets come from a vertex to a later one over vertices that are no BFRs.
func (x *walk) between(at, to int32, seen map[int32]bool) bool {
	for _, from := range x.before[to] {
		if from == at {
			return true
		}
		if !seen[from] && !x.isBFR(from) {
			seen[from] = true
			if x.between(at, from, seen) {
				return true
			}
		}
	}
	return false
}

// direct reports whether the next BFR of a BFR is a computed one.
func (x *walk) direct(at int32, bfr string) bool {
	to := x.nodeIndex(bfr)
	return to > at && x.on[to] && x.between(at, to, map[int32]bool{})
}

// shows are the next BFRs that a router shows for an egress node, and when it showed them; false: it does not show
// them, or something has changed since.
func (v *view) shows(node string, w *Way) (next []string, at time.Time, ok bool) {
	r := v.l.routerRow(node).reading
	if !v.someShow() ||
		r == nil ||
		r.Tables == nil ||
		r.Graphs[v.key] == "" ||
		!r.fresh(v.l.now) ||
		r.At.Before(v.since()) ||
		r.Graphs[v.key] != v.g.Print() {
		return nil, at, false
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		if t.SubDomain == v.g.SubDomain && BSL(t.BSL) == v.bsl && t.SI == v.bsl.SI(w.ID) {
			next, ok = t.Next(w.ID)
			return next, r.At, ok
		}
	}
	return nil, r.At, true
}

// someShow reports whether a router on the ways shows its tables; most do not.
func (v *view) someShow() bool {
	if v.reads == notLooked {
		v.reads = noneShown
		for i := range v.vertices {
			r := v.l.routerRow(v.vertexName(int32(i))).reading
			if v.isBFR(int32(i)) && r != nil && r.Tables != nil {
				v.reads = someShown
			}
		}
	}
	return v.reads == someShown
}

// since is when the last of the routers on the ways has come to its state: what was read before says nothing.
func (v *view) since() time.Time {
	if v.stable.IsZero() {
		v.stable = time.Unix(0, 1)
		for i := range v.vertices {
			if !v.isBFR(int32(i)) {
				continue
			}
			if x := v.bfrState(int32(i)); x.Since.After(v.stable) {
				v.stable = x.Since
			}
		}
	}
	return v.stable
}

// detour follows packets beside the computed ways.
type detour struct {
	*walk
	visited  map[string]visit
	obstacle string
	routers  []RouterState
}

// visit is how far a detour is with a router.
type visit int

const (
	passing visit = 1 + iota // packets passed it on the way here
	passed                   // all that leave it are followed
)

// follow goes on at a BFR, by its table or, where it does not show it, by the one computed for it.
func (d *detour) follow(node string) {
	if node == d.way.Node || d.obstacle != "" || d.visited[node] == passed {
		return
	}
	if d.visited[node] == passing {
		d.obstacle = fmt.Sprintf("they come to %s again and again", node)
		return
	}
	d.visited[node] = passing
	defer func() { d.visited[node] = passed }()
	if _, member := d.g.Member(node); !member {
		d.obstacle = fmt.Sprintf(
			"%s is not in sub-domain %d of domain %d",
			node,
			d.g.SubDomain,
			d.g.Domain,
		)
		return
	}
	r := d.l.routerState(node, d.revision)
	if r.State == Failed {
		d.obstacle = fmt.Sprintf("router %s is %s: %s", node, r.State, r.Reason)
		return
	}
	d.routers = append(d.routers, r)
	next, at, ok := d.shows(node, d.way)
	if ok {
		d.read(at)
	} else {
		d.dark = true
		next = d.g.Tree(node, d.bsl).Next(d.way.Node)
	}
	if len(next) == 0 {
		d.obstacle = fmt.Sprintf(
			"router %s has no way to BFR-id %d (%s)",
			node,
			d.way.ID,
			d.way.Node,
		)
	}
	for _, hop := range next {
		d.follow(hop)
	}
}

// tunnelNeed is the need of a tunnel that begins at a BFR with a hop that is not one.
func (v *view) tunnelNeed(from, hop int32, w *Way) Need {
	for _, n := range w.Needs {
		if n.Ability == Tunnel &&
			n.Node == v.vertexName(from) &&
			strings.Contains(n.For, v.describeNonBFR(hop)) {
			return n
		}
	}
	return Need{v.vertexName(from), Tunnel, "over " + v.describeNonBFR(hop)}
}

// lastBFR is the node-id of the BFR that packets at a vertex left last, which may be that vertex.
func (v *view) lastBFR(at int32) string {
	for !v.isBFR(at) {
		at = v.before[at][0]
	}
	return v.vertexName(at)
}

// used marks the vertices on the ways to the end that packets can take.
func (x *walk) used() []bool {
	out := make([]bool, len(x.open))
	out[x.end] = x.open[x.end]
	for hop := x.end; hop >= 0; hop-- {
		out[hop] = out[hop] || x.leaves[hop]
		if !out[hop] {
			continue
		}
		for _, from := range x.before[hop] {
			if !x.open[from] || !x.chosen(from, hop) {
				continue
			}
			if obstacle, _ := x.findObstacle(from, hop, x.end, x.way); obstacle == "" {
				out[from] = true
			}
		}
	}
	return out
}
