package memory

import (
	"hash/maphash"
	"iter"

	"ctl.internal/host/internal/datastore"
)

// node is a persistent treap: a change copies the path to the root, so that a
// snapshot is a pointer and readers take no lock.
type node struct {
	key         string // engine.Join of namespace and key
	prio        uint64
	value       []byte
	rev         datastore.Revision
	left, right *node
}

// seed makes the shape of the trees unknown to whoever chooses keys.
type seed = maphash.Seed

func (n *node) get(key string) *node {
	for n != nil && n.key != key {
		if key < n.key {
			n = n.left
		} else {
			n = n.right
		}
	}
	return n
}

// split returns the trees below key and from key on.
func (n *node) split(key string) (below, from *node) {
	if n == nil {
		return nil, nil
	}
	c := *n
	if n.key < key {
		c.right, from = n.right.split(key)
		return &c, from
	}
	below, c.left = n.left.split(key)
	return below, &c
}

func merge(a, b *node) *node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.prio >= b.prio:
		c := *a
		c.right = merge(a.right, b)
		return &c
	default:
		c := *b
		c.left = merge(a, b.left)
		return &c
	}
}

func (n *node) put(s seed, key string, value []byte, rev datastore.Revision) *node {
	if n.get(key) != nil {
		return n.replace(key, value, rev)
	}
	below, from := n.split(key)
	leaf := &node{key: key, prio: maphash.String(s, key), value: value, rev: rev}
	return merge(merge(below, leaf), from)
}

func (n *node) replace(key string, value []byte, rev datastore.Revision) *node {
	c := *n
	switch {
	case key == n.key:
		c.value, c.rev = value, rev
	case key < n.key:
		c.left = n.left.replace(key, value, rev)
	default:
		c.right = n.right.replace(key, value, rev)
	}
	return &c
}

func (n *node) delete(key string) *node {
	if n == nil {
		return nil
	}
	c := *n
	switch {
	case key == n.key:
		return merge(n.left, n.right)
	case key < n.key:
		c.left = n.left.delete(key)
	default:
		c.right = n.right.delete(key)
	}
	return &c
}

// from yields the nodes with keys at or above a key, in order.
func (n *node) from(key string) iter.Seq[*node] {
	return func(yield func(*node) bool) { n.walk(key, yield) }
}

func (n *node) walk(key string, yield func(*node) bool) bool {
	if n == nil {
		return true
	}
	if n.key < key {
		return n.right.walk(key, yield)
	}
	return n.left.walk(key, yield) && yield(n) && n.right.walk(key, yield)
}
