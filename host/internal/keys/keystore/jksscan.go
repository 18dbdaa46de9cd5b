package keystore

import (
	"encoding/binary"
	"errors"
)

var errCut = errors.New("it is truncated, or a length in it is wrong")

// scanner walks over a JKS text. The library allocates what a length asks for
// before it reads; a damaged file must not get that far.
type scanner struct {
	b   []byte
	err error
}

func (s *scanner) skip(n uint64) {
	if s.err != nil || n > uint64(len(s.b)) {
		s.err = errCut
		return
	}
	s.b = s.b[n:]
}

func (s *scanner) u32() uint64 {
	if s.err != nil || len(s.b) < 4 {
		s.err = errCut
		return 0
	}
	n := binary.BigEndian.Uint32(s.b)
	s.b = s.b[4:]
	return uint64(n)
}

func (s *scanner) text() string {
	if s.err != nil || len(s.b) < 2 {
		s.err = errCut
		return ""
	}
	n := int(binary.BigEndian.Uint16(s.b))
	all := s.b[2:]
	s.b = all
	s.skip(uint64(n))
	if s.err != nil {
		return ""
	}
	return string(all[:n])
}

func (s *scanner) cert(version uint64) {
	if version > 1 {
		s.text()
	}
	s.skip(s.u32())
}

// body walks over what follows alias and date of an entry.
func (s *scanner) body(tag, version uint64) {
	switch tag {
	case 1:
		s.skip(s.u32())
		n := s.u32()
		if n > maxChain*10 {
			s.err = errCut
		}
		for ; n > 0 && s.err == nil; n-- {
			s.cert(version)
		}
	case 2:
		s.cert(version)
	default:
		s.err = errCut
	}
}

// scanJKS checks that all lengths of a JKS text stay within it.
func scanJKS(b []byte) error {
	s := &scanner{b: b}
	s.skip(4)
	version := s.u32()
	if s.err == nil && version != 1 && version != 2 {
		return errors.New("it has an unknown version")
	}
	entries := s.u32()
	for i := uint64(0); i < entries && s.err == nil; i++ {
		tag := s.u32()
		s.text()
		s.skip(8)
		s.body(tag, version)
	}
	s.skip(20) // the digest
	if s.err == nil && len(s.b) > 0 {
		return errors.New("it has bytes after its end")
	}
	return s.err
}
