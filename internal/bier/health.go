package bier

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/state"
)

// Roles of a router for a channel. Transit is a BFR on a way that is neither ingress nor egress,
// former one that was a carrier before a change.
const (
	RoleIngress = "ingress"
	RoleEgress  = "egress"
	RoleTransit = "transit"
	RoleFormer  = "former"
)

// ChannelState is how far a channel is: as far as the worst of its ingress and its egress nodes. What
// is in the way of packets at other routers counts in the egress nodes that it concerns.
type ChannelState struct {
	State    string
	Carriers []RouterState  // the ingress, the egress nodes, then the other BFRs on all ways
	Egress   map[string]int // how many egress nodes are in each state
	Plan     *Plan          // nil: the ingress cannot make any packet of the channel
	Since    time.Time      // of the worst carrier's state
	// When it was last proved that packets come to every egress node, and by the least that proves it for one of
	// them: ByCounters, ByPing or ByTables. Zero: not for all.
	Proved   time.Time
	ProvedBy string
	// Silent says of egress nodes that they receive nothing although the ingress sends.
	Silent []string
}

// Channel is the state of a deployed channel of a topology, as to what was configured up to
// a revision. Everything that shows a channel's state asks here.
func (s Routers) Channel(r state.Reader, t *Topology, c *Channel, revision uint64) ChannelState {
	plan, err := PlanChannel(t, c)
	return s.newLook(r).plannedState(t.ID, c, revision, plan, err)
}

// plannedState is Channel with what PlanChannel returned.
func (l *look) plannedState(
	topology string,
	c *Channel,
	revision uint64,
	plan *Plan,
	err error,
) ChannelState {
	key := ChannelKey(topology, c.Name)
	out := ChannelState{Plan: plan, Egress: map[string]int{}}
	out.Carriers = make([]RouterState, 0, 1+len(c.EgressNodes))
	ingress := l.carrierState(c.IngressNode, RoleIngress, key, revision)
	if err != nil {
		ingress.State, ingress.Reason = Failed, err.Error()
	} else if n := l.bfrIDCollision(c.IngressNode, plan.IngressID); n != "" &&
		ingress.State == Applied {
		ingress.State, ingress.Reason = Unreachable, n
	}
	out.Carriers = append(out.Carriers, ingress)
	var v *view
	if plan != nil {
		v = l.newView(topology, plan, revision)
	}
	for i, e := range c.EgressNodes {
		x := l.carrierState(e.ID, RoleEgress, key, revision)
		if plan != nil {
			x.Path = plan.Egress[i].Path
			p := proof{
				look:     l,
				channel:  key,
				ingress:  c.IngressNode,
				revision: revision,
				view:     v,
			}
			p.reach(&x, &plan.Egress[i])
			if p.silent != "" {
				out.Silent = append(out.Silent, p.silent)
			}
		}
		out.prove(i, &x)
		out.Egress[x.State]++
		out.Carriers = append(out.Carriers, x)
	}
	for i := range out.Carriers {
		x := &out.Carriers[i]
		if out.State == "" || isWorseState(x.State, out.State) {
			out.State, out.Since = x.State, x.Since
		}
	}
	if plan != nil {
		for _, node := range plan.ways.transitBFRs(c.Routers()) {
			x := l.routerState(node, revision)
			x.Role = RoleTransit
			out.Carriers = append(out.Carriers, x)
		}
	}
	return out
}

// carrierState is the state of a router as to one channel: whether it holds it.
func (l *look) carrierState(node, role, channel string, revision uint64) RouterState {
	x := l.routerState(node, revision)
	x.Role = role
	why := l.routerRow(node).setAside(channel)
	if why != "" && (x.State == Applied || x.State == Unverified) {
		x.State, x.Reason = Failed, why
	}
	if c := l.routerRow(node).counts[channel]; c.Revision == revision && len(c.Samples) > 0 {
		last := c.Samples[len(c.Samples)-1]
		x.Packets, x.Counted = last.Packets, last.At
	}
	return x
}

// lackingRouters says which routers on the way to an egress node are known not to be able to do
// what the way needs of them.
func (l *look) lackingRouters(w *Way) (out []string) {
	for _, n := range w.Needs {
		if l.lacksAbility(n.Node, n.Ability) {
			out = append(out, n.Lacking())
		}
	}
	return out
}

// Warnings are what is to be warned of when a channel is deployed: for each egress node of
// its plan, what routers lack on the way to it. Without ECMP packets arrive all the same, by
// one of the equal ways.
func (s Routers) Warnings(r state.Reader, t *Topology, c *Channel, plan *Plan) [][]string {
	out := make([][]string, len(plan.Egress))
	l := s.newLook(r)
	trees := map[string]*Tree{} // of routers without ECMP
	g := t.Graph(c.DomainID, c.SubDomainID)
	for i := range plan.Egress {
		w := &plan.Egress[i]
		out[i] = l.lackingRouters(w)
		ports := c.EgressNodes[i].Ports()
		if len(ports) > 0 && l.lacksAbility(w.Node, bierdriver.Ports) {
			out[i] = append(out[i], fmt.Sprintf("the ports %s of router %s are not configured by the controller, because its driver or model has no place for them (%s)",
				strings.Join(ports, ", "), w.Node, bierdriver.Ports))
		}
		for _, hop := range w.Path[:max(0, len(w.Path)-1)] {
			if !l.lacksAbility(hop, ECMP) {
				continue
			}
			if _, member := g.Member(hop); !member {
				continue
			}
			if trees[hop] == nil {
				trees[hop] = g.Tree(hop, plan.BSL)
			}
			if n := trees[hop].Ways(w.Node); n > 1 {
				out[i] = append(
					out[i],
					fmt.Sprintf(
						"router %s uses one of %d equal ways (%s, %s)",
						hop,
						n,
						ECMP,
						abilities[ECMP],
					),
				)
			}
		}
	}
	return out
}

// Lacks reports whether a router is known not to have an ability.
func (s Routers) Lacks(r state.Reader, node, ability string) bool {
	return s.newLook(r).lacksAbility(node, ability)
}

func (l *look) lacksAbility(node, ability string) bool {
	x := l.routerRow(node)
	return slices.Contains(lackedAbilities(x.Status, x.session), ability)
}

// BFRIDCollision is the kind of a Notice that says that a BFR-id is in use twice: routers
// treat both routers then as having none.
const BFRIDCollision = "bfr-id-collision"

// NetworkDiffers is the kind of a Notice of the service itself: the forwarding tables that a router uses
// say another way than the topology.
const NetworkDiffers = "network-differs"

// bfrIDCollision is the text of a report that a node's BFR-id is in use twice, "" if none.
func (l *look) bfrIDCollision(node string, id uint16) string {
	for _, n := range l.notices {
		if n.Kind == BFRIDCollision && (n.BFRID == id || n.BFRID == 0 && n.Node == node) {
			return fmt.Sprintf(
				"router %s reports since %s: %s",
				n.Node,
				n.At.UTC().Format(time.RFC3339),
				n.Text,
			)
		}
	}
	return ""
}

// Counted is counts by state in words: "3: 2 applied, 1 unverified".
func Counted(by map[string]int) string {
	var counts []string
	n := 0
	for _, state := range States {
		if k := by[state]; k > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", k, state))
			n += k
		}
	}
	return fmt.Sprintf("%d: %s", n, strings.Join(counts, ", "))
}

// Summary is the state with the count of egress nodes by state, and the first reason:
// "unverified; egress 3: 2 applied, 1 unverified (3: the session is down since …)".
func (c *ChannelState) Summary() string {
	out := fmt.Sprintf("%s; egress %s", c.State, Counted(c.Egress))
	for _, x := range c.Carriers {
		if x.State == c.State && x.Reason != "" {
			return fmt.Sprintf("%s (%s: %s)", out, x.Node, x.Reason)
		}
	}
	return out
}
