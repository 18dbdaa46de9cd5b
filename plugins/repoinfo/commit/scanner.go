package commit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Scanner reads the commits that git log prints in Format.
type Scanner struct {
	r       *bufio.Reader
	message int
	next    int
}

// fieldLimit bounds every field but the message.
const fieldLimit = 16 << 10

// NewScanner reads from r; a message is cut after messageLimit bytes. first is
// the position of the first commit.
func NewScanner(r io.Reader, messageLimit, first int) *Scanner {
	return &Scanner{r: bufio.NewReaderSize(r, 256<<10), message: messageLimit, next: first}
}

// Fill reads commits into the chunk until it is full; io.EOF after the last.
func (s *Scanner) Fill(k *Chunk, most int) error {
	for !k.Full(most) {
		if err := s.read(k); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scanner) read(k *Chunk) error {
	cut := false
	for field := range fieldCount {
		limit := fieldLimit
		if field == fieldCount-1 {
			limit = s.message
		}
		over, err := s.field(k, limit)
		if err != nil {
			if errors.Is(err, io.EOF) && field == 0 {
				return io.EOF
			}
			return fmt.Errorf("git log ended inside a commit: %w", io.ErrUnexpectedEOF)
		}
		cut = cut || over
	}
	k.ends = append(k.ends, record{end: len(k.arena), position: s.next, cut: cut})
	s.next++
	return nil
}

// field appends one field with its NUL to the arena, at most limit bytes of it.
func (s *Scanner) field(k *Chunk, limit int) (cut bool, err error) {
	start := len(k.arena)
	for {
		part, err := s.r.ReadSlice(0)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			k.arena = k.arena[:start]
			if len(part) > 0 {
				return false, io.ErrUnexpectedEOF
			}
			return false, err
		}
		ended := err == nil
		if ended {
			part = part[:len(part)-1]
		}
		if room := limit - (len(k.arena) - start); len(part) > room {
			part, cut = part[:room], true
		}
		k.arena = append(k.arena, part...)
		if ended {
			k.arena = append(k.arena, 0)
			return cut, nil
		}
	}
}
