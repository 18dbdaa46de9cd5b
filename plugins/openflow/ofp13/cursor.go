package ofp13

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// cursor reads fields one after the other and remembers that they ran out, so that
// decoders need no check between two fields.
type cursor struct {
	b     []byte
	short bool
	bad   string // why the content is wrong
}

func (c *cursor) next(n int) []byte {
	if n < 0 || len(c.b) < n {
		c.short, c.b = true, nil
		return nil
	}
	out := c.b[:n:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) skip(n int) { c.next(n) }

func (c *cursor) rest() []byte { return c.next(len(c.b)) }

func (c *cursor) u8() uint8 {
	if b := c.next(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.next(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.next(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.next(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// text reads a field of n bytes that ends with the first zero byte, the last at the
// latest. What is not UTF-8 is replaced: the text goes into documents and onto screens.
func (c *cursor) text(n int) string {
	b := c.next(n)
	b = b[:max(len(b)-1, 0)]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return strings.ToValidUTF8(string(b), "?")
}

// appendText writes a field of n bytes that ends with a zero byte.
func appendText(b []byte, s string, n int) []byte {
	field := make([]byte, n)
	copy(field[:n-1], s)
	return append(b, field...)
}

var zeros [8]byte

func pad(b []byte, n int) []byte { return append(b, zeros[:n]...) }
