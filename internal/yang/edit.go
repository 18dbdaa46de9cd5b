package yang

import (
	"strconv"
	"strings"

	"ctl.internal/sdk/fault"
)

// NewData returns an empty instance of n: an object, or with array the array of
// a list or leaf-list.
func NewData(n *Node, array bool) *Data {
	d := &Data{Node: n, kind: jObject, name: n.Name}
	if array {
		d.kind = jArray
	}
	return d
}

// Put makes c a member of d, in the place of the member with the same Node if
// there is one.
func (d *Data) Put(c *Data) {
	if have := d.Get(c.Node); have != nil {
		d.Insert(c, have)
		have.Remove()
		return
	}
	d.dropOtherCases(c.Node)
	d.addChild(c)
}

// Add appends an entry to an array.
func (d *Data) Add(e *Data) { d.addChild(e) }

// Insert puts an entry before another one of the array; nil appends it.
func (d *Data) Insert(e, before *Data) {
	if before == nil {
		d.addChild(e)
		return
	}
	e.parent, e.next = d, before
	if prev := d.previousSibling(before); prev == nil {
		d.first = e
	} else {
		prev.next = e
	}
}

// previousSibling is what is before c, nil if that is the first.
func (d *Data) previousSibling(c *Data) (prev *Data) {
	for o := d.first; o != c; o = o.next {
		prev = o
	}
	return prev
}

// Remove takes c out of its parent.
func (c *Data) Remove() {
	d := c.parent
	if d == nil {
		return
	}
	prev := d.previousSibling(c)
	if prev == nil {
		d.first = c.next
	} else {
		prev.next = c.next
	}
	if d.last == c {
		d.last = prev
	}
	c.parent, c.next = nil, nil
}

// Under makes c know that it stands below parent, for its Path, without making
// it a member.
func (c *Data) Under(parent *Data) { c.parent = parent }

// KeyValues returns the canonical texts of a list entry's keys, in key order, or the value of an
// entry of a leaf-list: what Entry finds it by.
func (d *Data) KeyValues() []string {
	if d.Node.Kind == LeafList {
		return []string{d.Text()}
	}
	values := make([]string, len(d.Node.Keys))
	for i, k := range d.Node.Keys {
		if v := d.Get(k); v != nil {
			values[i] = v.Text()
		}
	}
	return values
}

// Entry returns the entry of a list's array with these key texts, or of a
// leaf-list's array with this value; nil if it does not exist.
func (d *Data) Entry(keys []string) *Data {
	for e := d.first; e != nil; e = e.next {
		if d.Node.Kind == LeafList {
			if len(keys) == 1 && e.Text() == keys[0] {
				return e
			}
			continue
		}
		if e.hasKeys(keys) {
			return e
		}
	}
	return nil
}

func (d *Data) hasKeys(keys []string) bool {
	if len(keys) == 0 || len(keys) != len(d.Node.Keys) {
		return false
	}
	for i, k := range d.Node.Keys {
		if v := d.Get(k); v == nil || v.Text() != keys[i] {
			return false
		}
	}
	return true
}

// Merge takes what from holds over into d (a plain patch, RFC 8040 section
// 4.6.1): leaves replace leaves, list entries merge by key, leaf-list values are
// added, lists without keys and anydata are replaced. from must not be used
// afterwards.
func (d *Data) Merge(from *Data) {
	(&merging{}).mergeData(d, from)
}

// merging is one merge, with how many entries of lists it has looked at.
type merging struct{ looked int }

func (m *merging) mergeData(d, from *Data) {
	if d.Node != nil && d.Node.Kind == AnyData ||
		d.kind != from.kind ||
		d.kind != jObject && d.kind != jArray {
		d.kind, d.text, d.typ, d.first, d.last = from.kind, from.text, from.typ, from.first, from.last
		for c := d.first; c != nil; c = c.next {
			c.parent = d
		}
		return
	}
	if d.kind == jArray {
		m.mergeArray(d, from)
		return
	}
	for c := range from.All() {
		have := d.Get(c.Node)
		switch {
		case have != nil:
			m.mergeData(have, c)
		case !c.empty():
			d.dropOtherCases(c.Node)
			d.addChild(c)
		}
	}
}

// dropOtherCases removes the members that n, a new one, excludes by a choice.
func (d *Data) dropOtherCases(n *Node) {
	for cs := n.Parent; cs != nil && cs.Kind == Case; cs = cs.Parent.Parent {
		for c := range d.All() {
			for o := c.Node.Parent; o != nil && o.Kind == Case; o = o.Parent.Parent {
				if o.Parent == cs.Parent && o != cs {
					c.Remove()
					break
				}
			}
		}
	}
}

func (m *merging) mergeArray(d, from *Data) {
	if d.Node.Kind == List && len(d.Node.Keys) == 0 {
		d.first, d.last = nil, nil
	}
	there := map[string]*Data{}
	for e := range d.All() {
		m.looked++
		if id := e.entryIdentity(); id != "" {
			there[id] = e
		}
	}
	for e := range from.All() {
		m.looked++
		id := e.entryIdentity()
		have := there[id]
		switch {
		case have == nil:
			d.addChild(e)
			if id != "" {
				there[id] = e
			}
		case d.Node.Kind == List:
			m.mergeData(have, e)
		}
	}
}

// entryIdentity distinguishes an entry from others of its array: the values of its keys, each
// with its length, or the value of a leaf-list; "" for an entry of a list without keys.
func (d *Data) entryIdentity() string {
	if d.Node.Kind == LeafList {
		return "=" + d.Text()
	}
	var b strings.Builder
	for _, k := range d.KeyValues() {
		b.WriteString(strconv.Itoa(len(k)))
		b.WriteByte(':')
		b.WriteString(k)
	}
	return b.String()
}

// Check validates a tree that was put together by hand, as Decode does, and
// returns it in canonical form. d stands where it is: its parent is kept.
func (d *Data) Check(o Options) (*Data, error) {
	o.At = d.parent
	return decodeDocument(d.Append(nil, Canonical), d.Node, o, true, func(v *validator, c *Data) {
		v.checkInstance(c, d.Node)
	})
}

// CheckEntries checks what concerns the entries of a list's array together:
// their number, keys and unique statements. The entries are not looked into.
func (d *Data) CheckEntries() error {
	v := validator{a: &arena{}}
	v.checkEntries(d, d.Node)
	return v.err()
}

// Canonical returns the canonical text of a leaf's value written as text, as a
// URL or a command line has it. The error is of Kind Invalid.
func (n *Node) Canonical(text string) (string, error) {
	if !n.IsLeaf() {
		return "", fault.New(fault.Invalid, "%s %q has no value", n.Kind, n.Name)
	}
	d, err := n.NewLeaf(text)
	if err != nil {
		return "", err
	}
	return d.Text(), nil
}

// NewLeaf returns a leaf, or an entry of a leaf-list, with a value written as text.
func (n *Node) NewLeaf(text string) (*Data, error) {
	d := &Data{Node: n, kind: jString, text: text, name: n.Name}
	if n.Type.Final().Base == Empty && text == "" {
		d.kind = jNull
	}
	if why := n.Type.canonicalizeValue(d, n, anyForm); why != "" {
		return nil, fault.New(fault.Invalid, "%s: %s", n.Name, why)
	}
	return d, nil
}

// Clear takes all members or entries out of d.
func (d *Data) Clear() { d.first, d.last = nil, nil }

// Clone copies d with all below it; the copy stands nowhere.
func (d *Data) Clone() *Data {
	c := *d
	c.parent, c.next, c.first, c.last = nil, nil, nil, nil
	for o := d.first; o != nil; o = o.next {
		c.addChild(o.Clone())
	}
	return &c
}
