package dialect

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"ctl.internal/internal/netconf/xmltree"
)

// schema is what the driver knows of a module. Nodes that are not in it are the
// router's own and are left alone.
type schema struct {
	space, name string
	keys        []string // of a list
	shared      bool     // a container that others write into too; it is never deleted
	leaf        bool
	zero        string              // a leaf without a value means this
	same        func(string) string // brings a value to the form that is compared
	kids        []*schema
}

func newContainer(space, name string, kids ...*schema) *schema {
	return &schema{space: space, name: name, kids: kids}
}

func newSharedContainer(space, name string, kids ...*schema) *schema {
	return &schema{
		space:  space,
		name:   name,
		shared: true,
		kids:   kids,
	}
}

func newList(space, name, keys string, kids ...*schema) *schema {
	return &schema{
		space: space,
		name:  name,
		keys:  strings.Fields(keys),
		kids:  kids,
	}
}

func newLeaf(space, name, zero string, same func(string) string) *schema {
	return &schema{
		space: space,
		name:  name,
		leaf:  true,
		zero:  zero,
		same:  same,
	}
}

// comparableValue is the value of a leaf for comparisons; n may be nil.
func (s *schema) comparableValue(n *xmltree.Node) string {
	v := n.Trimmed()
	if v != "" && s.same != nil {
		v = s.same(v)
	}
	if v == s.zero {
		return ""
	}
	return v
}

// entryKey is the key of a list entry for comparisons.
func (s *schema) entryKey(n *xmltree.Node) string {
	var b strings.Builder
	for _, name := range s.keys {
		v := n.Value(name)
		for _, k := range s.kids {
			if k.name == name && k.same != nil {
				v = k.same(v)
			}
		}
		b.WriteString("[" + name + "=" + v + "]")
	}
	return b.String()
}

// stripIdentityPrefix drops the prefix of an identity (RFC 7950 section 9.10.3).
func stripIdentityPrefix(v string) string {
	return v[strings.IndexByte(v, ':')+1:]
}

// canonicalAddress and prefix bring addresses to their canonical form (RFC 6991): servers
// answer with it, whatever was written.
func canonicalAddress(v string) string {
	if a, err := netip.ParseAddr(v); err == nil {
		return a.String()
	}
	return v
}

func canonicalPrefix(v string) string {
	if p, err := netip.ParsePrefix(v); err == nil {
		return p.Masked().String()
	}
	return v
}

// numberLeaf is a leaf, left out for 0: in the modules that is the same as none.
func numberLeaf(space, name string, v uint32) *xmltree.Node {
	if v == 0 {
		return nil
	}
	return requiredNumberLeaf(space, name, v)
}

// requiredNumberLeaf is a leaf that is written for 0 too.
func requiredNumberLeaf(space, name string, v uint32) *xmltree.Node {
	return xmltree.Leaf(space, name, strconv.FormatUint(uint64(v), 10))
}

// stringLeaf is a leaf, left out when empty.
func stringLeaf(space, name, v string) *xmltree.Node {
	if v == "" {
		return nil
	}
	return xmltree.Leaf(space, name, v)
}

// bitStringLengthLeaf is the enumeration of bit string lengths: "256-bit".
func bitStringLengthLeaf(space, name string, v uint32) *xmltree.Node {
	if v == 0 {
		return nil
	}
	return xmltree.Leaf(space, name, strconv.FormatUint(uint64(v), 10)+"-bit")
}

// reader reads leaves and keeps the first fault.
type reader struct{ err error }

func (r *reader) readNumber(n *xmltree.Node, name string, top uint32) uint32 {
	return r.parseNumber(n, name, n.Value(name), top)
}

func (r *reader) readBitStringLength(n *xmltree.Node, name string) uint32 {
	return r.parseNumber(n, name, strings.TrimSuffix(n.Value(name), "-bit"), 65535)
}

func (r *reader) parseNumber(n *xmltree.Node, name, v string, top uint32) uint32 {
	if v == "" {
		return 0
	}
	x, err := strconv.ParseUint(v, 10, 32)
	if (err != nil || uint32(x) > top) && r.err == nil {
		r.err = fmt.Errorf("the router holds %.40q as %s of %s", v, name, n.Name)
	}
	return uint32(x)
}
