package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"strings"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// Tree is instances of a YANG list, or one container, of a configuration tree: each with
// all below it, which the controller keeps as several documents.
type Tree[T any] struct {
	followed
	pattern []string // segments; keys are "*"
	bare    bool
}

// instances is the part of a snapshot: the documents, and the instances made of them, by
// path.
type instances[T any] struct {
	docs  *iradix.Tree[host.Entry]
	items *rows
	bad   int // how many items cannot be decoded
}

// NewTree returns the instances that a path with * for keys leads to, such as
// "/bier-channel:bier-network-channel/bier-channel=*/channel=*". T takes the JSON of one.
func NewTree[T any](pattern string) *Tree[T] {
	segments := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	fixed := "" // the document above the instances is followed, too: see All
	for i, s := range segments {
		name, _, keyed := strings.Cut(s, "=")
		if keyed && i > 0 {
			break
		}
		fixed += "/" + name
		if keyed {
			fixed += "="
			break
		}
	}
	return &Tree[T]{
		followed: followed{at: host.Prefix{
			Space:  host.Tree,
			Prefix: fixed,
		}},
		pattern: segments,
	}
}

// Bare leaves the lists in the instances out: an instance is its own leaves, and reading it
// sets no condition on what is below. Call it before Open.
func (t *Tree[T]) Bare() *Tree[T] {
	t.bare = true
	return t
}

// Path returns the path of the instance with these keys, in the order of the pattern.
// With fewer keys than the pattern has it is a prefix of paths, ending in "/".
func (t *Tree[T]) Path(keys ...string) string {
	var b strings.Builder
	for _, s := range t.pattern {
		name, stars, keyed := strings.Cut(s, "=")
		if keyed && len(keys) == 0 {
			return b.String() + "/"
		}
		b.WriteString("/" + name)
		if keyed {
			n := strings.Count(stars, "*")
			for i := range n {
				b.WriteString(map[bool]string{
					true:  "=",
					false: ",",
				}[i == 0])
				escapeKey(&b, keys[0])
				keys = keys[1:]
			}
		}
	}
	return b.String()
}

// Keys returns the keys in a path of the tree.
func (t *Tree[T]) Keys(path string) []string {
	var out []string
	for s := range strings.SplitSeq(path, "/") {
		if _, keys, ok := strings.Cut(s, "="); ok {
			for k := range strings.SplitSeq(keys, ",") {
				if plain, err := url.PathUnescape(k); err == nil {
					k = plain
				}
				out = append(out, k)
			}
		}
	}
	return out
}

// Get returns the instance with these keys; false if it does not exist or is not readable.
func (t *Tree[T]) Get(r Reader, keys ...string) (T, bool) {
	part := t.instancesOf(r)
	path := t.Path(keys...)
	doc, _ := part.docs.Get([]byte(path))
	r.recordRead(t.at, path, doc.Revision)
	if !t.bare {
		r.readAll(t.at, path+"/")
	}
	x, ok := rowAt[T](part.items, path)
	if ok && x.err == nil {
		return x.value, true
	}
	var none T
	return none, false
}

// Revision returns the newest revision that wrote a part of the instance, 0 if there is
// none.
func (t *Tree[T]) Revision(r Reader, keys ...string) uint64 {
	if x, ok := rowAt[T](t.instancesOf(r).items, t.Path(keys...)); ok {
		return x.revision
	}
	return 0
}

// Version identifies the state of all instances: two snapshots with equal versions have
// the same ones. It is comparable with ==, sets no condition, and holds the instances in
// memory as long as it is kept.
func (t *Tree[T]) Version(r Reader) any {
	return t.instancesOf(r).items.Root()
}

// All yields the readable instances whose first keys are these, in the order of paths.
// In a Tx the commit depends on the whole list being unchanged.
func (t *Tree[T]) All(r Reader, keys ...string) iter.Seq2[string, T] {
	part := t.instancesOf(r)
	prefix := t.Path(keys...)
	parent := strings.TrimSuffix(prefix, "/")
	if parent != "" && parent != prefix {
		doc, _ := part.docs.Get([]byte(parent)) // removing an entry writes its parent
		r.recordRead(t.at, parent, doc.Revision)
	}
	r.readAll(t.at, prefix)
	return func(yield func(string, T) bool) {
		it := part.items.Root().Iterator()
		it.SeekPrefix([]byte(prefix))
		for path, v, ok := it.Next(); ok; path, v, ok = it.Next() {
			x := v.(*row[T])
			if x.err == nil && !yield(stringFromKey(path), x.value) {
				return
			}
		}
	}
}

// Put writes the instance with these keys, whole: what is not in v is removed.
func (t *Tree[T]) Put(tx *Tx, v any, keys ...string) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "%s cannot be encoded: %v", t.Path(keys...), err)
	}
	tx.addOp(host.Op{
		Space: t.at.Space,
		Key:   t.Path(keys...),
		Value: value,
	})
	return nil
}

// Delete removes the instance with these keys, with all below it.
func (t *Tree[T]) Delete(tx *Tx, keys ...string) {
	tx.addOp(host.Op{
		Space:  t.at.Space,
		Key:    t.Path(keys...),
		Delete: true,
	})
}

func (t *Tree[T]) instancesOf(r Reader) instances[T] {
	return r.partAt(t.index).(instances[T])
}

func (t *Tree[T]) emptyPart() any {
	return instances[T]{
		docs:  iradix.New[host.Entry](),
		items: iradix.New[any](),
	}
}

// instanceRoot returns the path of the instance that a document belongs to, "" for documents above
// the instances; false for those beside them.
func (t *Tree[T]) instanceRoot(key string) (string, bool) {
	end := 0
	for _, want := range t.pattern {
		if end == len(key) {
			return "", true
		}
		if key[end] != '/' {
			return "", false
		}
		next := strings.IndexByte(key[end+1:], '/')
		segment := key[end+1:]
		if next >= 0 {
			segment = segment[:next]
		}
		name, _, keyed := strings.Cut(want, "=")
		have, _, haveKeys := strings.Cut(segment, "=")
		if have != name || keyed != haveKeys {
			return "", false
		}
		end += 1 + len(segment)
	}
	return key[:end], !t.bare || end == len(key)
}

func (t *Tree[T]) applyEvents(part any, events []host.Event) (any, []string) {
	was := part.(instances[T])
	docs := was.docs.Txn()
	touched := map[string]bool{}
	for _, e := range events {
		root, mine := t.instanceRoot(e.Key)
		switch {
		case !mine:
			continue
		case e.Deleted:
			docs.Delete([]byte(e.Key))
		default:
			docs.Insert([]byte(e.Key), e.Entry)
		}
		if root != "" {
			touched[root] = true
		}
	}
	now := instances[T]{docs: docs.Commit(), bad: was.bad}
	items := was.items.Txn()
	paths := make([]string, 0, len(touched))
	for root := range touched {
		paths = append(paths, root)
		x, ok := items.Get([]byte(root))
		if ok && x.(*row[T]).err != nil {
			now.bad--
		}
		if x, ok := t.joinInstance(now.docs, root); ok {
			if x.err != nil {
				now.bad++
			}
			items.Insert([]byte(root), x)
		} else {
			items.Delete([]byte(root))
		}
	}
	now.items = items.Commit()
	return now, paths
}

// joinInstance makes the instance at a path of its documents; false if it does not exist.
func (t *Tree[T]) joinInstance(docs *iradix.Tree[host.Entry], root string) (x *row[T], ok bool) {
	first, ok := docs.Get([]byte(root))
	if !ok {
		return x, false
	}
	x = &row[T]{revision: first.Revision}
	objects := map[string]map[string]any{}
	text, several := first.Value, false
	it := docs.Root().Iterator()
	it.SeekPrefix([]byte(root + "/"))
	for key, e, more := it.Next(); more; key, e, more = it.Next() {
		if !several {
			several = true
			if x.err = attachDocument(objects, root, root, first.Value); x.err != nil {
				return x, true
			}
		}
		x.revision = max(x.revision, e.Revision)
		if x.err = attachDocument(objects, root, string(key), e.Value); x.err != nil {
			return x, true
		}
	}
	if several {
		text, x.err = json.Marshal(objects[root])
	}
	if x.err == nil {
		x.err = json.Unmarshal(text, &x.value)
	}
	if x.err != nil {
		x.err = decodeError(root, x.err)
	}
	return x, true
}

// attachDocument puts the document of an entry into the object of the entry that holds it.
func attachDocument(objects map[string]map[string]any, root, key string, text []byte) error {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		return decodeError(key, err)
	}
	objects[key] = object
	if key == root {
		return nil
	}
	segments := strings.Split(key[len(root)+1:], "/")
	holder, from := objects[root], 0
	for i := len(segments) - 2; i >= 0; i-- {
		if above := root + "/" + strings.Join(segments[:i+1], "/"); objects[above] != nil {
			holder, from = objects[above], i+1
			break
		}
	}
	for _, s := range segments[from : len(segments)-1] {
		inner, ok := holder[s].(map[string]any)
		if !ok {
			if holder[s] != nil {
				return fmt.Errorf("%s: %s is not a container", key, s)
			}
			inner = map[string]any{}
			holder[s] = inner
		}
		holder = inner
	}
	list, _, _ := strings.Cut(segments[len(segments)-1], "=")
	entries, _ := holder[list].([]any)
	holder[list] = append(entries, object)
	return nil
}

func (t *Tree[T]) broken(part any, out map[string]error) {
	if part.(instances[T]).bad == 0 {
		return
	}
	it := part.(instances[T]).items.Root().Iterator()
	for path, v, ok := it.Next(); ok; path, v, ok = it.Next() {
		if x := v.(*row[T]); x.err != nil {
			out[string(path)] = x.err
		}
	}
}

// escapeKey writes a key as the controller's paths have it: only the unreserved
// characters of RFC 3986 and a few that part nothing stay.
func escapeKey(b *strings.Builder, s string) {
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' ||
			c >= 'A' && c <= 'Z' ||
			c >= '0' && c <= '9' ||
			strings.IndexByte("-._~:@$*", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(b, "%%%02X", c)
		}
	}
}
