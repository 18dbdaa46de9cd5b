package logs

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of the audit.
const (
	auditName = "audit.log"
	auditText = 1 << 10 // bytes of one text of a record
	auditLine = 64 << 10

	auditWaiting = 4096 // records that wait until they can be written
)

// AuditRecord is one line of the audit: who did what to what.
type AuditRecord struct {
	Seq     uint64    `json:"seq"`
	Time    time.Time `json:"time"`
	Who     string    `json:"who"`  // user@domain, or plugin:NAME; empty: the controller itself
	What    string    `json:"what"` // "create user", "grant", "command"
	Object  string    `json:"object,omitempty"`
	Outcome string    `json:"outcome"` // ok, refused or failed
	Address string    `json:"address,omitempty"`
	Request string    `json:"request,omitempty"`

	Realm      string `json:"realm,omitempty"`
	Credential string `json:"session,omitempty"` // id of the token or session
	Method     string `json:"method,omitempty"`
	Resource   string `json:"resource,omitempty"` // canonical
	Status     int    `json:"status,omitempty"`   // of the answer
	Count      int    `json:"count,omitempty"`    // of equal ones that were not written

	Prev string `json:"prev"` // SHA-256 of the line before, in hex
}

// Audit is the append-only file of changes and refusals. Only the host writes it, apart from the log: no plugin can
// evict a record, and none waits for it. Each record holds the hash of the one before, over all files.
type Audit struct {
	dir  string
	size int64
	keep int

	mu    sync.Mutex
	file  *os.File
	bytes int64
	seq   uint64
	prev  string
	dirty bool
	stats AuditStats
	to    *Syslog // nil = no second destination
	done  chan struct{}
	ended sync.WaitGroup

	fault      atomic.Pointer[error] // of the newest write or sync; nil = it was done
	waiting    []AuditRecord         // that could not be written
	missed     int                   // that found no room to wait
	missedFrom time.Time             // the first of those
}

// AuditStats say what the audit did since the start.
type AuditStats struct {
	OK, Refused, Failed uint64    // records by outcome
	Lost                uint64    // records that could neither be written nor wait
	Synced              time.Time // when the disk had all of it last
	Bytes               int64     // of the file that is written
	// Of the second destination: what was sent, waits, and found no room in the queue.
	Sent, Queued, Dropped uint64
}

// Stats returns what the audit did.
func (a *Audit) Stats() AuditStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	st := a.stats
	st.Bytes = a.bytes
	if !a.dirty {
		st.Synced = time.Now() // nothing waits for the disk
	}
	if a.to != nil {
		st.Sent, st.Queued, st.Dropped = a.to.sent.Load(), uint64(len(a.to.queue)), a.to.dropped.Load()
	}
	return st
}

// Failed is why the newest record is not on the disk; nil = it is, or will be within a second. It is asked before each
// change.
func (a *Audit) Failed() error {
	if err := a.fault.Load(); err != nil {
		return *err
	}
	return nil
}

// SendTo sends each record to a syslog server, too; Close ends that.
func (a *Audit) SendTo(s *Syslog) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.to = s
}

// OpenAudit opens the audit in a directory. A file is closed at so many bytes, and so many are kept.
func OpenAudit(dir string, size int64, keep int) (*Audit, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	a := &Audit{dir: dir, size: size, keep: keep, done: make(chan struct{})}
	files, err := auditFiles(dir)
	if err != nil {
		return nil, err
	}
	cut := false
	for _, path := range slices.Backward(files) { // the newest that has a record
		last, hash, torn, err := lastRecord(path)
		if err != nil {
			return nil, err
		}
		cut = cut || torn
		if hash != "" {
			a.seq, a.prev = last.Seq, hash
			break
		}
	}
	if a.file, err = os.OpenFile(filepath.Join(dir, auditName), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	info, err := a.file.Stat()
	if err != nil {
		return nil, err
	}
	a.bytes, a.stats.Synced = info.Size(), time.Now()
	if cut {
		_ = a.Write(AuditRecord{What: "audit continued", Object: "the end of the last record was cut off and was removed", Outcome: "ok"}, true)
	}
	a.ended.Go(a.syncEachSecond)
	return a, nil
}

// auditFiles lists the files of an audit, oldest first.
func auditFiles(dir string) ([]string, error) {
	old, err := filepath.Glob(filepath.Join(dir, "audit-*.log"))
	if err != nil {
		return nil, err
	}
	slices.Sort(old) // the number has a fixed width
	return append(old, filepath.Join(dir, auditName)), nil
}

// lastRecord returns the newest record of a file with the hash of its line, which is empty when there is none. It takes a record
// away that a power cut has torn.
func lastRecord(path string) (last AuditRecord, hash string, torn bool, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return last, "", false, nil
	}
	if err != nil {
		return last, "", false, err
	}
	end := bytes.LastIndexByte(b, '\n') + 1
	if torn = end < len(b); torn {
		if err := os.Truncate(path, int64(end)); err != nil {
			return last, "", false, err
		}
	}
	if end == 0 {
		return last, "", torn, nil
	}
	line := b[bytes.LastIndexByte(b[:end-1], '\n')+1 : end-1]
	if err := json.Unmarshal(line, &last); err != nil {
		return last, "", torn, fmt.Errorf("%s: the last line is no record of the audit; move the file away: %w", path, err)
	}
	return last, hashOf(line), torn, nil
}

func hashOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// Write appends a record; at once on the disk if durable, within a second otherwise. A record that cannot be written
// waits in memory and is written when that is possible again; how many found no room there is written then.
func (a *Audit) Write(r AuditRecord, durable bool) error {
	for _, s := range []*string{&r.Who, &r.What, &r.Object, &r.Address, &r.Request, &r.Realm, &r.Credential, &r.Method, &r.Resource} {
		if len(*s) > auditText {
			*s = strings.ToValidUTF8((*s)[:auditText], "") + "…"
		}
	}
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		a.stats.Lost++
		return errors.New("the audit is closed")
	}
	err := a.catchUp()
	if err == nil {
		err = a.append(r)
	}
	if err != nil {
		err = fmt.Errorf("audit: %w", err)
		a.fault.Store(&err)
		a.hold(r)
		return err
	}
	if durable || a.fault.Load() != nil {
		return a.sync()
	}
	return nil
}

// hold keeps a record that could not be written.
func (a *Audit) hold(r AuditRecord) {
	if len(a.waiting) < auditWaiting {
		a.waiting = append(a.waiting, r)
		return
	}
	if a.missed++; a.missed == 1 {
		a.missedFrom = r.Time
	}
	a.stats.Lost++
}

// catchUp writes the records that wait.
func (a *Audit) catchUp() error {
	for len(a.waiting) > 0 {
		if err := a.append(a.waiting[0]); err != nil {
			return err
		}
		a.waiting = a.waiting[1:]
	}
	a.waiting = nil
	if a.missed > 0 {
		gap := AuditRecord{Time: time.Now(), What: "audit gap", Outcome: "failed", Count: a.missed,
			Object: fmt.Sprintf("%d records since %s are lost, because the audit could not be written", a.missed, a.missedFrom.UTC().Format(time.RFC3339))}
		if err := a.append(gap); err != nil {
			return err
		}
		a.missed = 0
	}
	return nil
}

// append writes one record to the file.
func (a *Audit) append(r AuditRecord) error {
	if a.bytes >= a.size {
		if err := a.rotate(); err != nil {
			return err
		}
	}
	r.Time, r.Seq, r.Prev = r.Time.UTC(), a.seq+1, a.prev
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	n, err := a.file.Write(append(line, '\n'))
	if err != nil {
		_ = a.file.Truncate(a.bytes) // half a record would break the chain
		return err
	}
	a.bytes, a.seq, a.prev, a.dirty = a.bytes+int64(n), r.Seq, hashOf(line), true
	switch r.Outcome {
	case "ok":
		a.stats.OK++
	case "refused":
		a.stats.Refused++
	default:
		a.stats.Failed++
	}
	if a.to != nil {
		a.to.put(r, line)
	}
	return nil
}

// Head is the number and the hash of the newest record.
func (a *Audit) Head() (seq uint64, hash string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seq, a.prev
}

// sync brings all that was written to the disk.
func (a *Audit) sync() error {
	if err := a.file.Sync(); err != nil {
		err = fmt.Errorf("audit: %w", err)
		a.fault.Store(&err)
		return err
	}
	a.dirty, a.stats.Synced = false, time.Now()
	if len(a.waiting) == 0 {
		a.fault.Store(nil)
	}
	return nil
}

// mend writes what waits, to a new file if the one that is written was removed or replaced.
func (a *Audit) mend() error {
	path := filepath.Join(a.dir, auditName)
	have, err := a.file.Stat()
	if err != nil {
		return err
	}
	if at, err := os.Lstat(path); err != nil || !os.SameFile(have, at) {
		if err == nil {
			return fmt.Errorf("%s was replaced; move it away", path)
		}
		if err := os.MkdirAll(a.dir, 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		_ = a.file.Close()
		a.file, a.bytes = f, 0
		if err := a.append(AuditRecord{Time: time.Now(), What: "audit continued", Object: "its file was removed while it was written", Outcome: "failed"}); err != nil {
			return err
		}
	}
	if err := a.catchUp(); err != nil {
		return err
	}
	if a.dirty || a.fault.Load() != nil {
		return a.sync()
	}
	return nil
}

// rotate begins a new file. The name of the old one has the number of its last record.
func (a *Audit) rotate() error {
	if err := a.file.Sync(); err != nil {
		return err
	}
	path := filepath.Join(a.dir, auditName)
	if err := os.Rename(path, filepath.Join(a.dir, fmt.Sprintf("audit-%016d.log", a.seq))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_ = a.file.Close()
	a.file, a.bytes = f, 0
	files, err := auditFiles(a.dir)
	if err != nil {
		return err
	}
	for _, old := range files[:max(0, len(files)-a.keep)] {
		if err := os.Remove(old); err != nil {
			return err
		}
	}
	return nil
}

func (a *Audit) syncEachSecond() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-a.done:
			return
		case <-t.C:
		}
		a.mu.Lock()
		if a.file != nil {
			if err := a.mend(); err != nil {
				a.fault.Store(&err) // it is tried again; Stats says since when
			}
		}
		a.mu.Unlock()
	}
}

// Close ends the audit.
func (a *Audit) Close() error {
	close(a.done)
	a.ended.Wait()
	a.mu.Lock()
	to := a.to
	a.to = nil
	a.mu.Unlock()
	if to != nil {
		to.Close()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	err := errors.Join(a.catchUp(), a.file.Sync(), a.file.Close())
	a.stats.Lost += uint64(len(a.waiting))
	a.file = nil
	return err
}

// AuditHead is the number and the hash of a record, kept elsewhere.
type AuditHead struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// VerifyAudit reads the audit of a directory, or a copy of one of its files, and calls f for each record, until f returns
// false. The error names the first line that is not as it was written, or is not there any more; what was removed at
// the end is known by the head, if that is not the zero one.
func VerifyAudit(path string, head AuditHead, f func(AuditRecord) bool) (records int, err error) {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return 0, err
	} else if info.IsDir() {
		if files, err = auditFiles(path); err != nil {
			return 0, err
		}
	}
	prev, seq := "", uint64(0)
	read := func(path string) (more bool, err error) {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, auditLine)
		n := 0
		for lines.Scan() {
			n++
			var r AuditRecord
			switch err := json.Unmarshal(lines.Bytes(), &r); {
			case err != nil:
				return false, fmt.Errorf("%s:%d: this is no record of the audit", path, n)
			case records > 0 && (r.Prev != prev || r.Seq != seq+1):
				return false, fmt.Errorf("%s:%d: record %d does not follow record %d: what is before it was changed or removed", path, n, r.Seq, seq)
			}
			prev, seq = hashOf(lines.Bytes()), r.Seq
			records++
			if r.Seq == head.Seq && prev != head.Hash {
				return false, fmt.Errorf("%s:%d: record %d is not the one whose hash was sealed: it, or one before it, was changed", path, n, r.Seq)
			}
			if !f(r) {
				return false, nil
			}
		}
		if err := lines.Err(); err != nil {
			return false, fmt.Errorf("%s:%d: %w", path, n+1, err)
		}
		return true, nil
	}
	for _, path := range files {
		if more, err := read(path); err != nil || !more {
			return records, err
		}
	}
	if seq < head.Seq {
		return records, fmt.Errorf("the audit ends with record %d, and there was a record %d: the end was removed", seq, head.Seq)
	}
	return records, nil
}

// Handler returns a handler of a log that writes each record into the audit, too: attributes user, object or line,
// address, request, and code or ok for the outcome.
func (a *Audit) Handler(inner slog.Handler, durable bool) slog.Handler {
	return auditHandler{inner, a, durable}
}

type auditHandler struct {
	slog.Handler
	audit   *Audit
	durable bool
}

// Handle implements slog.Handler.
func (h auditHandler) Handle(ctx context.Context, rec slog.Record) error {
	r := AuditRecord{Time: rec.Time, What: strings.TrimPrefix(rec.Message, "audit: "), Outcome: "ok"}
	rec.Attrs(func(at slog.Attr) bool {
		v := at.Value.String()
		switch at.Key {
		case "user":
			r.Who = v
		case "object", "line":
			r.Object = v
		case "address":
			r.Address = v
		case "request":
			r.Request = v
		case "code":
			if v != "0" {
				r.Outcome = "failed, exit code " + v
			}
		}
		return true
	})
	return errors.Join(h.audit.Write(r, h.durable), h.Handler.Handle(ctx, rec))
}
