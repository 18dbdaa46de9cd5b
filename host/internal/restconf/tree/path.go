package tree

import (
	"net/url"
	"strings"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// Step is one data node on the way from the top of a tree.
type Step struct {
	Node *yang.Node
	// Keys are the canonical key texts of a list entry, or the value of a leaf-list
	// entry; nil for any other node and for a list as a whole.
	Keys []string
}

// isDocument reports whether the step is kept as a document of its own.
func (s Step) isDocument() bool {
	return s.Node.Kind == yang.List && len(s.Keys) > 0
}

// Path leads to an instance; the empty path is the datastore itself.
type Path []Step

// Node returns the schema node that the path leads to, nil for the datastore.
func (p Path) Node() *yang.Node {
	if len(p) == 0 {
		return nil
	}
	return p[len(p)-1].Node
}

// Last returns the last step.
func (p Path) Last() Step { return p[len(p)-1] }

// maxKey bounds the keys of documents, in bytes: the path of an entry with the values of
// its keys, percent-encoded. The store takes a little more, for prefixes and marks.
const maxKey = 15 << 10

// checkKey refuses an entry whose document key has more bytes than the store takes.
func checkKey(path func() string, size int) error {
	if size <= maxKey {
		return nil
	}
	where := path()
	if len(where) > 100 {
		where = where[:100] + "…"
	}
	return fault.At(
		fault.Invalid,
		where,
		"the keys of the entry are too long: its path takes %d bytes, percent-encoded, and at most %d can be stored",
		size,
		maxKey,
	)
}

// checkFits refuses a path to an entry that cannot be stored.
func (p Path) checkFits() error {
	for i := len(p); i > 0; i-- {
		if p[i-1].isDocument() {
			return checkKey(p[:i].String, len(p[:i].Key()))
		}
	}
	return nil
}

// Entry reports whether the path leads to an entry of a list or leaf-list, as
// opposed to the list as a whole.
func (p Path) Entry() bool {
	return len(p) > 0 && p.Last().Keys != nil
}

// Owner returns the path of the document that holds the instance: the deepest
// list entry, or the top-level node.
func (p Path) Owner() Path {
	for i := len(p); i > 1; i-- {
		if p[i-1].isDocument() {
			return p[:i]
		}
	}
	if s := p[0]; s.Keys != nil && !s.isDocument() {
		return Path{{Node: s.Node}} // an entry of a top-level leaf-list
	}
	return p[:1]
}

// Key returns the document key of the path, which is an RFC 8040 path too.
func (p Path) Key() string {
	var b []byte
	module := ""
	for _, s := range p {
		b = appendName(b, module, s.Node)
		module = s.Node.Module
		for i, k := range s.Keys {
			b = appendKey(append(b, "=,"[min(i, 1)]), k)
		}
	}
	return string(b)
}

// EscapeKey writes a key for a path that ParseText and Tree read.
func EscapeKey(s string) string {
	return string(appendKey(nil, s))
}

// appendKey writes a key percent-encoded, so that no two keys look the same and
// none holds what parts a path: only the unreserved characters of RFC 3986 stay.
func appendKey(b []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' ||
			c >= 'A' && c <= 'Z' ||
			c >= '0' && c <= '9' ||
			strings.IndexByte("-._~:@$*", c) >= 0 {
			b = append(b, c)
			continue
		}
		b = append(b, '%', hex[c>>4], hex[c&15])
	}
	return b
}

// String returns the instance-identifier of the path for messages.
func (p Path) String() string {
	if len(p) == 0 {
		return "/"
	}
	return p.skeleton().Path()
}

// skeleton builds the instances on the way, each with its keys only, and returns
// the last one. It lends its path to the faults of what is decoded below it.
func (p Path) skeleton() *yang.Data {
	var at *yang.Data
	for _, s := range p {
		whole := s.Node.IsList()
		d := yang.NewData(s.Node, whole)
		d.Under(at)
		at = d
		if e := entryOf(s); e != nil {
			e.Under(at)
			at = e
		}
	}
	return at
}

// parentSkeleton is the skeleton of what the last step stands in: an array for entries.
func (p Path) parentSkeleton() *yang.Data {
	if len(p) == 0 {
		return nil
	}
	return p.skeleton().Parent()
}

// entryOf makes a list entry with its keys only, or an entry of a leaf-list; nil for any other step. The keys were
// read by Parse, so they fit their types.
func entryOf(s Step) *yang.Data {
	switch {
	case s.Keys == nil:
		return nil
	case s.Node.Kind == yang.LeafList:
		e, _ := s.Node.NewLeaf(s.Keys[0])
		return e
	}
	e := yang.NewData(s.Node, false)
	for i, k := range s.Node.Keys {
		if leaf, err := k.NewLeaf(s.Keys[i]); err == nil {
			e.Add(leaf)
		}
	}
	return e
}

// Parse reads the segments of a data resource: RFC 8040 list=key1,key2 or, as the
// older controllers have it, list/key1/key2. module translates the module names
// of the request; nil leaves them. The error is Unknown or Invalid.
func Parse(set *yang.Set, segments []reqpath.Segment, module func(string) string) (Path, error) {
	var p Path
	at := set.Root
	size := 0
	for len(segments) > 0 {
		size += 3 * len(segments[0].Raw) // percent-encoding takes no more
		name, keys, keyed := strings.Cut(segments[0].Raw, "=")
		name, err := url.PathUnescape(name)
		if err != nil {
			return nil, fault.New(fault.Invalid, "%.100q is not encoded properly", segments[0].Raw)
		}
		if m, n, ok := strings.Cut(name, ":"); ok && module != nil {
			name = module(m) + ":" + n
		}
		n := at.Member(name)
		if n == nil {
			return nil, fault.New(fault.Unknown, "there is no node %.100q below %s", name, p)
		}
		segments = segments[1:]
		s := Step{Node: n}
		switch {
		case keyed:
			s.Keys, err = splitKeys(keys)
		case n.Keyed() && len(segments) > 0:
			s.Keys, segments, err = takeKeys(n, segments)
		}
		if err == nil {
			err = s.checkKeys()
		}
		if err != nil {
			return nil, err
		}
		p = append(p, s)
		if len(segments) > 0 && (n.IsLeaf() || n.Kind == yang.AnyData) {
			return nil, fault.New(fault.Unknown, "%s has nothing below it", p)
		}
		if len(segments) > 0 && n.Kind == yang.List && s.Keys == nil {
			return nil, fault.New(
				fault.Invalid,
				"the list %q has no keys, so its entries have no paths",
				n.Name,
			)
		}
		at = n
	}
	if size > maxKey {
		return p, p.checkFits()
	}
	return p, nil
}

func splitKeys(raw string) ([]string, error) {
	keys := strings.Split(raw, ",")
	for i, k := range keys {
		var err error
		if keys[i], err = url.PathUnescape(k); err != nil {
			return nil, fault.New(fault.Invalid, "the key %.100q is not encoded properly", k)
		}
	}
	return keys, nil
}

// takeKeys takes as many segments as the list has keys.
func takeKeys(n *yang.Node, segments []reqpath.Segment) ([]string, []reqpath.Segment, error) {
	if len(segments) < len(n.Keys) {
		return nil, nil, fault.New(
			fault.Invalid,
			"the list %q has %d keys, the path names %d",
			n.Name,
			len(n.Keys),
			len(segments),
		)
	}
	keys := make([]string, len(n.Keys))
	for i := range keys {
		keys[i] = segments[i].Decoded
	}
	return keys, segments[len(keys):], nil
}

// checkKeys checks the keys against their types.
func (s Step) checkKeys() error {
	if s.Keys == nil {
		return nil
	}
	leaves := s.Node.Keys
	if s.Node.Kind == yang.LeafList {
		leaves = []*yang.Node{s.Node}
	}
	if len(leaves) != len(s.Keys) {
		return fault.New(
			fault.Invalid,
			"%q has %d keys, the path names %d",
			s.Node.Name,
			len(leaves),
			len(s.Keys),
		)
	}
	for i, n := range leaves {
		text, err := n.Canonical(s.Keys[i])
		if err != nil {
			return err
		}
		s.Keys[i] = text
	}
	return nil
}

// ParseText reads an RFC 8040 path such as /m:c/list=key1,key2.
func ParseText(set *yang.Set, path string) (Path, error) {
	var segments []reqpath.Segment
	for s := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if s == "" {
			continue
		}
		decoded, err := url.PathUnescape(s)
		if err != nil {
			return nil, fault.New(fault.Invalid, "%.100q is not encoded properly", s)
		}
		segments = append(segments, reqpath.Segment{
			Raw:     s,
			Decoded: decoded,
		})
	}
	return Parse(set, segments, nil)
}

// Skeleton builds the instances that lead to p, with their keys only, and
// returns the one that holds p's last step; nil at the top.
func (p Path) Skeleton() *yang.Data {
	return p[:len(p)-1].skeleton()
}

// ParseInstance reads an instance-identifier (RFC 7951 section 6.11). The error is of Kind Invalid.
func ParseInstance(set *yang.Set, text string) (Path, error) {
	steps, err := yang.ParsePath(text)
	if err != nil {
		return nil, err
	}
	var p Path
	n := set.Root
	for _, in := range steps {
		name := in.Name
		if in.Module != "" && (n == set.Root || n.Module != in.Module) {
			name = in.Module + ":" + name
		}
		m := n.Member(name)
		if m == nil || in.Module != "" && m.Module != in.Module {
			return nil, fault.New(fault.Invalid, "there is no node %.60q below %s", name, p)
		}
		s := Step{Node: m}
		if s.Keys, err = keysOf(m, in); err != nil {
			return nil, err
		}
		if err := s.checkKeys(); err != nil {
			return nil, err
		}
		p, n = append(p, s), m
	}
	return p, nil
}

// keysOf are the values of the predicates of a step, in the order of the list's keys.
func keysOf(n *yang.Node, in yang.Step) ([]string, error) {
	wrong := func() error {
		return fault.New(
			fault.Invalid,
			"the predicates of %q must be its keys: those of an entry, or none",
			n.Name,
		)
	}
	switch {
	case in.Position > 0:
		return nil, fault.New(
			fault.Invalid,
			"the position of an entry of %q names no instance that lasts",
			n.Name,
		)
	case len(in.Keys) == 0:
		return nil, nil
	case n.Kind == yang.LeafList:
		v, ok := in.Keys["."]
		if !ok || len(in.Keys) != 1 {
			return nil, wrong()
		}
		return []string{v}, nil
	case len(in.Keys) != len(n.Keys):
		return nil, wrong()
	}
	keys := make([]string, len(n.Keys))
	for i, k := range n.Keys {
		v, ok := in.Keys[k.Name]
		if !ok {
			return nil, wrong()
		}
		keys[i] = v
	}
	return keys, nil
}

// ParseAction reads the segments of an action: those of the instance that it is bound to, then its name (RFC 8040 section
// 3.6). The action is nil where the segments lead to none.
func ParseAction(
	set *yang.Set,
	segments []reqpath.Segment,
	module func(string) string,
) (Path, *yang.RPC) {
	last := len(segments) - 1
	if last < 1 {
		return nil, nil
	}
	name := segments[last].Decoded
	m, n, ok := strings.Cut(name, ":")
	if ok && module != nil {
		name = module(m) + ":" + n
	}
	p, err := Parse(set, segments[:last], module)
	if err != nil || len(p) == 0 || p.Node().IsList() && !p.Entry() {
		return nil, nil
	}
	return p, p.Node().Action(name)
}
