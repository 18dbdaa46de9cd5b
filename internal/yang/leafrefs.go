package yang

import (
	"fmt"
	"regexp"
	"strings"
)

// pendingRef is a leafref whose path is resolved when all trees are there.
type pendingRef struct {
	typ  *Type
	node *Node
}

// resolveLeafrefs resolves the paths of all leafrefs. One that goes by deref() waits for the leafref that it goes by.
func (c *compiler) resolveLeafrefs() {
	left := c.refs
	for len(left) > 0 {
		var later []*pendingRef
		for _, r := range left {
			why, wait := c.resolveLeafref(r)
			switch {
			case wait:
				later = append(later, r)
			case why != "":
				c.addFault(r.typ.path, "the leafref %q of %q: %s", r.typ.Path, r.node.Name, why)
			}
		}
		if len(later) == len(left) {
			for _, r := range later {
				c.addFault(
					r.typ.path,
					"the leafref %q of %q refers to itself in a circle",
					r.typ.Path,
					r.node.Name,
				)
			}
			return
		}
		left = later
	}
	for _, r := range c.refs {
		if r.typ.Target != nil && r.typ.Final().Base == Leafref {
			c.addFault(
				r.typ.path,
				"the leafref %q of %q refers to itself in a circle",
				r.typ.Path,
				r.node.Name,
			)
		}
	}
}

// pathStep is a step of the path of a leafref, and what is before its predicates.
var pathStep = regexp.MustCompile(`^\s*(?:\.\.|[A-Za-z_][\w.-]*(?:\s*:\s*[A-Za-z_][\w.-]*)?)\s*$`)

// withoutPredicates takes the predicates out of a path.
func withoutPredicates(path string) (string, bool) {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\'' || c == '"':
			end := strings.IndexByte(path[i+1:], c)
			if end < 0 || depth == 0 {
				return "", false
			}
			i += end + 1
		case c == '[':
			depth++
		case c == ']':
			if depth--; depth < 0 {
				return "", false
			}
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String(), depth == 0
}

func (c *compiler) resolveLeafref(r *pendingRef) (why string, wait bool) {
	path, ok := withoutPredicates(strings.TrimSpace(r.typ.Path))
	if !ok || path == "" {
		return "it is not a path", false
	}
	r.typ.predicates = len(path) < len(strings.TrimSpace(r.typ.Path))
	at := r.node
	if rest, deref := strings.CutPrefix(path, "deref("); deref {
		inner, rest, _ := strings.Cut(rest, ")")
		from, why := c.followPath(r, r.node, strings.TrimSpace(inner), false)
		if why != "" {
			return why, false
		}
		if from == nil || !from.IsLeaf() || from.Type == nil || from.Type.Base != Leafref {
			return "deref() needs a leafref", false
		}
		if from.Type.Target == nil {
			return "", true
		}
		at, path = from.Type.Target, strings.TrimPrefix(strings.TrimSpace(rest), "/")
		r.typ.deref = true
	}
	to, why := c.followPath(r, at, path, !r.typ.deref)
	switch {
	case why != "":
		return why, false
	case to == nil || !to.IsLeaf():
		return "it does not lead to a leaf", false
	}
	r.typ.Target = to
	return "", false
}

// followPath follows a path through the schema; noting keeps its steps for the look-up of instances.
func (c *compiler) followPath(r *pendingRef, at *Node, path string, noting bool) (*Node, string) {
	steps := strings.Split(path, "/")
	if steps[0] == "" {
		at = nil
		if r.typ.up = 0; noting {
			r.typ.up = -1
		}
		steps = steps[1:]
	}
	down := false
	for _, step := range steps {
		if !pathStep.MatchString(step) {
			return nil, fmt.Sprintf("%q is no step of a path", strings.TrimSpace(step))
		}
		step = strings.Join(strings.Fields(step), "")
		if step == ".." {
			if at == nil || down || noting && r.typ.up < 0 {
				return nil, "it goes up too far"
			}
			at = at.DataParent()
			if noting {
				r.typ.up++
			}
			continue
		}
		down = true
		prefix, name := splitPrefix(step)
		module := r.node.Module
		if m := r.typ.path.moduleOf(prefix); prefix != "" {
			if m == nil {
				return nil, fmt.Sprintf("no import has the prefix %q", prefix)
			}
			module = m.name
		}
		next := c.stepDown(at, module, name)
		if next == nil {
			return nil, "there is no node " + step
		}
		if at = next; noting {
			r.typ.down = append(r.typ.down, at)
		}
	}
	return at, ""
}

// stepDown goes down one level of data; at is nil at the top of the data tree.
func (c *compiler) stepDown(at *Node, module, name string) *Node {
	if at != nil {
		return at.childNamed(module, name)
	}
	return dataNode(c.set.byName[module], name)
}

// dataNode is a top-level data node of a module, choices and cases looked through.
func dataNode(m *Module, name string) *Node {
	if m == nil {
		return nil
	}
	top := Node{Children: m.Data}
	return top.childNamed(m.Name, name)
}
