package policy

import (
	"errors"
	"strings"

	"ctl.internal/host/internal/aaa/reqpath"
)

// Index is a trie over the literal segments that resources begin with. Each node
// knows the first policy that covers it, so a lookup follows the request's own
// segments and meets only patterns that could match.
type Index struct{ root node }

type node struct {
	children map[string]*node
	exact    *entry   // the first policy for this very path
	tree     *entry   // the first policy for this path and all below
	patterns []*entry // the others that begin here, in order
	// below are the policies about what is under this path, of each kind of
	// permissions the first; in order.
	below []*entry
	kinds map[string]bool
}

func (n *node) ensureChild(segment string) *node {
	c := n.children[segment]
	if c == nil {
		c = &node{}
		if n.children == nil {
			n.children = map[string]*node{}
		}
		n.children[segment] = c
	}
	return c
}

// addBelow notes a policy about something below the node.
func (n *node) addBelow(e *entry) {
	if n.kinds[e.kind] {
		return
	}
	if n.kinds == nil {
		n.kinds = map[string]bool{}
	}
	n.kinds[e.kind] = true
	n.below = append(n.below, e)
}

func buildIndex(list []Policy) (*Index, error) {
	x := &Index{}
	var errs []error
	for i, p := range list {
		shape, e, err := compilePolicy(i, p)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		n := &x.root
		for _, s := range shape.Prefix {
			n.addBelow(e)
			if list, _, keyed := strings.Cut(s, "="); keyed {
				n.ensureChild(list).addBelow(e) // the whole list holds the entry
			}
			n = n.ensureChild(s)
		}
		switch {
		case shape.Exact && n.exact == nil:
			n.exact = e
		case shape.Tree && n.tree == nil:
			n.tree = e
		case !shape.Exact && !shape.Tree:
			n.addBelow(e)
			n.patterns = append(n.patterns, e)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return x, nil
}

// firstMatch returns the policy of the lowest index that matches, nil for none. It
// does not allocate.
func (x *Index) firstMatch(path []reqpath.Segment) *entry {
	return x.root.firstMatch(path, nil)
}

// firstMatch looks for one that goes before best in a node and below it.
func (n *node) firstMatch(path []reqpath.Segment, best *entry) *entry {
	if n.tree != nil && (best == nil || n.tree.index < best.index) {
		best = n.tree
	}
	for _, e := range n.patterns {
		if best != nil && e.index > best.index {
			break
		}
		if e.rest.Match(path) {
			best = e
			break
		}
	}
	if len(path) == 0 {
		if n.exact != nil && (best == nil || n.exact.index < best.index) {
			best = n.exact
		}
		return best
	}
	if c := n.children[path[0].Decoded]; c != nil {
		best = c.firstMatch(path[1:], best)
	}
	for _, other := range path[0].Also {
		if c := n.children[other]; c != nil {
			best = c.firstMatch(path[1:], best)
		}
	}
	return best
}

// allPermitBelow reports whether all policies about what is below a path permit the action,
// but those that the policy deciding for the path goes before.
func (x *Index) allPermitBelow(
	path []reqpath.Segment,
	decider *entry,
	permits func(*entry) bool,
) bool {
	return x.root.allPermitBelow(path, decider, permits)
}

func (n *node) allPermitBelow(
	path []reqpath.Segment,
	decider *entry,
	permits func(*entry) bool,
) bool {
	live := func(e *entry) bool {
		return decider == nil || !decider.tree || e.index < decider.index
	}
	if len(path) == 0 {
		for _, e := range n.below {
			if live(e) && !permits(e) {
				return false
			}
		}
		return true
	}
	for _, e := range n.patterns {
		if live(e) && e.rest.Below(path) && !permits(e) {
			return false
		}
	}
	c := n.children[path[0].Decoded]
	if c != nil && !c.allPermitBelow(path[1:], decider, permits) {
		return false
	}
	for _, other := range path[0].Also {
		c := n.children[other]
		if c != nil && !c.allPermitBelow(path[1:], decider, permits) {
			return false
		}
	}
	return true
}
