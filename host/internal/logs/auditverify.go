package logs

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// AuditHead is what is kept elsewhere of the records of a class: the number of the oldest one, and number and hash of the newest.
type AuditHead struct {
	First uint64 `json:"first"`
	Seq   uint64 `json:"seq"`
	Hash  string `json:"hash"`
}

// AuditHeads are the heads by class.
type AuditHeads map[string]AuditHead

// VerifyAudit reads the audit of a directory, or a copy of its records, and calls f for each record, in the order of
// their numbers, until f returns false. The error names the first line that is not as it was written, or is not there any
// more; what was removed at the beginning and at the end is known by the heads, if there are some.
func VerifyAudit(path string, heads AuditHeads, f func(AuditRecord) bool) (records int, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	v := &verifier{heads: heads, seen: map[string]*AuditHead{}}
	var in merged
	defer func() { in.close() }()
	if info.IsDir() {
		for _, class := range classes {
			files, err := chainFiles(path, class.file)
			if err != nil {
				return 0, err
			}
			in.add(&reader{files: files})
		}
	} else {
		in.add(&reader{files: []string{path}})
	}
	for {
		r, line, at, err := in.next()
		if err == nil && line != nil {
			err = v.take(r, line, at)
		}
		if err != nil {
			return v.records, err
		}
		if line == nil {
			return v.records, v.end()
		}
		if !f(r) {
			return v.records, nil
		}
	}
}

// verifier holds records against each other and against the heads.
type verifier struct {
	heads   AuditHeads
	seen    map[string]*AuditHead
	records int
}

func (v *verifier) take(r AuditRecord, line []byte, at string) error {
	class := r.Class
	if class == "" {
		class = ClassChange // of earlier releases
	}
	before, head := v.seen[class], v.heads[class]
	switch {
	case before == nil:
		if head.First > 0 && r.Seq > head.First {
			return fmt.Errorf("%s: the records of class %s begin with number %d, and there was a number %d: "+
				"the beginning was removed", at, class, r.Seq, head.First)
		}
		before = &AuditHead{First: r.Seq}
		v.seen[class] = before
	case r.Prev != before.Hash || r.Seq <= before.Seq:
		return fmt.Errorf(
			"%s: record %d does not follow record %d: what is before it was changed or removed",
			at,
			r.Seq,
			before.Seq,
		)
	}
	before.Seq, before.Hash = r.Seq, hashOf(line)
	v.records++
	if r.Seq == head.Seq && before.Hash != head.Hash {
		return fmt.Errorf(
			"%s: record %d is not the one whose hash was sealed: it, or one before it, was changed",
			at,
			r.Seq,
		)
	}
	return nil
}

// end holds the ends of all classes against the heads.
func (v *verifier) end() error {
	for _, class := range classes {
		head, seen := v.heads[class.name], v.seen[class.name]
		if seen == nil {
			seen = &AuditHead{}
		}
		if seen.Seq < head.Seq {
			return fmt.Errorf(
				"the records of class %s end with number %d, and there was a number %d: the end was removed",
				class.name,
				seen.Seq,
				head.Seq,
			)
		}
	}
	return nil
}

// fileLines reads the records of one file.
type fileLines struct {
	path string
	file *os.File // nil: it is not there
	scan *bufio.Scanner
	n    int
}

func openFile(path string) (*fileLines, error) {
	l := &fileLines{path: path}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	l.file, l.scan = file, bufio.NewScanner(file)
	l.scan.Buffer(nil, auditLine)
	return l, nil
}

// next returns a record and its line, which is valid until the next call.
func (l *fileLines) next() (r AuditRecord, line []byte, ok bool, err error) {
	if l.file == nil {
		return r, nil, false, nil
	}
	l.n++
	if !l.scan.Scan() {
		if err := l.scan.Err(); err != nil {
			return r, nil, false, fmt.Errorf("%s: %w", l.at(), err)
		}
		return r, nil, false, nil
	}
	if err := json.Unmarshal(l.scan.Bytes(), &r); err != nil {
		return r, nil, false, fmt.Errorf("%s: this is no record of the audit", l.at())
	}
	return r, l.scan.Bytes(), true, nil
}

func (l *fileLines) at() string {
	return fmt.Sprintf("%s:%d", l.path, l.n)
}

func (l *fileLines) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
}

// reader reads the records of some files, one after the other.
type reader struct {
	files []string
	now   *fileLines

	// The next record.
	record AuditRecord
	line   []byte // nil = there are no more
}

// step reads the next record.
func (r *reader) step() error {
	for {
		if r.now == nil {
			if r.line = nil; len(r.files) == 0 {
				return nil
			}
			var err error
			if r.now, err = openFile(r.files[0]); err != nil {
				return err
			}
			r.files = r.files[1:]
		}
		record, line, ok, err := r.now.next()
		if err != nil || ok {
			r.record, r.line = record, line
			return err
		}
		r.close()
	}
}

func (r *reader) close() {
	if r.now != nil {
		r.now.close()
		r.now = nil
	}
}

// merged reads the records of several readers in the order of their numbers.
type merged struct {
	readers []*reader
	last    *reader // whose record was returned
}

func (m *merged) add(r *reader) {
	m.readers = append(m.readers, r)
}

// next returns a record, its line, nil at the end, and where that is.
func (m *merged) next() (record AuditRecord, line []byte, at string, err error) {
	stale := m.readers
	if m.last != nil {
		stale = []*reader{m.last}
	}
	for _, r := range slices.Clone(stale) {
		if err := r.step(); err != nil {
			return record, nil, "", err
		}
	}
	m.readers = slices.DeleteFunc(m.readers, func(r *reader) bool {
		return r.line == nil
	})
	if len(m.readers) == 0 {
		return record, nil, "", nil
	}
	m.last = slices.MinFunc(m.readers, func(a, b *reader) int {
		return cmp.Compare(a.record.Seq, b.record.Seq)
	})
	return m.last.record, m.last.line, m.last.now.at(), nil
}

func (m *merged) close() {
	for _, r := range m.readers {
		r.close()
	}
}
