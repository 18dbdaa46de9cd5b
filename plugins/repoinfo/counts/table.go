package counts

import (
	"encoding/binary"
	"encoding/hex"
	"sync"

	"ctl.internal/plugins/repoinfo/commit"
)

// Key is a commit's hash in binary; SHA-1 hashes leave the end zero.
type Key [32]byte

// KeyOf converts a hexadecimal hash.
func KeyOf(hash []byte) (k Key, ok bool) {
	if len(hash) > 2*len(k) {
		return k, false
	}
	_, err := hex.Decode(k[:], hash)
	return k, err == nil
}

// Entry is one commit's counts.
type Entry struct {
	Key   Key
	Lines commit.Lines
}

// table is the index in memory: packed records in blocks, and an open-addressed
// index of record numbers. 100,000 commits take about 5 MiB.
type table struct {
	mu     sync.RWMutex
	size   int // of a hash: 20 or 32
	blocks [][]byte
	n      uint32
	slots  []uint32 // record number + 1; 0 is free
}

const blockRecords = 4096

func newTable(hashSize int) *table { return &table{size: hashSize, slots: make([]uint32, 256)} }

func (t *table) record(i uint32) []byte {
	width := t.size + 12
	at := int(i%blockRecords) * width
	return t.blocks[i/blockRecords][at : at+width]
}

func (t *table) find(k *Key) (slot int, found bool) {
	mask := len(t.slots) - 1
	for slot = int(binary.LittleEndian.Uint32(k[:4])) & mask; ; slot = (slot + 1) & mask {
		at := t.slots[slot]
		if at == 0 {
			return slot, false
		}
		if string(t.record(at - 1)[:t.size]) == string(k[:t.size]) {
			return slot, true
		}
	}
}

func (t *table) get(k *Key) (commit.Lines, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	slot, found := t.find(k)
	if !found {
		return commit.Lines{}, false
	}
	b := t.record(t.slots[slot] - 1)[t.size:]
	return commit.Lines{
		Insertions: binary.LittleEndian.Uint32(b),
		Deletions:  binary.LittleEndian.Uint32(b[4:]),
		Files:      binary.LittleEndian.Uint32(b[8:]),
	}, true
}

// put adds an entry and reports whether it was new.
func (t *table) put(e *Entry) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	slot, found := t.find(&e.Key)
	if found {
		return false
	}
	if t.n%blockRecords == 0 {
		t.blocks = append(t.blocks, make([]byte, blockRecords*(t.size+12)))
	}
	pack(t.record(t.n), t.size, e)
	t.n++
	t.slots[slot] = t.n
	if int(t.n)*4 > len(t.slots)*3 {
		t.grow()
	}
	return true
}

func (t *table) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	for i := range t.n {
		var k Key
		copy(k[:], t.record(i)[:t.size])
		slot, _ := t.find(&k)
		t.slots[slot] = i + 1
	}
}

func (t *table) bytes() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.slots)*4 + len(t.blocks)*blockRecords*(t.size+12)
}

func pack(b []byte, hashSize int, e *Entry) {
	copy(b, e.Key[:hashSize])
	binary.LittleEndian.PutUint32(b[hashSize:], e.Lines.Insertions)
	binary.LittleEndian.PutUint32(b[hashSize+4:], e.Lines.Deletions)
	binary.LittleEndian.PutUint32(b[hashSize+8:], e.Lines.Files)
}

func unpack(b []byte, hashSize int) (e Entry) {
	copy(e.Key[:hashSize], b)
	e.Lines.Insertions = binary.LittleEndian.Uint32(b[hashSize:])
	e.Lines.Deletions = binary.LittleEndian.Uint32(b[hashSize+4:])
	e.Lines.Files = binary.LittleEndian.Uint32(b[hashSize+8:])
	return e
}
