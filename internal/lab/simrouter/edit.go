package simrouter

import (
	"cmp"
	"slices"
	"strings"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

// Fault is the rpc-error that an edit ends with.
type Fault struct{ Tag, Path, Message string }

func (f *Fault) Error() string {
	return f.Tag + " " + f.Path + " " + f.Message
}

// Edit changes a configuration as edit-config does (RFC 6241 section 7.2): cfg and
// config hold top-level elements. On error cfg is changed up to the fault. Of what is
// below cfg only copies are changed, so that a datastore may share it with another, and
// an edit costs what it touches.
func (s *Schema) Edit(cfg, config *xmltree.Node, defaultOperation string) error {
	if defaultOperation == "replace" {
		cfg.Kids = nil
		defaultOperation = "merge"
	}
	for _, n := range config.Kids {
		if err := s.editNode(cfg, n, defaultOperation, ""); err != nil {
			return err
		}
	}
	return nil
}

// copyNode is a copy of a node that may be changed; its children are not copied.
func copyNode(n *xmltree.Node) *xmltree.Node {
	c := *n
	c.Kids = slices.Clone(n.Kids)
	return &c
}

func removeKid(parent, kid *xmltree.Node) {
	parent.Kids = slices.DeleteFunc(parent.Kids, func(k *xmltree.Node) bool {
		return k == kid
	})
}

func (s *Schema) editNode(parent, n *xmltree.Node, inherited, above string) error {
	path := above + "/" + n.Name
	is := s.findKidSchema(n)
	if is == nil {
		if !s.knowsNamespace(n.Space) {
			return &Fault{"unknown-namespace", path, "no module has the namespace " + n.Space}
		}
		return &Fault{"unknown-element", path, "no such node"}
	}
	for _, key := range is.Keys {
		if len(n.All(n.Space, key)) != 1 {
			return &Fault{"missing-element", path + "/" + key, "a key is missing"}
		}
	}
	op := cmp.Or(n.Attr(netconf.NS, "operation"), inherited)
	have := is.findInstance(parent, n)
	switch op {
	case "delete", "remove":
		if have == nil && op == "delete" {
			return &Fault{"data-missing", path, "there is nothing to delete"}
		}
		removeKid(parent, have)
		return nil
	case "create":
		if have != nil {
			return &Fault{"data-exists", path, "it is there already"}
		}
		op = "merge"
	case "replace":
		removeKid(parent, have)
		have, op = nil, "merge"
	case "none":
		if have == nil && (is.Keys != nil || is.Check != nil) {
			return &Fault{"data-missing", path, "it is not there"}
		}
	case "merge":
	default:
		return &Fault{"bad-attribute", path, "no such operation"}
	}
	if have == nil {
		have = xmltree.New(n.Space, n.Name)
		parent.Kids = append(parent.Kids, have)
	} else {
		i := slices.Index(parent.Kids, have)
		have = copyNode(have)
		parent.Kids[i] = have
	}
	if is.Check != nil {
		return is.setLeaf(have, n, op, path)
	}
	for _, k := range n.Kids {
		kidOp := op
		if slices.Contains(is.Keys, k.Name) {
			kidOp = "merge"
		}
		if err := is.editNode(have, k, kidOp, path); err != nil {
			return err
		}
	}
	if is.Keys == nil && len(have.Kids) == 0 {
		removeKid(parent, have) // an empty container says nothing (RFC 7950 section 7.5.1)
	}
	return nil
}

func (s *Schema) setLeaf(have, n *xmltree.Node, op, path string) error {
	v := n.Trimmed()
	_, local, has := strings.Cut(v, ":")
	if has && s.Identity {
		v = local // kept without the prefix of the request
	}
	if op == "none" {
		return nil
	}
	if len(n.Kids) > 0 || !s.Check(v) {
		return &Fault{"invalid-value", path, "not a value of this leaf"}
	}
	have.Text = v
	return nil
}
