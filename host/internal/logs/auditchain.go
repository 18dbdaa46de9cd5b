package logs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// The classes of records.
const (
	// ClassChange is the class of changes and operations.
	ClassChange = "change"
	// ClassAccess is the class of what says who may do what: identities, policies, keys, grants, settings, starts.
	ClassAccess = "access"
	// ClassLogin is the class of sessions and tokens, which a user makes in any number.
	ClassLogin = "login"
	// ClassRefused is the class of what was refused, which anybody can cause.
	ClassRefused = "refused"
)

// auditClass is a class with its share of the space.
type auditClass struct {
	name  string
	file  string // its name without ".log"
	share int    // of all files, in percent
}

// classes are all classes. The files of changes have the name of earlier releases, which had one class.
var classes = []auditClass{{ClassChange, "audit", 40}, {ClassAccess, "access", 30}, {ClassLogin, "login", 10}, {ClassRefused, "refused", 20}}

// lineSize is the room for most lines, in bytes.
const lineSize = 1 << 10

// minFiles is how many files a class has at least: one that is written, and one before it.
const minFiles = 2

// chain is what there is of one class.
type chain struct {
	class string
	dir   string
	name  string // of the files, without ".log"
	size  int64
	keep  int

	file  *os.File
	bytes int64
	first uint64 // number of the oldest record, as of the opening or the last rotation; 0 = there is none
	seq   uint64
	prev  string
	dirty bool

	// When it was opened.
	opened AuditRecord // the newest record
	head   AuditHead
	full   bool  // all files that are kept were there
	torn   bool  // the end was cut off
	gap    error // a file does not follow the one before it
}

func openChain(dir string, class auditClass, size int64, keep int) (*chain, error) {
	c := &chain{
		class: class.name,
		dir:   dir,
		name:  class.file,
		size:  size,
		keep:  max(minFiles, keep*class.share/100),
	}
	files, err := chainFiles(dir, class.file)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Backward(files) { // the newest that has a record
		last, hash, torn, err := lastRecord(path)
		if err != nil {
			return nil, err
		}
		c.torn = c.torn || torn
		if hash != "" {
			c.opened, c.seq, c.prev = last, last.Seq, hash
			break
		}
	}
	if c.first, err = firstSeq(files); err != nil {
		return nil, err
	}
	if c.gap, err = findGap(files); err != nil {
		return nil, err
	}
	if c.file, err = os.OpenFile(c.path(), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	info, err := c.file.Stat()
	if err != nil {
		return nil, errors.Join(err, c.file.Close())
	}
	c.bytes, c.full = info.Size(), len(files) >= c.keep
	c.head = AuditHead{First: c.first, Seq: c.seq, Hash: c.prev}
	return c, nil
}

// missing says what was removed before the chain was opened, by the head that was kept of it.
func (c *chain) missing(kept AuditHead) error {
	switch {
	case c.gap != nil:
		return c.gap
	case kept.Seq > c.head.Seq, kept.Seq == c.head.Seq && kept.Hash != c.head.Hash:
		return fmt.Errorf("the records of class %s ended with number %d, and the head that was sealed is number %d, "+
			"which is not there as it was written", c.class, c.head.Seq, kept.Seq)
	case c.head.First > kept.First && kept.First > 0 && !c.full: // else the last rotation removed them
		return fmt.Errorf("the records of class %s began with number %d, and there was a number %d, "+
			"whose file was not removed by the controller", c.class, c.head.First, kept.First)
	}
	return nil
}

// path is that of the file that is written.
func (c *chain) path() string {
	return filepath.Join(c.dir, c.name+".log")
}

// chainFiles lists the files of a class, oldest first.
func chainFiles(dir, name string) ([]string, error) {
	old, err := filepath.Glob(filepath.Join(dir, name+"-*.log"))
	if err != nil {
		return nil, err
	}
	slices.Sort(old) // the number has a fixed width
	return append(old, filepath.Join(dir, name+".log")), nil
}

// firstSeq is the number of the first record of some files; 0 = they have none.
func firstSeq(files []string) (uint64, error) {
	for _, path := range files {
		in, err := openFile(path)
		if err != nil {
			return 0, err
		}
		r, _, ok, err := in.next()
		in.close()
		if ok || err != nil {
			return r.Seq, err
		}
	}
	return 0, nil
}

// findGap says which file does not begin with the record that follows the last one of the file before it; nil = all do. What is
// within files is read by VerifyAudit only.
func findGap(files []string) (gap, err error) {
	before, hash := "", ""
	for _, path := range files {
		in, err := openFile(path)
		if err != nil {
			return nil, err
		}
		first, _, ok, err := in.next()
		in.close()
		switch {
		case err != nil:
			return err, nil // a line that is not a record is a gap
		case !ok:
			continue
		case hash != "" && first.Prev != hash:
			return fmt.Errorf("record %d, the first of %s, does not follow the last one of %s: "+
				"what was between them was removed, or the end was changed", first.Seq, path, before), nil
		}
		end, _, err := readEnd(path)
		if err != nil {
			return nil, err
		}
		before, hash = path, hashOf(lastLine(end))
	}
	return nil, nil
}

// readEnd reads the last bytes of a file, which have its last line whole, and returns the size of the file; nil = it is not there.
func readEnd(path string) (end []byte, size int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	size = info.Size()
	end = make([]byte, min(size, 3*auditLine)) // a line and one that a power cut has torn
	_, err = io.ReadFull(io.NewSectionReader(f, size-int64(len(end)), int64(len(end))), end)
	return end, size, err
}

// lastLine is the last whole line of a text, which has one.
func lastLine(b []byte) []byte {
	end := bytes.LastIndexByte(b, '\n')
	if end < 0 {
		return nil
	}
	return b[bytes.LastIndexByte(b[:end], '\n')+1 : end]
}

// lastRecord returns the newest record of a file with the hash of its line, which is empty when there is none. It takes a record
// away that a power cut has torn.
func lastRecord(path string) (last AuditRecord, hash string, torn bool, err error) {
	b, size, err := readEnd(path)
	if err != nil {
		return last, "", false, err
	}
	end := bytes.LastIndexByte(b, '\n') + 1
	if torn = end < len(b); torn {
		if err := os.Truncate(path, size-int64(len(b)-end)); err != nil {
			return last, "", false, err
		}
	}
	if end == 0 {
		return last, "", torn, nil
	}
	line := lastLine(b)
	if err := json.Unmarshal(line, &last); err != nil {
		return last, "", torn, fmt.Errorf(
			"%s: the last line is no record of the audit; move the file away: %w",
			path,
			err,
		)
	}
	return last, hashOf(line), torn, nil
}

func hashOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// append writes a record, which has its number, and returns its line.
func (c *chain) append(r *AuditRecord) ([]byte, error) {
	if c.bytes >= c.size {
		if err := c.rotate(); err != nil {
			return nil, err
		}
	}
	r.Time, r.Prev = r.Time.UTC(), c.prev
	line := r.appendLine(make([]byte, 0, lineSize))
	n, err := c.file.Write(append(line, '\n'))
	if err != nil {
		_ = c.file.Truncate(c.bytes) // half a record would break the chain
		return nil, err
	}
	c.bytes, c.seq, c.prev, c.dirty = c.bytes+int64(n), r.Seq, hashOf(line), true
	if c.first == 0 {
		c.first = r.Seq
	}
	return line, nil
}

// sync brings what was written to the disk.
func (c *chain) sync() error {
	if !c.dirty {
		return nil
	}
	if err := c.file.Sync(); err != nil {
		return err
	}
	c.dirty = false
	return nil
}

// reopen makes a new file if the one that is written was removed; again reports that.
func (c *chain) reopen() (again bool, err error) {
	have, err := c.file.Stat()
	if err != nil {
		return false, err
	}
	at, err := os.Lstat(c.path())
	if err == nil && os.SameFile(have, at) {
		return false, nil
	}
	if err == nil {
		return false, fmt.Errorf("%s was replaced; move it away", c.path())
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return false, err
	}
	f, err := os.OpenFile(c.path(), os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	_ = c.file.Close()
	c.file, c.bytes = f, 0
	return true, nil
}

// rotate begins a new file. The name of the old one has the number of its last record.
func (c *chain) rotate() error {
	if err := c.file.Sync(); err != nil {
		return err
	}
	old := filepath.Join(c.dir, fmt.Sprintf("%s-%016d.log", c.name, c.seq))
	if err := os.Rename(c.path(), old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(c.path(), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_ = c.file.Close()
	c.file, c.bytes = f, 0
	files, err := chainFiles(c.dir, c.name)
	if err != nil {
		return err
	}
	over := max(0, len(files)-c.keep)
	for _, path := range files[:over] {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if over > 0 {
		c.first, err = firstSeq(files[over:])
	}
	return err
}
