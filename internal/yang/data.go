package yang

import (
	"iter"
	"sync"
)

// jsonKind is the kind of a JSON value.
type jsonKind uint8

const (
	jObject jsonKind = iota + 1
	jArray
	jString // text is the content, unescaped
	jNumber // text is the literal
	jTrue
	jFalse
	jNull // after validation: the value of type empty, written [null]
)

var jsonNames = [...]string{
	jObject: "an object",
	jArray:  "an array",
	jString: "a string",
	jNumber: "a number",
	jTrue:   "true",
	jFalse:  "false",
	jNull:   "null",
}

// Data is one value of an instance tree: an object, an array or a scalar. Trees
// are not safe for concurrent use.
type Data struct {
	// Node is the schema of the value; nil inside anydata. An array and its entries
	// have the same Node.
	Node *Node

	parent, first, last, next *Data
	typ                       *Type // of a scalar, a union's member resolved
	name                      string
	text                      string
	kind                      jsonKind
	origin                    Origin
}

// Name is the name of a member as it was written or, of what was made by hand, its node's.
func (d *Data) Name() string { return d.name }

// Parent returns the value this one stands in, nil for the top.
func (d *Data) Parent() *Data { return d.parent }

// First returns the first member or entry, nil if it is empty.
func (d *Data) First() *Data { return d.first }

// Next returns the next member or entry of the same parent, nil after the last.
func (d *Data) Next() *Data { return d.next }

// All yields the members or entries in order. The one that is yielded may be removed, or put elsewhere.
func (d *Data) All() iter.Seq[*Data] {
	return func(yield func(*Data) bool) {
		for c := d.first; c != nil; {
			next := c.next
			if !yield(c) {
				return
			}
			c = next
		}
	}
}

// empty reports whether d is an array without entries: no instance of its node is there.
func (d *Data) empty() bool {
	return d.kind == jArray && d.first == nil
}

// IsArray reports whether d is the array of a list or leaf-list.
func (d *Data) IsArray() bool { return d.kind == jArray }

// Text returns the canonical value of a leaf without JSON quotes.
func (d *Data) Text() string {
	switch d.kind {
	case jTrue:
		return "true"
	case jFalse:
		return "false"
	}
	return d.text
}

// Get returns the member with a schema node, nil if it is absent.
func (d *Data) Get(n *Node) *Data {
	for c := d.first; c != nil; c = c.next {
		if c.Node == n {
			return c
		}
	}
	return nil
}

// Len returns the number of members or entries.
func (d *Data) Len() (n int) {
	for c := d.first; c != nil; c = c.next {
		n++
	}
	return n
}

// addChild appends a member or entry.
func (d *Data) addChild(c *Data) {
	c.parent, c.next = d, nil
	if d.last == nil {
		d.first = c
	} else {
		d.last.next = c
	}
	d.last = c
}

// wrapInArray makes d an array with what it was as the one entry.
func (d *Data) wrapInArray(a *arena) {
	e := a.newData()
	*e = Data{
		kind:  d.kind,
		text:  d.text,
		name:  d.name,
		first: d.first,
		last:  d.last,
	}
	for c := e.first; c != nil; c = c.next {
		c.parent = e
	}
	d.kind, d.text, d.first, d.last = jArray, "", nil, nil
	d.addChild(e)
}

// arena hands out Data in chunks, so that a document costs few allocations.
type arena struct {
	chunk []Data
}

// newArena is one for a document of so many bytes: there is about one value in ten.
func newArena(size int) *arena {
	return &arena{chunk: make([]Data, 0, min(max(size/10, 4), 1024))}
}

func (a *arena) newData() *Data {
	if len(a.chunk) == cap(a.chunk) {
		a.chunk = make([]Data, 0, min(max(16, 2*cap(a.chunk)), 1024))
	}
	a.chunk = a.chunk[:len(a.chunk)+1]
	return &a.chunk[len(a.chunk)-1]
}

// arenas keeps some for the next call.
type arenas struct{ pool sync.Pool }

func (p *arenas) getArena() *arena {
	if a, ok := p.pool.Get().(*arena); ok {
		return a
	}
	return &arena{}
}

func (p *arenas) putArena(a *arena) {
	if cap(a.chunk) <= 256 {
		a.reset()
		p.pool.Put(a)
	}
}

// reset forgets the document; only one chunk is kept.
func (a *arena) reset() {
	clear(a.chunk)
	a.chunk = a.chunk[:0]
}
