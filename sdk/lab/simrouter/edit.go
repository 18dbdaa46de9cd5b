package simrouter

import (
	"slices"
	"strings"

	"ctl.internal/sdk/netconf"
	"ctl.internal/sdk/netconf/xmltree"
)

// Fault is the rpc-error that an edit ends with.
type Fault struct{ Tag, Path, Message string }

func (f *Fault) Error() string { return f.Tag + " " + f.Path + " " + f.Message }

// Edit changes a configuration as edit-config does (RFC 6241 section 7.2): cfg and
// config hold top-level elements. On error cfg is changed up to the fault.
func (s *Schema) Edit(cfg, config *xmltree.Node, defaultOperation string) error {
	if defaultOperation == "replace" {
		cfg.Kids = nil
		defaultOperation = "merge"
	}
	for _, n := range config.Kids {
		if err := s.edit(cfg, n, defaultOperation, ""); err != nil {
			return err
		}
	}
	s.tidy(cfg)
	return nil
}

func (s *Schema) edit(parent, n *xmltree.Node, inherited, above string) error {
	path := above + "/" + n.Name
	is := s.kid(n)
	if is == nil {
		if !s.knows(n.Space) {
			return &Fault{"unknown-namespace", path, "no module has the namespace " + n.Space}
		}
		return &Fault{"unknown-element", path, "no such node"}
	}
	for _, key := range is.Keys {
		if len(n.All(n.Space, key)) != 1 {
			return &Fault{"missing-element", path + "/" + key, "a key is missing"}
		}
	}
	op := n.Attr(netconf.NS, "operation")
	if op == "" {
		op = inherited
	}
	have := is.find(parent, n)
	switch op {
	case "delete", "remove":
		if have == nil && op == "delete" {
			return &Fault{"data-missing", path, "there is nothing to delete"}
		}
		parent.Kids = slices.DeleteFunc(parent.Kids, func(k *xmltree.Node) bool { return k == have })
		return nil
	case "create":
		if have != nil {
			return &Fault{"data-exists", path, "it is there already"}
		}
		op = "merge"
	case "replace":
		parent.Kids = slices.DeleteFunc(parent.Kids, func(k *xmltree.Node) bool { return k == have })
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
	}
	if is.Check != nil {
		return is.set(have, n, op, path)
	}
	for _, k := range n.Kids {
		kidOp := op
		if slices.Contains(is.Keys, k.Name) {
			kidOp = "merge"
		}
		if err := is.edit(have, k, kidOp, path); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) set(have, n *xmltree.Node, op, path string) error {
	v := n.Trimmed()
	if _, local, has := strings.Cut(v, ":"); has && s.Identity {
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

// tidy drops containers that became empty: they say nothing (RFC 7950 section 7.5.1).
func (s *Schema) tidy(n *xmltree.Node) {
	n.Kids = slices.DeleteFunc(n.Kids, func(k *xmltree.Node) bool {
		is := s.kid(k)
		if is == nil || is.Check != nil {
			return false
		}
		is.tidy(k)
		return is.Keys == nil && len(k.Kids) == 0
	})
}
