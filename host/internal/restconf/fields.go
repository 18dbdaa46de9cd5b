package restconf

import (
	"strings"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// fieldTree is a parsed fields parameter (RFC 8040 section 4.8.3): the names that
// are wanted below a node. A name without names below it is wanted as a whole.
type fieldTree map[string]fieldTree

const maxFieldDepth = 32

// parseFields reads an expression such as a;b(c;d)/e.
func parseFields(s string) (fieldTree, error) {
	t := fieldTree{}
	if rest, ok := t.readPaths(s, 0); !ok || rest != "" {
		return nil, fault.New(
			fault.Invalid,
			"fields: %.100q is wrong at character %d",
			s,
			len(s)-len(rest)+1,
		)
	}
	return t, nil
}

// readPaths takes paths that semicolons part off the beginning of s: name/name(list).
func (t fieldTree) readPaths(s string, depth int) (rest string, ok bool) {
	at, level := t, depth
	for {
		end := strings.IndexAny(s+";", "/();")
		if end == 0 || level >= maxFieldDepth {
			return s, false
		}
		at = at.ensureBelow(s[:end])
		s = s[end:]
		switch {
		case strings.HasPrefix(s, "/"):
			s = s[1:]
			level++
			continue
		case strings.HasPrefix(s, "("):
			if s, ok = at.readPaths(s[1:], level+1); !ok || !strings.HasPrefix(s, ")") {
				return s, false
			}
			s = s[1:]
		}
		if !strings.HasPrefix(s, ";") {
			return s, true
		}
		at, level, s = t, depth, s[1:]
	}
}

// ensureBelow is what is wanted below a name.
func (t fieldTree) ensureBelow(name string) fieldTree {
	if t[name] == nil {
		t[name] = fieldTree{}
	}
	return t[name]
}

// checkNames refuses names that the schema does not have.
func (t fieldTree) checkNames(n *yang.Node) error {
	for name, below := range t {
		m := n.Member(name)
		if m == nil {
			return fault.New(fault.Invalid, "fields: there is no node %.60q below %q", name, n.Name)
		}
		if err := below.checkNames(m); err != nil {
			return err
		}
	}
	return nil
}

// applyFields removes what is not wanted.
func (t fieldTree) applyFields(d *yang.Data) {
	if len(t) == 0 {
		return
	}
	if d.IsArray() {
		for e := range d.All() {
			t.applyFields(e)
		}
		return
	}
	want := map[*yang.Node]fieldTree{}
	leftOut := false
	for name, below := range t {
		n := d.Node.Member(name)
		want[n] = below
		leftOut = leftOut || n.Secret() && !n.MaskedText()
	}
	for c := range d.All() {
		if c.IsMasked() {
			if !leftOut {
				c.Remove()
			}
			continue
		}
		if below := want[c.Node]; below != nil {
			below.applyFields(c)
		} else {
			c.Remove()
		}
	}
}
