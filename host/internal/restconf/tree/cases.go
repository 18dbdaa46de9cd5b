package tree

import "ctl.internal/internal/yang"

// dropOtherCases removes what a choice excludes when the instance of p is created (RFC 7950 section 7.9): the
// nodes of the other cases of every choice that the path goes through. They may be documents of their own, so
// what is inside the document of the parent is not all.
func (d *Draft) dropOtherCases(p Path) error {
	for i, s := range p {
		holder := p[:i:i]
		for cs := s.Node.Parent; cs != nil && cs.Kind == yang.Case; cs = cs.Parent.Parent {
			for _, other := range cs.Parent.Children {
				if other == cs {
					continue
				}
				for _, n := range other.DataNodes() {
					_, err := d.Apply(Edit{
						Op:   Remove,
						Path: append(holder, Step{Node: n}),
					})
					if err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}
