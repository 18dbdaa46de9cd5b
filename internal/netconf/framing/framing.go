// Package framing is how NETCONF messages follow each other on a stream (RFC 6242
// section 4): the mark ]]>]]> after each, or chunks with their size in front. What
// it reads it bounds, and it says at once when a peer uses the other kind.
package framing

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// DefaultMax caps one message in bytes.
const DefaultMax = 64 << 20

// maxGrowth is how much memory is taken for a chunk before any of it has come.
const maxGrowth = 64 << 10

// endOfMessage ends a message before base:1.1 is agreed (RFC 6242 section 4.3).
var endOfMessage = []byte("]]>]]>")

// ErrBroken is a stream that can no longer be read.
var ErrBroken = errors.New("broken framing")

// Framer reads and writes whole messages. Reading and writing are for one goroutine
// each, which do not run while Chunked and Max are set.
type Framer struct {
	Chunked bool // RFC 6242 section 4.2, once both sides said base:1.1
	Max     int  // bytes of one message
	r       *bufio.Reader
	w       io.Writer
}

// New returns a framer of the first kind. A limit of 0 is DefaultMax.
func New(rw io.ReadWriter, limit int) *Framer {
	if limit <= 0 {
		limit = DefaultMax
	}
	return &Framer{
		r:   bufio.NewReaderSize(rw, 32<<10),
		w:   rw,
		Max: limit,
	}
}

// Read returns the next message. io.EOF means that the peer closed between two
// messages; an end within one is io.ErrUnexpectedEOF.
func (f *Framer) Read() ([]byte, error) {
	if f.Chunked {
		return f.readChunks()
	}
	return f.readMarked()
}

func (f *Framer) readMarked() ([]byte, error) {
	var msg []byte
	begun := false
	for {
		part, err := f.r.ReadSlice('>')
		msg = append(msg, part...)
		if !begun {
			text := bytes.TrimLeft(part, " \t\r\n")
			if len(text) > 0 { // before it there are only blanks
				begun = true
				if text[0] != '<' {
					return nil, fmt.Errorf(
						"%w: a message begins with %q, not with XML",
						ErrBroken,
						text[:min(len(text), 8)],
					)
				}
			}
		}
		switch {
		case len(msg) > f.Max:
			return nil, fmt.Errorf("%w: a message is longer than %d bytes", ErrBroken, f.Max)
		case err == nil && bytes.HasSuffix(msg, endOfMessage):
			return msg[:len(msg)-len(endOfMessage)], nil
		case errors.Is(err, io.EOF) && begun:
			return nil, io.ErrUnexpectedEOF
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func (f *Framer) readChunks() ([]byte, error) {
	var msg []byte
	for first := true; ; first = false {
		n, err := f.chunkHeader(first)
		switch {
		case err != nil:
			return nil, err
		case n == 0 && first:
			return nil, fmt.Errorf("%w: a message without a chunk", ErrBroken)
		case n == 0:
			return msg, nil
		case n > uint64(f.Max-len(msg)):
			return nil, fmt.Errorf("%w: a message is longer than %d bytes", ErrBroken, f.Max)
		}
		// Memory grows with what comes, not with what a header claims.
		for n > 0 {
			part := min(int(n), maxGrowth)
			msg = slices.Grow(msg, part)
			begin := len(msg)
			msg = msg[:begin+part]
			if _, err := io.ReadFull(f.r, msg[begin:]); err != nil {
				return nil, unexpectedEOF(err)
			}
			n -= uint64(part)
		}
	}
}

// chunkHeader reads LF # size LF and returns the size, or 0 for LF ## LF.
func (f *Framer) chunkHeader(first bool) (uint64, error) {
	for i, want := range []byte("\n#") {
		c, err := f.r.ReadByte()
		if err != nil {
			if first && i == 0 {
				return 0, err
			}
			return 0, unexpectedEOF(err)
		}
		if c != want {
			return 0, fmt.Errorf("%w: %q where the header of a chunk must be", ErrBroken, c)
		}
	}
	var digits []byte
	for {
		c, err := f.r.ReadByte()
		switch {
		case err != nil:
			return 0, unexpectedEOF(err)
		case c == '\n' && string(digits) == "#":
			return 0, nil
		case c == '\n' && len(digits) > 0 && digits[0] != '#':
			return chunkSize(string(digits))
		case c == '#' && len(digits) == 0, c >= '0' && c <= '9' && len(digits) < 10 && (len(digits) == 0 || digits[0] != '#'):
			digits = append(digits, c)
		default:
			return 0, fmt.Errorf("%w: %q in the size of a chunk", ErrBroken, append(digits, c))
		}
	}
}

// chunkSize is 1 to 4294967295 without a leading zero (RFC 6242 section 4.2).
func chunkSize(digits string) (uint64, error) {
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || digits[0] == '0' {
		return 0, fmt.Errorf("%w: a chunk of size %q", ErrBroken, digits)
	}
	return n, nil
}

func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Write sends messages in one call of the writer. None is sent when one cannot be.
func (f *Framer) Write(msgs ...[]byte) error {
	size := 0
	for _, msg := range msgs {
		if len(msg) == 0 || len(msg) > f.Max {
			return fmt.Errorf(
				"a message of %d bytes cannot be sent, the most is %d",
				len(msg),
				f.Max,
			)
		}
		if !f.Chunked && bytes.Contains(msg, endOfMessage) {
			return errors.New("the message holds the mark that ends one")
		}
		size += len(msg) + 24
	}
	b := make([]byte, 0, size)
	for _, msg := range msgs {
		if f.Chunked {
			b = append(strconv.AppendInt(append(b, "\n#"...), int64(len(msg)), 10), '\n')
			b = append(append(b, msg...), "\n##\n"...)
		} else {
			b = append(append(b, msg...), endOfMessage...)
		}
	}
	_, err := f.w.Write(b)
	return err
}
