package badger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
)

// Badger holds, in this order: 'd' namespace 0 key → revision, number of further parts,
// value; 'l' revision, part → the transactions of one write from that revision on; 'm' →
// what the store holds in all; 'p' namespace 0 key, part → a further part of a value.
const (
	dataKind = 'd'
	logKind  = 'l'
	metaKind = 'm'
	partKind = 'p'
)

var errRecord = errors.New("a record cannot be decoded")

// record is one Badger write; a nil value deletes.
type record struct{ key, value []byte }

func dataKey(joined string) []byte {
	return append([]byte{dataKind}, joined...)
}

func partKey(joined string, part int) []byte {
	return binary.BigEndian.AppendUint32(append([]byte{partKind}, joined...), uint32(part))
}

func logKey(first datastore.Revision, part int) []byte {
	return binary.BigEndian.AppendUint32(
		binary.BigEndian.AppendUint64([]byte{logKind}, uint64(first)),
		uint32(part),
	)
}

// extraPartCount is how many further entries a value of n bytes takes.
func extraPartCount(n int) int { return max(0, (n-1)/partSize) }

// valuePart is one of the pieces of a value; 0 is the first.
func valuePart(value []byte, i int) []byte {
	return value[i*partSize : min(len(value), (i+1)*partSize)]
}

// dataRecords are what a change of a key writes; before is how many further entries the
// value took that it replaces.
func dataRecords(out []record, e datastore.Event, before int) []record {
	joined := projection.Join(e.Namespace, e.Key)
	n := 0
	if e.Deleted {
		out = append(out, record{key: dataKey(joined)})
	} else {
		n = extraPartCount(len(e.Value))
		head := binary.AppendUvarint(
			binary.BigEndian.AppendUint64(nil, uint64(e.Revision)),
			uint64(n),
		)
		out = append(out, record{dataKey(joined), append(head, valuePart(e.Value, 0)...)})
		for i := 1; i <= n; i++ {
			out = append(out, record{partKey(joined, i), valuePart(e.Value, i)})
		}
	}
	for i := n + 1; i <= before; i++ {
		out = append(out, record{key: partKey(joined, i)})
	}
	return out
}

func decodeData(b []byte) (rev datastore.Revision, further uint64, value []byte, err error) {
	if len(b) < 9 {
		return 0, 0, nil, errRecord
	}
	further, n := binary.Uvarint(b[8:])
	if n <= 0 {
		return 0, 0, nil, errRecord
	}
	return datastore.Revision(binary.BigEndian.Uint64(b)), further, b[8+n:], nil
}

// inlineLimit is the size of a transaction from which on its values are not written a
// second time, into the log: the log then refers to the keys.
const inlineLimit = 1 << 20

// The flags of an event in the log.
const (
	deletedFlag  = 1
	referredFlag = 2 // the value is that of the key, if it still has this revision
	createdFlag  = 4 // the key did not exist before
)

func appendText[T string | []byte](out []byte, s T) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// encodeBatches writes consecutive transactions.
func encodeBatches(batches []datastore.Batch) []byte {
	var out []byte
	for _, b := range batches {
		size := 0
		for _, e := range b.Events {
			size += len(e.Value)
		}
		out = binary.AppendUvarint(out, uint64(b.Revision))
		out = binary.AppendVarint(out, b.At.UnixNano())
		out = appendText(out, b.By)
		out = binary.AppendUvarint(out, uint64(len(b.Events)))
		for _, e := range b.Events {
			flags, value := byte(0), e.Value
			switch {
			case e.Deleted:
				flags = deletedFlag
			case size > inlineLimit:
				flags, value = referredFlag, nil
			}
			if e.Created {
				flags |= createdFlag
			}
			out = appendText(appendText(appendText(append(out, flags), e.Namespace), e.Key), value)
		}
	}
	return out
}

// decodeBatches reads what encodeBatches wrote. An event whose value is that of its key
// has a nil value.
func decodeBatches(in []byte) (out []datastore.Batch, err error) {
	d := decoder{Reader: bytes.NewReader(in)}
	for d.Len() > 0 && d.err == nil {
		b := datastore.Batch{
			Revision: datastore.Revision(d.readUvarint()),
			At:       time.Unix(0, d.readVarint()),
			By:       string(d.readBytes()),
		}
		for n := d.readUvarint(); n > 0 && d.err == nil; n-- {
			flags := d.readFlag()
			e := datastore.Event{
				Namespace: string(d.readBytes()),
				Deleted:   flags&deletedFlag != 0,
				Created:   flags&createdFlag != 0,
			}
			e.Key, e.Value, e.Revision = string(d.readBytes()), d.readBytes(), b.Revision
			if flags&(deletedFlag|referredFlag) != 0 {
				e.Value = nil
			}
			b.Events = append(b.Events, e)
		}
		out = append(out, b)
	}
	if d.err != nil {
		return nil, errRecord
	}
	return out, nil
}

// decoder reads a record, and keeps the last error.
type decoder struct {
	*bytes.Reader
	err error
}

func (d *decoder) noteError(err error) {
	if err != nil {
		d.err = err
	}
}

func (d *decoder) readUvarint() uint64 {
	n, err := binary.ReadUvarint(d)
	d.noteError(err)
	return n
}

func (d *decoder) readVarint() int64 {
	n, err := binary.ReadVarint(d)
	d.noteError(err)
	return n
}

func (d *decoder) readFlag() byte {
	f, err := d.ReadByte()
	d.noteError(err)
	return f
}

// readBytes returns a text, which may be empty but is never nil.
func (d *decoder) readBytes() []byte {
	out := make([]byte, min(d.readUvarint(), uint64(d.Len())+1)) // one more than there is does not fit
	_, err := io.ReadFull(d, out)
	d.noteError(err)
	return out
}
