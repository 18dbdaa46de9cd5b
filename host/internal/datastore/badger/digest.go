package badger

import (
	"crypto/sha256"
	"encoding/binary"

	"ctl.internal/host/internal/datastore"
)

// digest is a sum over all entries that does not depend on their order, so that it can be
// kept up to date by what each write adds and takes away. It is there against damage, not
// against somebody who can write into the directory.
type digest [4]uint64

func (d *digest) add(h digest) {
	for i := range d {
		d[i] += h[i]
	}
}

func (d *digest) remove(h digest) {
	for i := range d {
		d[i] -= h[i]
	}
}

func hash(kind byte, name string, rev datastore.Revision, value []byte) (d digest) {
	head := binary.BigEndian.AppendUint64([]byte{kind}, uint64(rev))
	h := sha256.New()
	h.Write(appendText(head, name))
	h.Write(value)
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	for i := range d {
		d[i] = binary.BigEndian.Uint64(sum[8*i:])
	}
	return d
}

// meta is what a store holds in all; each write brings it up to date.
type meta struct {
	rev  datastore.Revision
	keys uint64
	logs uint64
	sum  digest
}

var metaKey = []byte{metaKind}

func (m meta) encode() []byte {
	var out []byte
	for _, n := range []uint64{uint64(m.rev), m.keys, m.logs, m.sum[0], m.sum[1], m.sum[2], m.sum[3]} {
		out = binary.BigEndian.AppendUint64(out, n)
	}
	return out
}

func decodeMeta(b []byte) (m meta, err error) {
	if len(b) != 7*8 {
		return m, errRecord
	}
	n := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
	return meta{datastore.Revision(n(0)), n(1), n(2), digest{n(3), n(4), n(5), n(6)}}, nil
}
