package simrouter

import (
	"strconv"
	"strings"

	"ctl.internal/internal/netconf/xmltree"
)

// Plane is what a router has made of its configuration, and where its packets come.
type Plane struct {
	// State is shown beside the configuration by get, and by get-data where the model has it:
	// a nameless element with top-level ones.
	State *xmltree.Node
	// Reaches says how many of count packets to a BFR-id come back. Nil: none.
	Reaches func(bfrID uint64, count uint64) uint64
}

// SetPlane changes what the router shows and reaches, for the next message on.
func (r *Router) SetPlane(p Plane) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plane = p
}

// operational is the configuration in use with the state. The lock is held.
func (r *Router) operational() *xmltree.Node {
	if r.plane.State == nil {
		return r.store.running
	}
	all := own(r.store.running)
	_ = r.store.schema.Edit(all, r.plane.State, "merge") // what the model has no place for is not shown
	return all
}

// announces reports whether one of the model's modules has the namespace.
func (r *Router) announces(space string) bool {
	for _, m := range r.o.Model.Modules {
		if strings.HasPrefix(m, space+"?") && r.has(m) {
			return true
		}
	}
	return false
}

// ping is continuity-check for one target. The lock is held.
func (r *Router) ping(op *xmltree.Node) (*xmltree.Node, error) {
	to := op.Down("destination-tp")
	rpc := func(name string) *xmltree.Node { return to.Kid(NSRPCs, name) }
	target, err := strconv.ParseUint(rpc("target-bfers").Value("bier-bfrid"), 10, 16)
	count, err2 := strconv.ParseUint(op.Value("count"), 10, 32)
	if err != nil || err2 != nil || rpc("bier-subdomainid") == nil || rpc("bfir") == nil || rpc("bier-bfers").Value("bier-bfrid") == "" {
		return nil, &Fault{"missing-element", "/destination-tp", "a BIER address, a target and a count are needed"}
	}
	back := uint64(0)
	if r.plane.Reaches != nil {
		back = min(count, r.plane.Reaches(target, count))
	}
	number := func(name string, n uint64) *xmltree.Node {
		return xmltree.Leaf(NSMethods, name, strconv.FormatUint(n, 10))
	}
	return xmltree.New(NSMethods, "session-packet-statistics", number("rx-packet-count", back), number("tx-packet-count", count)), nil
}
