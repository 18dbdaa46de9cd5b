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

func (d *digest) addDigest(h digest) {
	for i := range d {
		d[i] += h[i]
	}
}

func (d *digest) removeDigest(h digest) {
	for i := range d {
		d[i] -= h[i]
	}
}

func hashEntry(kind byte, name string, rev datastore.Revision, value []byte) (d digest) {
	head := binary.BigEndian.AppendUint64([]byte{kind}, uint64(rev))
	h := sha256.New()
	h.Write(appendText(head, name))
	h.Write(value)
	_, _ = binary.Decode(h.Sum(nil), binary.BigEndian, &d) // 32 bytes are as many as it has
	return d
}

// meta is what a store holds in all; each write brings it up to date.
type meta struct {
	Rev        datastore.Revision
	Keys, Logs uint64
	Sum        digest
}

var metaKey = []byte{metaKind}

func (m meta) encode() []byte {
	out, _ := binary.Append(nil, binary.BigEndian, m) // it has a fixed size
	return out
}

func decodeMeta(b []byte) (m meta, err error) {
	if n, err := binary.Decode(b, binary.BigEndian, &m); err != nil || n != len(b) {
		return m, errRecord
	}
	return m, nil
}
