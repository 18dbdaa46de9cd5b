package ofp13

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Reader takes messages from a stream.
type Reader struct{ r *bufio.Reader }

// NewReader returns a Reader with a small buffer: there may be thousands.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, 4096)} }

// Next returns the next message's header and body. The body is the caller's. A
// message is at most 65,535 bytes long, because its header has 16 bits for it.
func (r *Reader) Next() (Header, []byte, error) {
	var raw [headerLength]byte
	if _, err := io.ReadFull(r.r, raw[:]); err != nil {
		return Header{}, nil, err
	}
	h := Header{Version: raw[0], Type: Type(raw[1]), Length: binary.BigEndian.Uint16(raw[2:]), XID: binary.BigEndian.Uint32(raw[4:])}
	if h.Length < headerLength {
		return h, nil, fmt.Errorf("a message says that it is %d bytes long; its header alone has %d", h.Length, headerLength)
	}
	if h.Length == headerLength {
		return h, nil, nil
	}
	body := make([]byte, h.Length-headerLength)
	if _, err := io.ReadFull(r.r, body); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return h, nil, err
	}
	return h, body, nil
}
