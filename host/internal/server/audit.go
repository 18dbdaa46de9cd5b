package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"ctl.internal/host/internal/aaa/accounting"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
)

// The budget of the audit, apart from that of the log.
const (
	auditSize = 64 << 20
	auditKeep = 50
)

// auditDir is where the audit is.
func (s *Server) auditDir() string {
	return s.home.Log("audit")
}

func (s *Server) openAudit(context.Context) (err error) {
	var to *logs.Syslog
	if to, err = s.openSyslog(); err != nil {
		return err
	}
	if s.audit, err = logs.OpenAudit(s.auditDir(), auditSize, auditKeep); err != nil {
		if to != nil {
			to.Close()
		}
		return err
	}
	s.audit.SendTo(to)
	return nil
}

// openSyslog starts to send to the syslog server of the settings; nil if there is none.
func (s *Server) openSyslog() (*logs.Syslog, error) {
	c := s.loaded.Audit
	if c.Syslog == "" {
		return nil, nil
	}
	var known logs.SyslogTLS
	for _, f := range []struct {
		key, file string
		to        *[]byte
	}{
		{"syslogAuthorities", c.SyslogAuthorities, &known.Authorities},
		{"syslogCertificate", c.SyslogCertificate, &known.Certificate},
		{"syslogKey", c.SyslogKey, &known.Key},
	} {
		if f.file == "" {
			continue
		}
		var err error
		if *f.to, err = home.ReadRegular(s.home.Path(f.file)); err != nil {
			return nil, fmt.Errorf("audit.%s: %w", f.key, err)
		}
	}
	to, err := logs.OpenSyslog(c.Syslog, known, s.registry.Logger("org.ctl.audit"))
	if err != nil {
		return nil, fmt.Errorf("audit.syslog: %w", err)
	}
	return to, nil
}

// loggerFor is the log of a name; changes of access control go to the audit, too, before they are answered.
func (s *Server) loggerFor(name string) *slog.Logger {
	l := s.registry.Logger(name)
	if name == accounting.AuditLogger {
		return slog.New(changeHandler{l.Handler(), s.noteChange})
	}
	return l
}

// writeAudit writes a record of the audit; what is not written yet is an error in the log, and waits. With now the disk has it on return.
func (s *Server) writeAudit(r logs.AuditRecord, now bool) {
	if err := s.audit.Write(r, now); err != nil {
		s.log.Error(
			"a decision is not in the audit yet",
			"what",
			r.What,
			"object",
			r.Object,
			"who",
			r.Who,
			"error",
			err,
		)
	}
}

// noteGrantDecision writes down who granted or refused what.
func (s *Server) noteGrantDecision(plugin, by string, granted bool, grants []grant.Grant) {
	var texts []string
	for _, g := range grants {
		texts = append(texts, g.String())
	}
	what := map[bool]string{
		true:  "grant",
		false: "revoke",
	}[granted]
	s.writeAudit(
		logs.AuditRecord{
			Who:     by,
			What:    what,
			Object:  "plugin " + plugin + ": " + strings.Join(texts, ", "),
			Outcome: passed,
			Class:   logs.ClassAccess,
		},
		true,
	)
}

// noteKeyDecision writes down who trusted or revoked which public key of catalogues.
func (s *Server) noteKeyDecision(key feature.Signer, by string, trusted bool) {
	what := map[bool]string{
		true:  "trust key",
		false: "revoke key",
	}[trusted]
	s.writeAudit(
		logs.AuditRecord{
			Who:     by,
			What:    what,
			Object:  key.ID + " " + key.Fingerprint,
			Outcome: passed,
			Class:   logs.ClassAccess,
		},
		true,
	)
}

// refusals folds records that are the same for who reads them: so many of each thing in a minute are written, and of
// the others their number, so that nobody can fill the audit.
type refusals struct {
	mu   sync.Mutex
	seen map[string]*refusal
}

type refusal struct {
	since   time.Time
	written int // since then
	times   int // unwritten
	last    logs.AuditRecord
}

const (
	maxRefusals = 1000 // things that are counted apart
	onlyFirst   = 1    // of a thing in a minute is written
	ownRecords  = 20   // that a user causes of his own account
)

// countRefusal counts a record and reports whether it, as returned, is to be written, which up to free of its key are in a minute, and how many
// there were before it unwritten. Of more things than are counted apart those that passed are written, and the others are one thing
// for each action.
func (r *refusals) countRefusal(
	key string,
	record logs.AuditRecord,
	now time.Time,
	free int,
) (out logs.AuditRecord, write bool, before int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]*refusal{}
	}
	if r.seen[key] == nil && len(r.seen) >= maxRefusals {
		maps.DeleteFunc(r.seen, func(_ string, o *refusal) bool {
			return o.times == 0 && now.Sub(o.since) >= time.Minute
		})
	}
	if r.seen[key] == nil && len(r.seen) >= maxRefusals {
		if record.Outcome == passed {
			return record, true, 0
		}
		key = "more " + record.What
		record = logs.AuditRecord{
			Time:    record.Time,
			What:    record.What,
			Outcome: record.Outcome,
			Class:   record.Class,
			Object:  "of more users, addresses or resources than are counted apart",
		}
	}
	one := r.seen[key]
	if one == nil {
		one = &refusal{}
		r.seen[key] = one
	}
	if now.Sub(one.since) < time.Minute {
		if one.written < free {
			one.written++
			return record, true, 0
		}
		one.times++
		one.last = record
		return record, false, 0
	}
	before, one.since, one.times, one.written = one.times, now, 0, 1
	return record, true, before
}

// dueRecords returns the newest of the records that were folded for a minute, with their number; all of them at the end.
func (r *refusals) dueRecords(now time.Time, all bool) []logs.AuditRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []logs.AuditRecord
	for key, one := range r.seen {
		if !all && now.Sub(one.since) < time.Minute {
			continue
		}
		if one.times > 0 {
			one.last.Count = one.times
			out = append(out, one.last)
		}
		delete(r.seen, key)
	}
	slices.SortFunc(out, func(a, b logs.AuditRecord) int {
		return a.Time.Compare(b.Time)
	})
	return out
}

// noteRefusedGrant writes down what a plugin tried without a grant.
func (s *Server) noteRefusedGrant(plugin string, g grant.Grant) {
	kind := g.Kind + " "
	r := logs.AuditRecord{
		Time:    time.Now(),
		Who:     "plugin:" + plugin,
		What:    "use without a grant",
		Object:  g.String(),
		Outcome: refused,
	}
	if r, write, before := s.refusals.countRefusal(plugin+" "+kind, r, r.Time, onlyFirst); write {
		if before > 0 {
			r.Object += fmt.Sprintf(" (and %d times %sbefore)", before, kind)
		}
		r.Count = before
		s.writeAudit(r, false)
	}
}

// crashed writes down that a plugin's process ended by itself, or was ended because it did not answer or took too much.
func (s *Server) crashed(plugin, reason string) {
	s.foldRecord("crash "+plugin, onlyFirst, logs.AuditRecord{
		Time:    time.Now(),
		Who:     "plugin:" + plugin,
		What:    "plugin crashed",
		Object:  accounting.Clean(reason),
		Outcome: failed,
	})
}

// accountingStream is where plugins that listen to logins and changes subscribe. It
// is no RESTCONF stream: what it says is for those the operator installed.
const accountingStream = "accounting"

// publishAccounting hands logins and changes of access control to the event bus.
func (s *Server) publishAccounting(e accounting.Event) {
	data, err := json.Marshal(map[string]any{"accounting:" + e.Kind: map[string]any{
		"time":       e.Time.UTC().Format(time.RFC3339Nano),
		"action":     e.Action,
		"object":     e.Object,
		"user":       e.User,
		"realm":      e.Realm,
		"address":    e.Address,
		"request-id": e.RequestID,
		"ok":         e.OK,
		"reason":     e.Reason,
	}})
	if err == nil {
		s.bus.Publish(accountingStream, "host", data)
	}
}

func formatCount(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
