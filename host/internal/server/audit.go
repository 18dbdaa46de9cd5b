package server

import (
	"context"
	"fmt"
	"log/slog"
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
	s.audit, err = logs.OpenAudit(s.auditDir(), auditSize, auditKeep)
	return err
}

// logger is the log of a name; changes of access control go to the audit, too, before they are answered.
func (s *Server) logger(name string) *slog.Logger {
	l := s.registry.Logger(name)
	if name == accounting.AuditLogger {
		return slog.New(s.audit.Handler(l.Handler(), true))
	}
	return l
}

// decided writes down who granted or refused what.
func (s *Server) decided(plugin, by string, granted bool, grants []grant.Grant) {
	var texts []string
	for _, g := range grants {
		texts = append(texts, g.String())
	}
	what := map[bool]string{true: "grant", false: "revoke"}[granted]
	if err := s.audit.Write(logs.AuditRecord{Who: by, What: what, Object: "plugin " + plugin + ": " + strings.Join(texts, ", "), Outcome: "ok"}, true); err != nil {
		s.log.Error("a grant is not in the audit", "plugin", plugin, "error", err)
	}
}

// trusted writes down who trusted or revoked which public key of catalogues.
func (s *Server) trusted(key feature.Signer, by string, trusted bool) {
	what := map[bool]string{true: "trust key", false: "revoke key"}[trusted]
	if err := s.audit.Write(logs.AuditRecord{Who: by, What: what, Object: key.ID + " " + key.Fingerprint, Outcome: "ok"}, true); err != nil {
		s.log.Error("a decision about a key is not in the audit", "key", key.ID, "error", err)
	}
}

// refusals sums what plugins are refused: one record a minute for each thing, so that no plugin can fill the audit.
type refusals struct {
	mu   sync.Mutex
	seen map[string]*refusal
}

type refusal struct {
	since time.Time
	times int
}

// maxRefusals bounds the things that are counted apart.
const maxRefusals = 1000

// note counts a refusal and reports whether it is to be written, and how many there were before it unwritten.
func (r *refusals) note(key string, now time.Time) (write bool, before int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]*refusal{}
	}
	one := r.seen[key]
	if one == nil {
		if len(r.seen) >= maxRefusals {
			return false, 0
		}
		one = &refusal{}
		r.seen[key] = one
	}
	if now.Sub(one.since) < time.Minute {
		one.times++
		return false, 0
	}
	before, one.since, one.times = one.times, now, 0
	return true, before
}

// refused writes down what a plugin tried without a grant.
func (s *Server) refused(plugin string, g grant.Grant) {
	kind := g.Kind + " "
	if write, before := s.refusals.note(plugin+" "+kind, time.Now()); write {
		text := g.String()
		if before > 0 {
			text += fmt.Sprintf(" (and %d times %sbefore)", before, kind)
		}
		if err := s.audit.Write(logs.AuditRecord{Who: "plugin:" + plugin, What: "use without a grant", Object: text, Outcome: "refused"}, false); err != nil {
			s.log.Error("a refusal is not in the audit", "plugin", plugin, "error", err)
		}
	}
}
