package dialect

import (
	"fmt"
	"strconv"
	"strings"

	"ctl.internal/internal/netconf/xmltree"
)

// number is a leaf, left out for 0: in the modules that is the same as none.
func number(space, name string, v uint32) *xmltree.Node {
	if v == 0 {
		return nil
	}
	return must(space, name, v)
}

// must is a leaf that is written for 0 too.
func must(space, name string, v uint32) *xmltree.Node {
	return xmltree.Leaf(space, name, strconv.FormatUint(uint64(v), 10))
}

// word is a leaf, left out when empty.
func word(space, name, v string) *xmltree.Node {
	if v == "" {
		return nil
	}
	return xmltree.Leaf(space, name, v)
}

// bits is the enumeration of bit string lengths: "256-bit".
func bits(space, name string, v uint32) *xmltree.Node {
	if v == 0 {
		return nil
	}
	return xmltree.Leaf(space, name, strconv.FormatUint(uint64(v), 10)+"-bit")
}

// reader reads leaves and keeps the first fault.
type reader struct{ err error }

func (r *reader) number(n *xmltree.Node, name string, top uint32) uint32 {
	return r.parse(n, name, strings.TrimSpace(n.Value(name)), top)
}

func (r *reader) bits(n *xmltree.Node, name string) uint32 {
	return r.parse(n, name, strings.TrimSuffix(n.Value(name), "-bit"), 65535)
}

func (r *reader) parse(n *xmltree.Node, name, v string, top uint32) uint32 {
	if v == "" {
		return 0
	}
	x, err := strconv.ParseUint(v, 10, 32)
	if (err != nil || uint32(x) > top) && r.err == nil {
		r.err = fmt.Errorf("the router holds %.40q as %s of %s", v, name, n.Name)
	}
	return uint32(x)
}
