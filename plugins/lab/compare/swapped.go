package compare

import (
	"fmt"
	"slices"
	"strings"
)

// takeSwapped finds links whose cables stand at each other's places, says each group once, and returns the other links.
// A group is closed: each end of its links has a cable, and each of these cables leads to an end of the group.
func (c *comparison) takeSwapped(open []wanted) []wanted {
	owner := map[port]int{} // the link that shall be at a port
	for i, w := range open {
		for _, p := range []port{w.a, w.b} {
			if p.id != "" {
				owner[p] = i
			}
		}
	}
	group := newGroups(len(open))
	between := map[int][]*cable{} // by a link of the group
	for _, x := range c.cables {
		i, atA := owner[x.a]
		j, atB := owner[x.b]
		if x.isUsed() || x.inferred || !atA || !atB || i == j || c.isShared(x.a) || c.isShared(x.b) {
			continue
		}
		group.join(i, j)
		between[i] = append(between[i], x)
	}
	var rest []wanted
	for _, members := range group.list() {
		var cables []*cable
		for _, i := range members {
			cables = append(cables, between[i]...)
		}
		if len(members) < 2 || len(cables) != len(members) {
			for _, i := range members {
				rest = append(rest, open[i])
			}
			continue
		}
		c.addSwapped(open, members, cables)
	}
	return rest
}

// isShared reports whether a port has several neighbours: a hub is there, and no cable that could be swapped.
func (c *comparison) isShared(p port) bool {
	reported := 0
	for _, x := range c.at[p] {
		if !x.inferred {
			reported++
		}
	}
	return reported > 1
}

func (c *comparison) addSwapped(open []wanted, members []int, cables []*cable) {
	f := Finding{
		Kind:    LinkSwapped,
		Subject: open[members[0]].link.String(),
		Line:    open[members[0]].link.Line,
	}
	for _, i := range members {
		f.Intended = append(f.Intended, open[i].link.String())
	}
	slices.SortFunc(cables, compareCables)
	for _, x := range cables {
		x.explain()
		f.Found = append(f.Found, x.String())
	}
	f.Text = fmt.Sprintf(
		"%d cables are swapped: intended are %s; found are %s",
		len(members),
		strings.Join(f.Intended, " and "),
		strings.Join(f.Found, " and "),
	)
	c.add(f)
}

// groups are the connected sets of numbers 0 to n-1.
type groups struct {
	parent []int
}

func newGroups(n int) *groups {
	g := &groups{parent: make([]int, n)}
	for i := range g.parent {
		g.parent[i] = i
	}
	return g
}

func (g *groups) root(i int) int {
	for g.parent[i] != i {
		g.parent[i] = g.parent[g.parent[i]]
		i = g.parent[i]
	}
	return i
}

func (g *groups) join(i, j int) {
	g.parent[g.root(i)] = g.root(j)
}

// list is each group in order of its first number.
func (g *groups) list() [][]int {
	byRoot := map[int]int{}
	var out [][]int
	for i := range g.parent {
		r := g.root(i)
		at, known := byRoot[r]
		if !known {
			at = len(out)
			byRoot[r] = at
			out = append(out, nil)
		}
		out[at] = append(out[at], i)
	}
	return out
}
