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
	"ctl.internal/host/internal/logs"
)

// The budget of the audit, apart from that of the log.
const (
	auditSize = 64 << 20
	auditKeep = 50
)

// auditDir is where the audit is.
func (s *Server) auditDir() string { return s.home.Log("audit") }

func (s *Server) openAudit(context.Context) (err error) {
	var to *logs.Syslog
	if address := s.loaded.Audit.Syslog; address != "" {
		if to, err = logs.OpenSyslog(address); err != nil {
			return fmt.Errorf("audit.syslog: %w", err)
		}
	}
	if s.audit, err = logs.OpenAudit(s.auditDir(), auditSize, auditKeep); err != nil {
		if to != nil {
			to.Close()
		}
		return err
	}
	s.opened.Seq, s.opened.Hash = s.audit.Head()
	s.audit.SendTo(to)
	return nil
}

// logger is the log of a name; changes of access control go to the audit, too, before they are answered.
func (s *Server) logger(name string) *slog.Logger {
	l := s.registry.Logger(name)
	if name == accounting.AuditLogger {
		return slog.New(changeHandler{l.Handler(), s.audit.Handler(l.Handler(), true)})
	}
	return l
}

// note writes a record of the audit; what is not written yet is an error in the log, and waits. With now the disk has it on return.
func (s *Server) note(r logs.AuditRecord, now bool) {
	if err := s.audit.Write(r, now); err != nil {
		s.log.Error("a decision is not in the audit yet", "what", r.What, "object", r.Object, "who", r.Who, "error", err)
	}
}

// decided writes down who granted or refused what.
func (s *Server) decided(plugin, by string, granted bool, grants []grant.Grant) {
	var texts []string
	for _, g := range grants {
		texts = append(texts, g.String())
	}
	what := map[bool]string{true: "grant", false: "revoke"}[granted]
	s.note(logs.AuditRecord{Who: by, What: what, Object: "plugin " + plugin + ": " + strings.Join(texts, ", "), Outcome: "ok"}, true)
}

// trusted writes down who trusted or revoked which public key of catalogues.
func (s *Server) trusted(key feature.Signer, by string, trusted bool) {
	what := map[bool]string{true: "trust key", false: "revoke key"}[trusted]
	s.note(logs.AuditRecord{Who: by, What: what, Object: key.ID + " " + key.Fingerprint, Outcome: "ok"}, true)
}

// refusals sums what plugins are refused: one record a minute for each thing, so that no plugin can fill the audit.
type refusals struct {
	mu   sync.Mutex
	seen map[string]*refusal
}

type refusal struct {
	since time.Time
	times int
	last  logs.AuditRecord
}

// maxRefusals bounds the things that are counted apart.
const maxRefusals = 1000

// note counts a refusal and reports whether it is to be written, and how many there were before it unwritten.
func (r *refusals) note(key string, record logs.AuditRecord, now time.Time) (write bool, before int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]*refusal{}
	}
	one := r.seen[key]
	if one == nil {
		if len(r.seen) >= maxRefusals {
			maps.DeleteFunc(r.seen, func(_ string, o *refusal) bool { return now.Sub(o.since) >= time.Minute })
		}
		if len(r.seen) >= maxRefusals {
			return false, 0
		}
		one = &refusal{}
		r.seen[key] = one
	}
	if now.Sub(one.since) < time.Minute {
		one.times++
		one.last = record
		return false, 0
	}
	before, one.since, one.times = one.times, now, 0
	return true, before
}

// due returns the newest of the records that were folded for a minute, with their number; all of them at the end.
func (r *refusals) due(now time.Time, all bool) []logs.AuditRecord {
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
	slices.SortFunc(out, func(a, b logs.AuditRecord) int { return a.Time.Compare(b.Time) })
	return out
}

// refused writes down what a plugin tried without a grant.
func (s *Server) refused(plugin string, g grant.Grant) {
	kind := g.Kind + " "
	r := logs.AuditRecord{Time: time.Now(), Who: "plugin:" + plugin, What: "use without a grant", Object: g.String(), Outcome: refused}
	if write, before := s.refusals.note(plugin+" "+kind, r, r.Time); write {
		if before > 0 {
			r.Object += fmt.Sprintf(" (and %d times %sbefore)", before, kind)
		}
		r.Count = before
		s.note(r, false)
	}
}

// accountingStream is where plugins that listen to logins and changes subscribe. It
// is no RESTCONF stream: what it says is for those the operator installed.
const accountingStream = "accounting"

// publishAccounting hands logins and changes of access control to the event bus.
func (s *Server) publishAccounting(e accounting.Event) {
	data, err := json.Marshal(map[string]any{"accounting:" + e.Kind: map[string]any{
		"time": e.Time.UTC().Format(time.RFC3339Nano), "action": e.Action, "object": e.Object, "user": e.User, "realm": e.Realm,
		"address": e.Address, "request-id": e.RequestID, "ok": e.OK, "reason": e.Reason,
	}})
	if err == nil {
		s.bus.Publish(accountingStream, "host", data)
	}
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
