package simrouter

import (
	"slices"

	"ctl.internal/internal/netconf/xmltree"
)

// Select applies a subtree filter (RFC 6241 section 6) to a configuration; nil
// selects all of it. The result shares nodes with cfg.
func Select(cfg, filter *xmltree.Node) []*xmltree.Node {
	if filter == nil {
		return cfg.Kids
	}
	var out []*xmltree.Node
	for _, n := range cfg.Kids {
		for _, f := range filter.Kids {
			if got := filterNode(n, f); got != nil {
				out = append(out, got)
				break
			}
		}
	}
	return out
}

func matchesFilter(n, f *xmltree.Node) bool {
	return n.Name == f.Name && (f.Space == "" || f.Space == n.Space)
}

func filterNode(n, f *xmltree.Node) *xmltree.Node {
	if !matchesFilter(n, f) {
		return nil
	}
	if len(f.Kids) == 0 {
		if v := f.Trimmed(); v != "" && v != n.Trimmed() {
			return nil
		}
		return n
	}
	var others []*xmltree.Node
	for _, k := range f.Kids {
		if len(k.Kids) > 0 || k.Trimmed() == "" {
			others = append(others, k)
		} else if !slices.ContainsFunc(n.Kids, func(have *xmltree.Node) bool {
			return matchesFilter(have, k) && have.Trimmed() == k.Trimmed()
		}) {
			return nil // a content match: a leaf with this very value
		}
	}
	if len(others) == 0 {
		return n
	}
	out := xmltree.New(n.Space, n.Name)
	for _, kid := range n.Kids {
		for _, k := range f.Kids {
			if got := filterNode(kid, k); got != nil {
				out.Add(got)
				break
			}
		}
	}
	if len(out.Kids) == 0 {
		return nil
	}
	return out
}
