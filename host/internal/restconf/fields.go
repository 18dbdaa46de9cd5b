package restconf

import (
	"strings"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// fieldTree is a parsed fields parameter (RFC 8040 section 4.8.3): the names that
// are wanted below a node. A name without names below it is wanted as a whole.
type fieldTree struct {
	names map[string]*fieldTree
}

const maxFieldDepth = 32

// parseFields reads an expression such as a;b(c;d)/e.
func parseFields(s string) (*fieldTree, error) {
	p := fieldParser{s: s}
	t := &fieldTree{}
	if !p.list(t, 0) || p.pos < len(s) {
		return nil, fault.New(fault.Invalid, "fields: %.100q is wrong at character %d", s, p.pos+1)
	}
	return t, nil
}

type fieldParser struct {
	s   string
	pos int
}

func (p *fieldParser) take(c byte) bool {
	if p.pos < len(p.s) && p.s[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// list reads paths separated by semicolons.
func (p *fieldParser) list(t *fieldTree, depth int) bool {
	for {
		if !p.path(t, depth) {
			return false
		}
		if !p.take(';') {
			return true
		}
	}
}

// path reads name/name(list).
func (p *fieldParser) path(t *fieldTree, depth int) bool {
	for ; depth < maxFieldDepth; depth++ {
		start := p.pos
		for p.pos < len(p.s) && strings.IndexByte("/();", p.s[p.pos]) < 0 {
			p.pos++
		}
		name := p.s[start:p.pos]
		if name == "" {
			return false
		}
		if t.names == nil {
			t.names = map[string]*fieldTree{}
		}
		next := t.names[name]
		if next == nil {
			next = &fieldTree{}
			t.names[name] = next
		}
		t = next
		if p.take('(') {
			return p.list(t, depth+1) && p.take(')')
		}
		if !p.take('/') {
			return true
		}
	}
	return false
}

// check refuses names that the schema does not have.
func (t *fieldTree) check(n *yang.Node) error {
	for name, below := range t.names {
		m := n.Member(name)
		if m == nil {
			return fault.New(fault.Invalid, "fields: there is no node %.60q below %q", name, n.Name)
		}
		if err := below.check(m); err != nil {
			return err
		}
	}
	return nil
}

// apply removes what is not wanted.
func (t *fieldTree) apply(d *yang.Data) {
	if len(t.names) == 0 {
		return
	}
	if d.IsArray() {
		for e := d.First(); e != nil; e = e.Next() {
			t.apply(e)
		}
		return
	}
	want := map[*yang.Node]*fieldTree{}
	for name, below := range t.names {
		want[d.Node.Member(name)] = below
	}
	for c := d.First(); c != nil; {
		next := c.Next()
		if below := want[c.Node]; below != nil {
			below.apply(c)
		} else {
			c.Remove()
		}
		c = next
	}
}
