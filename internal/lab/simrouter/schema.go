package simrouter

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/internal/netconf/xmltree"
)

// Schema is what may stand in a configuration: a container, a list with keys, or a
// leaf with a check.
type Schema struct {
	Space, Name string
	Keys        []string          // a list: names of its key leaves, in their order
	Check       func(string) bool // a leaf: may it have this value?
	Identity    bool              // a leaf whose value may have a prefix
	Kids        []*Schema
}

func newContainer(space, name string, kids ...*Schema) *Schema {
	return &Schema{Space: space, Name: name, Kids: kids}
}

func newList(space, name string, keys string, kids ...*Schema) *Schema {
	return &Schema{
		Space: space,
		Name:  name,
		Keys:  strings.Fields(keys),
		Kids:  kids,
	}
}

func newLeaf(space, name string, check func(string) bool) *Schema {
	return &Schema{Space: space, Name: name, Check: check}
}

// newIdentityLeaf is a leaf that takes names with or without a prefix.
func newIdentityLeaf(space, name string, names ...string) *Schema {
	return &Schema{
		Space:    space,
		Name:     name,
		Identity: true,
		Check:    oneOf(names...),
	}
}

// findKidSchema finds the schema of a child.
func (s *Schema) findKidSchema(n *xmltree.Node) *Schema {
	for _, k := range s.Kids {
		if k.Name == n.Name && k.Space == n.Space {
			return k
		}
	}
	return nil
}

// knowsNamespace reports whether a namespace occurs anywhere below s.
func (s *Schema) knowsNamespace(space string) bool {
	return s.Space == space ||
		slices.ContainsFunc(s.Kids, func(k *Schema) bool {
			return k.knowsNamespace(space)
		})
}

// findInstance returns the node of parent that n speaks of: the same name and, in a list, the
// same keys.
func (s *Schema) findInstance(parent, n *xmltree.Node) *xmltree.Node {
	values := make([]string, len(s.Keys))
	for i, key := range s.Keys {
		values[i] = n.Value(key)
	}
	for _, k := range parent.Kids {
		if k.Is(n.Space, n.Name) && s.hasKeys(k, values) {
			return k
		}
	}
	return nil
}

// hasKeys compares the last key first, which differs more often. What is kept has no
// blanks around it.
func (s *Schema) hasKeys(n *xmltree.Node, values []string) bool {
	for i := len(values) - 1; i >= 0; i-- {
		k := n.Kid(n.Space, s.Keys[i])
		if k == nil || k.Text != values[i] {
			return false
		}
	}
	return true
}

func newNumberCheck(low, high uint64) func(string) bool {
	return func(v string) bool {
		n, err := strconv.ParseUint(v, 10, 32)
		return err == nil && n >= low && n <= high
	}
}

func oneOf(words ...string) func(string) bool {
	return func(v string) bool { return slices.Contains(words, v) }
}

func isAddress(v string) bool {
	_, err := netip.ParseAddr(v)
	return err == nil
}

func newPrefixCheck(bits int) func(string) bool {
	return func(v string) bool {
		p, err := netip.ParsePrefix(v)
		return err == nil && (bits == 0 || p.Addr().BitLen() == bits)
	}
}
