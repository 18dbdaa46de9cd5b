package logs

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of the audit.
const (
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
	Class   string    `json:"class,omitempty"`
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

// Audit is the append-only record of changes and refusals. Only the host writes it, apart from the log: no plugin can
// evict a record, and none waits for it. Each class of records has files and space of its own, so that records which
// anybody can cause in any number do not evict others. Records are numbered over all classes, and each holds the hash of the
// one of its class before it, over all files.
type Audit struct {
	dir string

	mu     sync.Mutex
	chains []*chain // in the order of the classes
	seq    uint64   // of the newest record of all
	closed bool
	stats  AuditStats
	to     *Syslog // nil = no second destination
	done   chan struct{}
	ended  sync.WaitGroup

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
	Bytes               int64     // of the files that are written
	// Of the second destination: what was sent, waits, and found no room in the queue.
	Sent, Queued, Dropped uint64
}

// Stats returns what the audit did.
func (a *Audit) Stats() AuditStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	st := a.stats
	st.Synced = time.Now() // if nothing waits for the disk
	for _, c := range a.chains {
		st.Bytes += c.bytes
		if c.dirty {
			st.Synced = a.stats.Synced
		}
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

// OpenAudit opens the audit in a directory. A file is closed at so many bytes, and so many are kept in all.
func OpenAudit(dir string, size int64, keep int) (*Audit, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	a := &Audit{dir: dir, done: make(chan struct{})}
	a.stats.Synced = time.Now()
	for _, class := range classes {
		c, err := openChain(dir, class, size, keep)
		if err != nil {
			a.closeFiles()
			return nil, err
		}
		a.chains, a.seq = append(a.chains, c), max(a.seq, c.seq)
	}
	for _, c := range a.chains {
		if c.torn {
			_ = a.Write(AuditRecord{
				What:    "audit continued",
				Object:  "the end of the last record was cut off and was removed",
				Outcome: "ok",
				Class:   c.class,
			}, true)
		}
	}
	a.ended.Go(a.syncEachSecond)
	return a, nil
}

// of returns the chain of a class.
func (a *Audit) of(class string) *chain {
	return a.chains[max(
		0,
		slices.IndexFunc(classes, func(c auditClass) bool { return c.name == class }),
	)]
}

// Missing says what was removed before the audit was opened, by the heads that were kept elsewhere; nil = nothing.
func (a *Audit) Missing(kept AuditHeads) error {
	for _, c := range a.chains {
		if err := c.missing(kept[c.class]); err != nil {
			return err
		}
	}
	return nil
}

// Newest is the newest record that was there when the audit was opened; the zero one if there was none.
func (a *Audit) Newest() (newest AuditRecord) {
	for _, c := range a.chains {
		if c.opened.Seq > newest.Seq {
			newest = c.opened
		}
	}
	return newest
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
	if r.Class == "" {
		r.Class = ClassChange
		if r.Outcome == "refused" {
			r.Class = ClassRefused
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		a.stats.Lost++
		return errors.New("the audit is closed")
	}
	var err error
	if a.fault.Load() != nil { // a file that is open may have been removed
		err = a.writeWaiting()
	}
	if err == nil {
		err = a.appendRecord(r)
	}
	if err != nil {
		err = fmt.Errorf("audit: %w", err)
		a.fault.Store(&err)
		a.holdRecord(r)
		return err
	}
	switch {
	case a.fault.Load() != nil:
		return a.syncFile(a.chains...)
	case durable:
		return a.syncFile(a.of(r.Class))
	}
	return nil
}

// holdRecord keeps a record that could not be written.
func (a *Audit) holdRecord(r AuditRecord) {
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
		if err := a.appendRecord(a.waiting[0]); err != nil {
			return err
		}
		a.waiting = a.waiting[1:]
	}
	a.waiting = nil
	if a.missed > 0 {
		gap := AuditRecord{
			Time:    time.Now(),
			What:    "audit gap",
			Outcome: "failed",
			Class:   ClassAccess,
			Count:   a.missed,
			Object: fmt.Sprintf(
				"%d records since %s are lost, because the audit could not be written",
				a.missed,
				a.missedFrom.UTC().Format(time.RFC3339),
			),
		}
		if err := a.appendRecord(gap); err != nil {
			return err
		}
		a.missed = 0
	}
	return nil
}

// appendRecord writes one record to the file of its class.
func (a *Audit) appendRecord(r AuditRecord) error {
	r.Seq = a.seq + 1
	line, err := a.of(r.Class).append(&r)
	if err != nil {
		return err
	}
	a.seq = r.Seq
	switch r.Outcome {
	case "ok":
		a.stats.OK++
	case "refused":
		a.stats.Refused++
	default:
		a.stats.Failed++
	}
	if a.to != nil {
		a.to.queueRecord(r, line)
	}
	return nil
}

// Heads are the ends of what there is of each class.
func (a *Audit) Heads() AuditHeads {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := AuditHeads{}
	for _, c := range a.chains {
		if c.seq > 0 {
			out[c.class] = AuditHead{
				First: c.first,
				Seq:   c.seq,
				Hash:  c.prev,
			}
		}
	}
	return out
}

// syncFile brings all that was written of some classes to the disk.
func (a *Audit) syncFile(chains ...*chain) error {
	clean := true
	for _, c := range chains {
		if err := c.sync(); err != nil {
			err = fmt.Errorf("audit: %w", err)
			a.fault.Store(&err)
			return err
		}
	}
	for _, c := range a.chains {
		clean = clean && !c.dirty
	}
	if clean {
		a.stats.Synced = time.Now()
	}
	if clean && len(a.waiting) == 0 {
		a.fault.Store(nil)
	}
	return nil
}

// writeWaiting writes what waits, to a new file if one that is written was removed or replaced.
func (a *Audit) writeWaiting() error {
	for _, c := range a.chains {
		again, err := c.reopen()
		if err != nil {
			return err
		}
		if !again {
			continue
		}
		err = a.appendRecord(AuditRecord{
			Time:    time.Now(),
			What:    "audit continued",
			Object:  "its file was removed while it was written",
			Outcome: "failed",
			Class:   c.class,
		})
		if err != nil {
			return err
		}
	}
	if err := a.catchUp(); err != nil {
		return err
	}
	return a.syncFile(a.chains...)
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
		if !a.closed {
			if err := a.writeWaiting(); err != nil {
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
	err := errors.Join(a.catchUp(), a.syncFile(a.chains...), a.closeFiles())
	a.stats.Lost += uint64(len(a.waiting))
	a.closed = true
	return err
}

// closeFiles closes the files that are open.
func (a *Audit) closeFiles() (err error) {
	for _, c := range a.chains {
		err = errors.Join(err, c.file.Close())
	}
	return err
}

// RecordOf makes a record of one of a log: of its attributes user, object or line, address, request, and code for the outcome.
func RecordOf(rec slog.Record) AuditRecord {
	r := AuditRecord{
		Time:    rec.Time,
		What:    strings.TrimPrefix(rec.Message, "audit: "),
		Outcome: "ok",
	}
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
	return r
}
