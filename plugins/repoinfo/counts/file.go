package counts

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// A file of counts is a header and records of one size, appended only. Every
// record carries a checksum, so a torn or damaged one is left out when the file
// is read, and what follows it is still good.
const (
	magic      = "ctl-counts-1\n"
	headerSize = 16
)

var checksum = crc32.MakeTable(crc32.Castagnoli)

func recordSize(hashSize int) int { return hashSize + 12 + 4 }

func header(hashSize int) []byte {
	h := make([]byte, headerSize)
	copy(h, magic)
	h[headerSize-1] = byte(hashSize)
	return h
}

// openFile opens or makes the file and hands every good record to put. A file
// of another kind is begun anew: it is a cache.
func openFile(path string, hashSize int, put func(*Entry) bool) (f *os.File, damaged int, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, err
	}
	err = locked(f, func() error {
		damaged, err = load(f, hashSize, put)
		return err
	})
	if err != nil {
		return nil, damaged, errors.Join(fmt.Errorf("line counts in %s: %w", path, err), f.Close())
	}
	return f, damaged, nil
}

func load(f *os.File, hashSize int, put func(*Entry) bool) (damaged int, err error) {
	r := bufio.NewReaderSize(f, 64<<10)
	got := make([]byte, headerSize)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != string(header(hashSize)) {
		if err == nil || !errors.Is(err, io.EOF) {
			damaged = 1
		}
		if err := f.Truncate(0); err != nil {
			return damaged, err
		}
		_, err := f.Write(header(hashSize))
		return damaged, err
	}
	size := recordSize(hashSize)
	buf := make([]byte, size)
	whole := int64(headerSize)
	for {
		_, err := io.ReadFull(r, buf)
		if errors.Is(err, io.EOF) {
			return damaged, nil
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return damaged + 1, f.Truncate(whole)
		}
		if err != nil {
			return damaged, err
		}
		whole += int64(size)
		if binary.LittleEndian.Uint32(buf[size-4:]) != crc32.Checksum(buf[:size-4], checksum) {
			damaged++
			continue
		}
		e := unpack(buf, hashSize)
		put(&e)
	}
}

// encode lays records out as they stand in the file.
func encode(entries []Entry, hashSize int) []byte {
	size := recordSize(hashSize)
	b := make([]byte, len(entries)*size)
	for i := range entries {
		rec := b[i*size : (i+1)*size]
		pack(rec, hashSize, &entries[i])
		binary.LittleEndian.PutUint32(rec[size-4:], crc32.Checksum(rec[:size-4], checksum))
	}
	return b
}

// appendFile appends records; what a full disk took only in part is cut off
// again, so that the next ones stay aligned.
func appendFile(f *os.File, b []byte) error {
	return locked(f, func() error {
		before, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		if _, err = f.Write(b); err != nil {
			return errors.Join(err, f.Truncate(before))
		}
		return nil
	})
}

// locked keeps a second process (the old one during a reload) from writing in
// the same moment.
func locked(f *os.File, do func() error) error {
	fd := int(f.Fd())
	for {
		err := unix.Flock(fd, unix.LOCK_EX)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
	defer func() { _ = unix.Flock(fd, unix.LOCK_UN) }()
	return do()
}
