package discovery

import "slices"

// sight is one switch seen by another: on port of self, the switch peer, and
// which of its ports it may be (nil = any).
type sight struct {
	port   int
	ports  []int
	byName bool      // the peer was found by its name only
	row    *Neighbor // what reported it
}

// isSufficient reports whether the sight is enough for a link that the peer does not confirm.
func (s sight) isSufficient() bool {
	return s.isExact() && !s.byName
}

func (s sight) isExact() bool {
	return len(s.ports) == 1
}
func (s sight) allowsPort(p int) bool {
	return s.ports == nil || slices.Contains(s.ports, p)
}

// link joins a port of one switch with a port of another.
type link struct {
	a, b      int // ports
	confirmed bool
	source    string
}

// pairSights joins what two switches see of each other. mine are the sights of the first
// on the second, theirs the reverse. A link needs sights that agree; where several
// would, the surest are taken and the others only when nothing else is left for
// them. What only one end reports is joined when it names the port exactly.
func pairSights(mine, theirs []sight) (links []link, lostMine, lostTheirs []sight) {
	usedA, usedB := map[int]bool{}, map[int]bool{}
	agree := func(m, t sight) bool {
		return !usedA[m.port] && !usedB[t.port] && m.allowsPort(t.port) && t.allowsPort(m.port)
	}
	join := func(a, b int, confirmed bool, row *Neighbor) {
		usedA[a], usedB[b] = true, true
		l := link{a: a, b: b, confirmed: confirmed}
		if row != nil {
			l.source = row.Protocol
		}
		links = append(links, l)
	}
	for _, sure := range []func(m, t sight) bool{
		func(m, t sight) bool { return m.isExact() && t.isExact() },
		func(m, t sight) bool { return m.isExact() || t.isExact() },
	} {
		for _, m := range mine {
			for _, t := range theirs {
				if sure(m, t) && agree(m, t) {
					join(m.port, t.port, true, m.row)
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, m := range mine {
			t, one := onlySight(theirs, func(t sight) bool { return agree(m, t) })
			if !one {
				continue
			}
			if _, one := onlySight(mine, func(m sight) bool { return agree(m, t) }); one {
				join(m.port, t.port, true, m.row)
				changed = true
			}
		}
	}
	for _, m := range mine {
		switch {
		case usedA[m.port]:
		case m.isSufficient() && !usedB[m.ports[0]]:
			join(m.port, m.ports[0], false, m.row)
		default:
			lostMine = append(lostMine, m)
		}
	}
	for _, t := range theirs {
		switch {
		case usedB[t.port]:
		case t.isSufficient() && !usedA[t.ports[0]]:
			join(t.ports[0], t.port, false, t.row)
		default:
			lostTheirs = append(lostTheirs, t)
		}
	}
	return links, lostMine, lostTheirs
}

// onlySight returns the one sight of which f holds, counting ports, not rows.
func onlySight(sights []sight, f func(sight) bool) (sight, bool) {
	var found sight
	n := 0
	for _, s := range sights {
		if f(s) && (n == 0 || s.port != found.port) {
			found = s
			n++
		}
	}
	return found, n == 1
}
