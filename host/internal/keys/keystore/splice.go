package keystore

import (
	"crypto/sha1" //nolint:gosec // the digest that JKS has
	"encoding/binary"
	"strings"
	"time"
)

// jksMagic begins a JKS text, jksDigest is what Java mixes into its digest.
const (
	jksMagic  = 0xfeedfeed
	jksDigest = "Mighty Aphrodite"
)

// spliceTrusted replaces or adds a trusted certificate in a JKS text, without taking
// the other entries apart: with thousands of nodes that is what takes the time. ok is
// false when the text is not JKS of today, or the alias is that of a key.
func spliceTrusted(b []byte, password, alias string, der []byte, now time.Time) (out []byte, ok bool) {
	if len(b) < 12+sha1.Size || binary.BigEndian.Uint32(b) != jksMagic || binary.BigEndian.Uint32(b[4:]) != 2 || !ascii(alias) {
		return nil, false
	}
	s := &scanner{b: b[8:]}
	count := s.u32()
	var from, to int // of the entry with the alias
	at := func() int { return len(b) - len(s.b) }
	for range count {
		start := at()
		tag := s.u32()
		name := s.text()
		s.skip(8)
		s.body(tag, 2)
		if s.err != nil {
			return nil, false
		}
		if strings.EqualFold(name, alias) {
			if tag != 2 {
				return nil, false
			}
			from, to = start, at()
		}
	}
	if len(s.b) != sha1.Size {
		return nil, false
	}
	if from == 0 {
		from, to = at(), at()
		count++
	}
	out = make([]byte, 0, len(b)+len(der)+len(alias)+64)
	out = append(out, b[:8]...)
	out = binary.BigEndian.AppendUint32(out, uint32(count))
	out = append(out, b[12:from]...)
	out = binary.BigEndian.AppendUint32(out, 2)
	out = binary.BigEndian.AppendUint16(out, uint16(len(alias)))
	out = append(out, strings.ToLower(alias)...)
	out = binary.BigEndian.AppendUint64(out, uint64(now.UnixMilli()))
	out = binary.BigEndian.AppendUint16(out, uint16(len(x509Type)))
	out = append(out, x509Type...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(der)))
	out = append(out, der...)
	out = append(out, b[to:len(b)-sha1.Size]...)
	if len(out)+sha1.Size > maxStore {
		return nil, false // who says so does it elsewhere
	}
	h := sha1.New() //nolint:gosec // as above
	for _, c := range []byte(password) {
		h.Write([]byte{0, c})
	}
	h.Write([]byte(jksDigest))
	h.Write(out)
	return h.Sum(out), true
}

// ascii reports that a text is written alike in Java's own kind of UTF-8.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] == 0 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
