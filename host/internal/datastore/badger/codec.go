package badger

import (
	"encoding/binary"
	"errors"
	"slices"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// Badger holds three kinds of keys: 'd' namespace 0 key → revision and value,
// 'l' revision → the batch of that revision, and the newest revision.
const (
	dataKind = 'd'
	logKind  = 'l'
)

var (
	newestKey = []byte("mrevision")

	errRecord = errors.New("a record does not decode")
)

func dataKey(ns, key string) []byte {
	return append([]byte{dataKind}, engine.Join(ns, key)...)
}

func logKey(rev datastore.Revision) []byte {
	return binary.BigEndian.AppendUint64([]byte{logKind}, uint64(rev))
}

func encodeRevision(rev datastore.Revision) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(rev))
}

// decodeRevision reads the revision that begins a record; the rest is its value.
func decodeRevision(b []byte) (rev datastore.Revision, rest []byte, err error) {
	if len(b) < 8 {
		return 0, nil, errRecord
	}
	return datastore.Revision(binary.BigEndian.Uint64(b)), b[8:], nil
}

func encodeData(e datastore.Entry) []byte {
	return append(encodeRevision(e.Revision), e.Value...)
}

// encodeBatch writes the events of a batch; the revision is in its key.
func encodeBatch(b datastore.Batch) []byte {
	out := binary.AppendUvarint(nil, uint64(len(b.Events)))
	text := func(s string) {
		out = binary.AppendUvarint(out, uint64(len(s)))
		out = append(out, s...)
	}
	for _, e := range b.Events {
		flag := byte(0)
		if e.Deleted {
			flag = 1
		}
		out = append(out, flag)
		text(e.Namespace)
		text(e.Key)
		text(string(e.Value))
	}
	return out
}

func decodeBatch(rev datastore.Revision, in []byte) (datastore.Batch, error) {
	d := decoder{in: in}
	b := datastore.Batch{Revision: rev}
	for n := d.number(); n > 0 && !d.bad; n-- {
		var e datastore.Event
		e.Deleted = d.flag()
		e.Namespace, e.Key, e.Value = string(d.bytes()), string(d.bytes()), d.bytes()
		e.Revision = rev
		b.Events = append(b.Events, e)
	}
	if d.bad || len(d.in) > 0 {
		return datastore.Batch{}, errRecord
	}
	return b, nil
}

// decoder reads a record; after the first fault it only returns zeros.
type decoder struct {
	in  []byte
	bad bool
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.in)
	if size <= 0 {
		d.bad, d.in = true, nil
		return 0
	}
	d.in = d.in[size:]
	return n
}

func (d *decoder) flag() bool {
	if len(d.in) == 0 {
		d.bad = true
		return false
	}
	f := d.in[0]
	d.in = d.in[1:]
	return f != 0
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if n > uint64(len(d.in)) {
		d.bad, d.in = true, nil
		return nil
	}
	out := slices.Clone(d.in[:n:n])
	d.in = d.in[n:]
	return out
}
