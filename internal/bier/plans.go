package bier

import (
	"slices"
	"sync"
)

// keptPlans is how many plans a Graph keeps. One call that deploys a channel asks for its plan several times: when it
// is decided, in the transaction, when the tree is checked, and for the answer.
const keptPlans = 64

// plans are the last plans that were computed in a Graph.
type plans struct {
	mu   sync.Mutex
	list []keptPlan
	next int // the one that is replaced next
}

// keptPlan is a plan with all that it depends on besides the Graph.
type keptPlan struct {
	ingress string
	egress  []EgressNode
	plan    *Plan
	err     error
}

// is reports whether the plan is that of a channel.
func (k *keptPlan) is(c *Channel) bool {
	return k.ingress == c.IngressNode &&
		slices.EqualFunc(k.egress, c.EgressNodes, func(a, b EgressNode) bool {
			return a.ID == b.ID
		})
}

// once returns the plan of a channel that was computed before, or computes it.
func (p *plans) once(c *Channel, compute func() (*Plan, error)) (*Plan, error) {
	p.mu.Lock()
	i := slices.IndexFunc(p.list, func(k keptPlan) bool { return k.is(c) })
	if i >= 0 {
		k := p.list[i]
		p.mu.Unlock()
		return k.plan, k.err
	}
	p.mu.Unlock()
	plan, err := compute()
	k := keptPlan{
		ingress: c.IngressNode,
		egress:  slices.Clone(c.EgressNodes),
		plan:    plan,
		err:     err,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) < keptPlans {
		p.list = append(p.list, k)
	} else {
		p.list[p.next] = k
		p.next = (p.next + 1) % keptPlans
	}
	return plan, err
}
