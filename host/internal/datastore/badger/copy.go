package badger

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// copyName is the directory of the copy, inside that of the store: tables are shared with
// it by hard links, which need the same file system.
const copyName = "ctl.check"

// inCopy runs f on a copy of the store, below scratch, and removes the copy.
func inCopy(dir, scratch string, f func(copied string) error) (err error) {
	to := filepath.Join(scratch, copyName)
	if err := os.RemoveAll(to); err != nil { // of a start that was interrupted
		return diskError(scratch, err)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return diskError(scratch, err)
	}
	defer func() {
		err2 := os.RemoveAll(to)
		if err == nil && err2 != nil {
			err = diskError(scratch, err2)
		}
	}()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return diskError(dir, err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || isOwnFile(e.Name()) || isLeftoverFile(e) {
			continue
		}
		from, to := filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())
		if strings.HasSuffix(from, ".sst") && os.Link(from, to) == nil {
			continue
		}
		if err := copyFile(from, to); err != nil {
			return diskError(scratch, err)
		}
	}
	return f(to)
}

// copyFile copies a file with its holes: Badger's logs are mostly those.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	block := make([]byte, 64<<10)
	zeros := make([]byte, 64<<10)
	at := int64(0)
	for {
		n, err := io.ReadFull(in, block)
		if n > 0 && !bytes.Equal(block[:n], zeros[:n]) {
			if _, err := out.WriteAt(block[:n], at); err != nil {
				return errors.Join(err, out.Close())
			}
		}
		at += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.Join(out.Truncate(at), out.Close())
		}
		if err != nil {
			return errors.Join(err, out.Close())
		}
	}
}
