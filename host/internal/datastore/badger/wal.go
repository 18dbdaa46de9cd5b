package badger

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strconv"

	"ctl.internal/host/internal/datastore"
)

// Badger v4 write-ahead log (.mem): a header of 20 bytes, then entries of meta,
// user meta, uvarint key length, value length and expiry, key (with an 8 byte
// timestamp), value, CRC-32C; zeros fill the rest. A transaction's entries carry
// bitTxn and are closed by one with bitFin whose value is the timestamp.
const (
	walHeader = 20
	bitTxn    = 1 << 6
	bitFin    = 1 << 7
	maxWALKey = 1 << 16
)

// walScan is what a write-ahead log says without being opened for writing.
type walScan struct {
	newest datastore.Revision // of the last complete transaction; 0 = none
	end    int64              // where the complete transactions end
	rest   bool               // something other than zeros follows
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// scanWAL reads a log as Badger's recovery does, changing nothing. Whatever
// bytes come, it stops at the first that do not fit.
func scanWAL(data []byte) walScan {
	s := walScan{end: walHeader}
	if len(data) < walHeader {
		return walScan{end: int64(len(data))}
	}
	pos, open, ts := walHeader, false, uint64(0)
	var pending datastore.Revision
	for {
		e, size, ok := walEntry(data[pos:])
		if !ok {
			break
		}
		pos += size
		switch {
		case e.meta&bitTxn != 0:
			if open && e.ts != ts {
				return s.finish(data)
			}
			open, ts = true, e.ts
			if rev, _, err := decodeRevision(e.value); bytes.Equal(e.key, newestKey) && err == nil {
				pending = rev
			}
			continue
		case e.meta&bitFin != 0:
			if fin, err := strconv.ParseUint(string(e.value), 10, 64); err != nil || !open || fin != ts {
				return s.finish(data)
			}
			open = false
			s.newest = max(s.newest, pending)
		case open:
			return s.finish(data)
		}
		s.end = int64(pos)
	}
	return s.finish(data)
}

func (s walScan) finish(data []byte) walScan {
	s.rest = len(bytes.Trim(data[s.end:], "\x00")) > 0
	return s
}

type walRecord struct {
	meta       byte
	ts         uint64
	key, value []byte
}

func walEntry(b []byte) (e walRecord, size int, ok bool) {
	r := bytes.NewReader(b)
	meta, err1 := r.ReadByte()
	_, err2 := r.ReadByte()
	klen, err3 := binary.ReadUvarint(r)
	vlen, err4 := binary.ReadUvarint(r)
	_, err5 := binary.ReadUvarint(r)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || err5 != nil ||
		klen < 8 || klen > maxWALKey || vlen > uint64(len(b)) {
		return e, 0, false
	}
	head, _ := r.Seek(0, io.SeekCurrent)
	body := head + int64(klen+vlen)
	if body+4 > int64(len(b)) || crc32.Checksum(b[:body], castagnoli) != binary.BigEndian.Uint32(b[body:]) {
		return e, 0, false
	}
	key := b[head : head+int64(klen)]
	e = walRecord{meta: meta, key: key[:klen-8], value: b[head+int64(klen) : body]}
	e.ts = ^binary.BigEndian.Uint64(key[klen-8:]) // stored as MaxUint64 - ts
	return e, int(body + 4), true
}
