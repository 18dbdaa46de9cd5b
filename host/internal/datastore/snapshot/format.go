package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"time"

	"ctl.internal/host/internal/datastore"
)

// The file: a line of JSON (header), frames, an end. A frame is its length, entries
// (namespace, key, value, each with its length) and a CRC-32C. The end is a frame of length
// 0, the number of entries and the SHA-256 of everything before it.
const (
	formatName = "ctl-snapshot"
	version    = 1
	frameSize  = 1 << 20  // a frame ends when it is that large
	maxFrame   = 64 << 20 // and one entry makes it larger
	maxHeader  = 4096
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Info is what a snapshot says of itself.
type Info struct {
	Format   string             `json:"format"`
	Version  int                `json:"version"`
	Revision datastore.Revision `json:"revision"` // everything acknowledged up to it is there
	At       time.Time          `json:"at"`
	Entries  int                `json:"-"`
}

type entry struct {
	namespace, key string
	value          []byte
}

type writer struct {
	out   *bufio.Writer
	sum   hash.Hash
	frame []byte
	info  Info
	err   error
}

func newWriter(w io.Writer, info Info) *writer {
	out := &writer{sum: sha256.New(), info: info}
	out.out = bufio.NewWriterSize(io.MultiWriter(w, out.sum), 64<<10)
	head, err := json.Marshal(info)
	out.err = err
	out.write(append(head, '\n'))
	return out
}

func (w *writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
}

func (w *writer) add(e entry) error {
	for _, b := range [][]byte{[]byte(e.namespace), []byte(e.key), e.value} {
		w.frame = append(binary.AppendUvarint(w.frame, uint64(len(b))), b...)
	}
	w.info.Entries++
	if len(w.frame) >= frameSize {
		w.flush()
	}
	return w.err
}

func (w *writer) flush() {
	if len(w.frame) == 0 {
		return
	}
	w.write(binary.AppendUvarint(nil, uint64(len(w.frame))))
	w.write(w.frame)
	w.write(binary.BigEndian.AppendUint32(nil, crc32.Checksum(w.frame, castagnoli)))
	w.frame = w.frame[:0]
}

func (w *writer) end() error {
	w.flush()
	w.write(binary.AppendUvarint([]byte{0}, uint64(w.info.Entries)))
	if w.err == nil {
		w.err = w.out.Flush()
	}
	w.write(w.sum.Sum(nil))
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

// read calls f for every entry of a snapshot, and fails with ErrDamaged when a byte of it
// is not what was written.
func read(r io.Reader, f func(entry) error) (Info, error) {
	in := &reader{in: bufio.NewReaderSize(r, 64<<10), sum: sha256.New()}
	info, err := in.header()
	for err == nil {
		var frame []byte
		if frame, err = in.next(); err != nil || frame == nil {
			break
		}
		for len(frame) > 0 && err == nil {
			var e entry
			if e, frame, err = split(frame); err == nil {
				info.Entries++
				err = f(e)
			}
		}
	}
	if err == nil {
		err = in.end(info.Entries)
	}
	return info, err
}

// reader counts what it has read into the checksum and its place.
type reader struct {
	in  *bufio.Reader
	sum hash.Hash
	at  int64
}

func (r *reader) damaged(format string, args ...any) error {
	return fmt.Errorf("%w: at byte %d of the snapshot: %s", datastore.ErrDamaged, r.at, fmt.Sprintf(format, args...))
}

func (r *reader) cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.damaged("it ends too early")
	}
	return err
}

// ReadByte implements io.ByteReader.
func (r *reader) ReadByte() (byte, error) {
	b, err := r.in.ReadByte()
	if err == nil {
		r.sum.Write([]byte{b})
		r.at++
	}
	return b, err
}

func (r *reader) read(b []byte) error {
	if _, err := io.ReadFull(r.in, b); err != nil {
		return r.cut(err)
	}
	r.sum.Write(b)
	r.at += int64(len(b))
	return nil
}

func (r *reader) header() (info Info, err error) {
	var line []byte
	for b := byte(0); b != '\n'; line = append(line, b) {
		if b, err = r.ReadByte(); err != nil {
			return info, r.cut(err)
		}
		if len(line) > maxHeader {
			return info, r.damaged("it does not begin as a snapshot does")
		}
	}
	if json.Unmarshal(line, &info) != nil || info.Format != formatName {
		return info, r.damaged("it does not begin as a snapshot does")
	}
	if info.Version != version {
		return info, fmt.Errorf("the snapshot has format version %d; this program reads version %d", info.Version, version)
	}
	return info, nil
}

// next returns the content of a frame, nil at the end.
func (r *reader) next() ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	switch {
	case err != nil:
		return nil, r.cut(err)
	case n == 0:
		return nil, nil
	case n > maxFrame:
		return nil, r.damaged("a frame of %d bytes", n)
	}
	var frame bytes.Buffer // grows with what is there, whatever the length says
	if _, err := io.CopyN(&frame, r.in, int64(n)); err != nil {
		return nil, r.cut(err)
	}
	r.sum.Write(frame.Bytes())
	r.at += int64(n)
	var crc [4]byte
	if err := r.read(crc[:]); err != nil {
		return nil, err
	}
	if binary.BigEndian.Uint32(crc[:]) != crc32.Checksum(frame.Bytes(), castagnoli) {
		return nil, r.damaged("a checksum does not match")
	}
	return frame.Bytes(), nil
}

func (r *reader) end(entries int) error {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return r.cut(err)
	}
	want := r.sum.Sum(nil)
	got := make([]byte, len(want))
	if err := r.read(got); err != nil {
		return err
	}
	if n != uint64(entries) || !bytes.Equal(got, want) {
		return r.damaged("the checksum of the whole does not match")
	}
	if _, err := r.in.ReadByte(); err == nil {
		return r.damaged("more follows than was written")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

var errFrame = fmt.Errorf("%w: an entry of the snapshot does not decode", datastore.ErrDamaged)

func split(frame []byte) (e entry, rest []byte, err error) {
	var parts [3][]byte
	for i := range parts {
		n, size := binary.Uvarint(frame)
		if size <= 0 || n > uint64(len(frame)-size) {
			return e, nil, errFrame
		}
		parts[i], frame = frame[size:size+int(n)], frame[size+int(n):]
	}
	return entry{string(parts[0]), string(parts[1]), parts[2]}, frame, nil
}
