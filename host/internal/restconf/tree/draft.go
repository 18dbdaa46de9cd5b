package tree

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"slices"
	"strings"
	"time"
	"unsafe"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/yang"
)

// Draft is a view of one tree with changes on top that are not committed yet.
type Draft struct {
	sn      datastore.Snapshot
	ns      string
	set     *yang.Set
	changed map[string]*document // nil = deleted; written by change
	index   keyIndex             // of changed
	serial  int
	scratch []byte
	text    []byte
	touched map[string]touch
	lists   map[string]Path               // lists whose entries changed
	removed []Path                        // instances that are gone or replaced
	applied []Edit                        // all edits, those that they brought about included
	tag     hash.Hash                     // of all that was read
	keys    map[string]datastore.Revision // documents that a commit depends on by themselves
	ranges  map[string]bool               // prefixes of which a commit depends as a whole
	// marks of deletions in lists at the top of modules, which have no document above them
	marks map[string]datastore.Revision
}

// document is what is stored under one key.
type document struct {
	rank string // of an entry of a user-ordered list: its place
	text string // JSON: the members, keyed lists left out; the value of a top-level leaf
}

// touch is a document that an edit changed and that must be valid in the end.
type touch struct {
	path Path
	deep bool // documents below it may have changed too
	// value is the instance, with what is below it when deep; nil after a later edit of it.
	value *yang.Data
	valid bool // value was checked when it was decoded
}

// NewDraft begins a draft of the tree that is kept in a namespace.
func NewDraft(sn datastore.Snapshot, ns string, set *yang.Set) *Draft {
	return &Draft{
		sn:      sn,
		ns:      ns,
		set:     set,
		changed: map[string]*document{},
		tag:     sha256.New(),
		keys:    map[string]datastore.Revision{},
		ranges:  map[string]bool{},
		marks:   map[string]datastore.Revision{},
		touched: map[string]touch{},
		lists:   map[string]Path{},
	}
}

// encode writes a document: the rank, if any, stands on a line before the JSON.
func (d *document) encode() []byte {
	if d.rank == "" {
		return []byte(d.text)
	}
	return []byte(d.rank + "\n" + d.text)
}

// decodeDocument reads what encode wrote: a rank is made of hexadecimal digits,
// and canonical JSON has no line ends.
func decodeDocument(e datastore.Entry) document {
	s := unsafe.String(unsafe.SliceData(e.Value), len(e.Value)) // they are never changed
	if s != "" && s[0] == '{' {
		return document{text: s}
	}
	rank, text, ok := strings.Cut(s, "\n")
	if ok && rank != "" && strings.Trim(rank, rankDigits) == "" {
		return document{rank, text}
	}
	return document{text: s}
}

// getDocument returns the document of a key, nil if it does not exist.
func (d *Draft) getDocument(key string) (*document, error) {
	if doc, ok := d.changed[key]; ok {
		return doc, nil
	}
	if len(key) > maxKey { // nothing is stored under it
		return nil, nil
	}
	e, err := d.sn.Get(d.ns, key)
	if err != nil && !errors.Is(err, datastore.ErrNotFound) {
		return nil, err
	}
	d.keys[key] = e.Revision
	d.noteRead(key, e.Revision)
	if err != nil {
		return nil, nil
	}
	doc := decodeDocument(e)
	return &doc, nil
}

// row is a document with its key.
type row struct {
	key string
	doc document
}

// documentsBelow returns the documents whose keys have a prefix, in the order of keys.
func (d *Draft) documentsBelow(prefix string) (rows []row, err error) {
	err = d.eachDocument(prefix, func(key string, doc document) error {
		rows = append(rows, row{key, doc})
		return nil
	})
	return rows, err
}

// eachDocument calls f for them.
func (d *Draft) eachDocument(prefix string, f func(key string, doc document) error) error {
	if len(prefix) > maxKey {
		return nil
	}
	if !d.ranges[prefix] {
		d.ranges[prefix] = true
		_, doc, err := d.findHolder(prefix) // what is removed below the prefix writes it
		if err == nil && doc == nil {
			err = d.readMark(prefix)
		}
		if err != nil {
			return err
		}
	}
	changed := slices.DeleteFunc(d.index.keysBelow(prefix), func(key string) bool {
		return d.changed[key] == nil
	})
	for e, err := range d.sn.Range(d.ns, datastore.RangeOptions{
		Prefix: prefix,
		Shared: true,
	}) {
		if err != nil {
			return err
		}
		for len(changed) > 0 && changed[0] < e.Key {
			if err := f(changed[0], *d.changed[changed[0]]); err != nil {
				return err
			}
			changed = changed[1:]
		}
		if _, ok := d.changed[e.Key]; ok {
			continue
		}
		d.noteRead("", e.Revision) // a key that goes and comes back has another revision
		if err := f(e.Key, decodeDocument(e)); err != nil {
			return err
		}
	}
	for _, key := range changed {
		if err := f(key, *d.changed[key]); err != nil {
			return err
		}
	}
	return nil
}

// putDocument changes a document. One that stays as it is costs nothing.
func (d *Draft) putDocument(key, rank, text string) error {
	old, err := d.getDocument(key)
	if err != nil {
		return err
	}
	if old != nil && old.rank == rank && old.text == text {
		return nil
	}
	d.changeDocument(key, &document{rank: rank, text: text})
	return nil
}

// changeDocument notes what becomes of a document; nil deletes it.
func (d *Draft) changeDocument(key string, doc *document) {
	if _, known := d.changed[key]; !known {
		d.index.addKey(key)
	}
	d.changed[key] = doc
}

func (d *Draft) dropDocument(key string) {
	d.changeDocument(key, nil)
}

// forgetValues drops the values of the instances that p leads through: they are going to change.
func (d *Draft) forgetValues(p Path) {
	for i := range p {
		if len(d.touched) > 0 {
			d.forgetOne(p[:i+1].Key())
		}
	}
}

func (d *Draft) forgetOne(key string) {
	if t, ok := d.touched[key]; ok {
		t.value, t.valid = nil, false
		d.touched[key] = t
	}
}

// Changed reports whether a commit would write anything.
func (d *Draft) Changed() bool { return len(d.changed) > 0 }

// metaNamespace is where the time of the last change of each tree is kept, and the marks
// of deletions.
const metaNamespace = "restconf-meta"

// Txn returns the draft's changes as one transaction, which holds only if nothing
// that the draft looked at was changed by others meanwhile.
//
// A condition on a prefix does not notice deletions, so whoever deletes a document writes
// the document above it once more, or a mark if it does not exist.
func (d *Draft) Txn(now time.Time, volatile bool) (datastore.Txn, error) {
	t := datastore.Txn{Volatile: volatile}
	marked := map[string]bool{}
	for _, k := range sortedKeys(d.changed) {
		if d.changed[k] != nil {
			continue
		}
		above, doc, err := d.findHolder(k)
		if err != nil {
			return t, err
		}
		if _, ok := d.changed[above]; doc != nil && !ok {
			d.changeDocument(above, &document{
				rank: doc.rank,
				text: doc.text,
			})
		}
		if mark, ok := d.markKey(k); ok && doc == nil {
			marked[mark] = true
		}
	}
	for _, k := range sortedKeys(d.keys) {
		t.Compares = append(
			t.Compares,
			datastore.Compare{
				Namespace: d.ns,
				Key:       k,
				Revision:  d.keys[k],
			},
		)
	}
	for _, k := range sortedKeys(d.ranges) {
		t.Compares = append(
			t.Compares,
			datastore.Compare{
				Namespace: d.ns,
				Key:       k,
				Revision:  d.sn.Revision(),
				Prefix:    true,
			},
		)
	}
	for _, k := range sortedKeys(d.marks) {
		t.Compares = append(
			t.Compares,
			datastore.Compare{
				Namespace: metaNamespace,
				Key:       k,
				Revision:  d.marks[k],
			},
		)
	}
	for _, k := range sortedKeys(marked) {
		t.Ops = append(t.Ops, datastore.Put(metaNamespace, k, nil))
	}
	for _, k := range sortedKeys(d.changed) {
		if doc := d.changed[k]; doc != nil {
			t.Ops = append(t.Ops, datastore.Put(d.ns, k, doc.encode()))
		} else {
			t.Ops = append(t.Ops, datastore.Delete(d.ns, k))
		}
	}
	t.Ops = append(
		t.Ops,
		datastore.Put(metaNamespace, d.ns, []byte(now.UTC().Format(time.RFC3339Nano))),
	)
	return t, nil
}

// markKey is the key that is written when an entry of a list at the top of a module goes.
func (d *Draft) markKey(key string) (mark string, ok bool) {
	name, rest, ok := strings.Cut(key, "=")
	return d.ns + name, ok && !strings.Contains(name[1:], "/") && !strings.Contains(rest, "/")
}

func (d *Draft) readMark(prefix string) error {
	mark, ok := d.markKey(prefix)
	if !ok {
		return nil
	}
	e, err := d.sn.Get(metaNamespace, mark)
	if err != nil && !errors.Is(err, datastore.ErrNotFound) {
		return err
	}
	d.marks[mark] = e.Revision
	return nil
}

// findHolder returns the nearest document above a key that is stored, nil if no such document exists.
func (d *Draft) findHolder(key string) (string, *document, error) {
	for {
		i := strings.LastIndexByte(key, '/')
		if i <= 0 {
			return "", nil, nil
		}
		key = key[:i]
		doc, err := d.getDocument(key)
		if err != nil || doc != nil {
			return key, doc, err
		}
	}
}

// Change is a document that a draft writes or deletes.
type Change struct {
	Key     string
	Value   []byte // JSON
	Deleted bool
}

// changesBelow lists what the draft changes below a top-level node.
func (d *Draft) changesBelow(qname string) []Change {
	var out []Change
	for _, k := range sortedKeys(d.changed) {
		switch doc := d.changed[k]; {
		case topName(k) != qname:
		case doc != nil:
			out = append(out, Change{
				Key:   k,
				Value: []byte(doc.text),
			})
		default:
			out = append(out, Change{Key: k, Deleted: true})
		}
	}
	return out
}

// topName is the qualified name of the top-level node of a key.
func topName(key string) string {
	key = strings.TrimPrefix(key, "/")
	if i := strings.IndexAny(key, "/="); i >= 0 {
		key = key[:i]
	}
	return key
}

// noteRead notes a document that was read; revision 0: it does not exist.
func (d *Draft) noteRead(key string, rev datastore.Revision) {
	d.scratch = append(binary.AppendUvarint(d.scratch, uint64(len(key))), key...)
	if d.scratch = binary.AppendUvarint(d.scratch, uint64(rev)); len(d.scratch) > 4<<10 {
		d.tag.Write(d.scratch)
		d.scratch = d.scratch[:0]
	}
}

// Tag names the state of everything that the draft has read so far: an entity-tag
// without its quotes.
func (d *Draft) Tag() string {
	d.tag.Write(d.scratch)
	d.scratch = d.scratch[:0]
	return hex.EncodeToString(d.tag.Sum(nil)[:10])
}

// LastChange returns when the tree was changed last, the zero time if never.
func (d *Draft) LastChange() (time.Time, error) {
	e, err := d.sn.Get(metaNamespace, d.ns)
	if errors.Is(err, datastore.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, string(e.Value))
}
