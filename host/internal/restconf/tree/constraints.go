package tree

import (
	"slices"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// checkConstraints checks the must and when statements that the changes can matter to: those of the entries that changed
// where no condition looks beyond its entry, else those of the whole tree.
func (d *Draft) checkConstraints() error {
	changed := map[*yang.Node][]Path{}
	for _, t := range d.touched {
		changed[t.path[0].Node] = append(changed[t.path[0].Node], t.path)
	}
	for _, p := range d.removed {
		changed[p[0].Node] = append(changed[p[0].Node], p)
	}
	var l fault.List
	for _, top := range d.set.Root.Members() {
		if !top.HasConstraints() || !top.Config || len(changed[top]) == 0 && !(top.LooksElsewhere() && len(changed) > 0) {
			continue
		}
		check := d.checkEntries
		if top.LooksBeyondEntries() || top.LooksElsewhere() || top.Kind != yang.Container {
			check = d.checkWhole
		}
		more, err := check(top, changed[top])
		if err != nil {
			return err
		}
		l = append(l, more...)
	}
	return l.Err()
}

// checkWhole checks a tree with all that its conditions may look at.
func (d *Draft) checkWhole(top *yang.Node, _ []Path) (fault.List, error) {
	root := yang.NewData(d.set.Root, false)
	for _, n := range d.set.Root.Members() {
		if !n.Config || n != top && !top.LooksElsewhere() {
			continue
		}
		at, err := d.Load(Path{{Node: n}})
		if err != nil {
			return nil, err
		}
		if at != nil {
			root.Put(at)
		}
	}
	at := root.Get(top)
	root.AddDefaults(yang.Default, isConfig)
	if at == nil {
		return nil, nil
	}
	return at.Constraints(root), nil
}

func isConfig(n *yang.Node) bool { return n.Config }

// checkEntries checks what is outside of lists with keys, and the entries that changed.
func (d *Draft) checkEntries(top *yang.Node, changed []Path) (fault.List, error) {
	var l fault.List
	at, err := d.inner(Path{{Node: top}})
	if err != nil {
		return nil, err
	}
	if at != nil {
		at.AddDefaults(yang.Default, isConfig)
		l = at.Constraints(nil)
	}
	seen := map[string]bool{}
	for _, p := range changed {
		i := slices.IndexFunc(p, Step.keyed)
		if i < 0 {
			continue
		}
		paths := []Path{p[:i+1]}
		if !p[i].document() { // the whole list
			if paths, err = d.entriesOf(p[:i+1]); err != nil {
				return nil, err
			}
		}
		for _, entry := range paths {
			if seen[entry.Key()] {
				continue
			}
			seen[entry.Key()] = true
			at, err := d.Load(entry)
			if err != nil {
				return nil, err
			}
			if at != nil {
				at.AddDefaults(yang.Default, isConfig)
				l = append(l, at.Constraints(nil)...)
			}
		}
	}
	// A container that was replaced has other entries now.
	for _, p := range changed {
		if !slices.ContainsFunc(p, Step.keyed) && listsBelow(p.Node()) {
			return d.checkWhole(top, nil)
		}
	}
	return l, nil
}

// keyed reports whether the step is to a list with keys.
func (s Step) keyed() bool { return s.Node.Keyed() }

// entriesOf lists the entries of a list.
func (d *Draft) entriesOf(list Path) ([]Path, error) {
	at, err := d.Load(list)
	if err != nil || at == nil {
		return nil, err
	}
	var out []Path
	for e := range at.All() {
		out = append(out, append(list[:len(list)-1:len(list)-1], Step{Node: list.Node(), Keys: e.KeyValues()}))
	}
	return out, nil
}
