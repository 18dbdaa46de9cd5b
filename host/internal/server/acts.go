package server

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/accounting"
	"ctl.internal/host/internal/aaa/act"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/address"
	"ctl.internal/host/internal/logs"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// recordRequests is the one recorder of requests over HTTP, whatever serves them: each that is neither a read nor an operation
// that changes nothing is in the audit before it is answered, with who sent it, what it changed and how it ended.
// Reads go by untouched.
func (s *Server) recordRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
			next.ServeHTTP(w, r)
			return
		}
		if s.audit.Failed() != nil && s.needsAudit(r.URL.Path) {
			w.Header().Set("Retry-After", "5")
			refuseRequest(w, r, http.StatusServiceUnavailable, "operation-failed", unwritable)
			return
		}
		one := &act.Act{}
		aw := &actWriter{
			ResponseWriter: w,
			s:              s,
			act:            one,
			r:              r.WithContext(act.With(r.Context(), one)),
		}
		defer func() {
			aw.recordStatus(http.StatusInternalServerError)
		}() // of a panic, which goes on
		next.ServeHTTP(aw, aw.r)
		aw.recordStatus(http.StatusOK)
	})
}

const unwritable = "the audit cannot be written, so nothing is changed that must be in it (audit.required in etc/ctl.yaml); ctl system:ready says why, and the log of the controller"

// actWriter records an act when its status is known, before the status is sent.
type actWriter struct {
	http.ResponseWriter
	s    *Server
	act  *act.Act
	r    *http.Request
	done bool
}

func (w *actWriter) WriteHeader(status int) {
	if status >= 200 {
		w.recordStatus(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *actWriter) Write(b []byte) (int, error) {
	w.recordStatus(http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController the connection.
func (w *actWriter) Unwrap() http.ResponseWriter {
	return w.ResponseWriter
}

func (w *actWriter) Flush() {
	w.recordStatus(http.StatusOK)
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *actWriter) recordStatus(status int) {
	if !w.done {
		w.done = true
		for _, text := range w.act.Notices() {
			w.Header().Add("Warning", `299 ctl "`+text+`"`)
		}
		w.s.recordAct(w.r, w.act, status)
	}
}

// Outcomes of records.
const (
	passed  = "ok"
	refused = "refused"
	failed  = "failed"
)

func outcomeOf(status int) string {
	switch {
	case status < http.StatusBadRequest:
		return passed
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests, status == http.StatusMisdirectedRequest:
		return refused
	}
	return failed
}

// anonymous is who sends a request whose sender is not known.
const anonymous = "anonymous"

// recordAct writes an act down. The path is the canonical one by now, if access control has seen it.
func (s *Server) recordAct(r *http.Request, of *act.Act, status int) {
	sender, changes := of.Known()
	resource, reads := s.resourceOf(r)
	outcome := outcomeOf(status)
	if reads && outcome == passed && len(changes) == 0 {
		return
	}
	address, _, _ := net.SplitHostPort(r.RemoteAddr)
	record := logs.AuditRecord{
		Time:       time.Now(),
		Who:        cmp.Or(accounting.Clean(sender.User), anonymous),
		What:       "request",
		Object:     r.Method + " " + resource,
		Outcome:    outcome,
		Address:    address,
		Request:    requestID(r),
		Realm:      sender.Realm,
		Credential: sender.Credential,
		Method:     r.Method,
		Resource:   resource,
		Status:     status,
	}
	if outcome == refused {
		record.What = "request denied"
		s.foldRecord(
			"http "+record.Who+" "+address+" "+s.router.subtreeOf(r.URL.Path),
			onlyFirst,
			record,
		)
		return
	}
	for _, c := range changes {
		one := record
		one.What, one.Object, one.Class = c.Action, c.Object, logs.ClassAccess
		s.noteChange(one)
	}
	if len(changes) == 0 {
		protected := s.isProtectedPath(r.URL.Path)
		if protected && outcome == passed {
			record.Class = logs.ClassAccess
		}
		s.writeAudit(record, protected)
	}
}

// noteChange writes a change of access control. Of those that a user makes of his own account in any number, so many in a minute are
// written.
func (s *Server) noteChange(r logs.AuditRecord) {
	own, _ := strings.CutPrefix(r.Object, r.Who)
	switch {
	case slices.Contains(folded, r.What):
		r.Class = logs.ClassLogin
		s.foldRecord(r.What+" "+r.Who+" "+r.Object+" "+r.Address, onlyFirst, r)
	case r.Who != "" && own != r.Object && (own == "" || own[0] == ' ' || own[0] == ':'):
		s.foldRecord(r.What+" "+r.Who, ownRecords, r)
	default:
		s.writeAudit(r, true)
	}
}

// folded are the changes of which one user may make any number in a row without meaning to change anything: a record a
// minute says how many there were.
var folded = []string{"issue token", "refresh token", "begin session", "end session", "revoke token"}

// resourceOf is the canonical resource of a request, and whether it is an operation that changes nothing. All addresses
// of an operation are one resource.
func (s *Server) resourceOf(r *http.Request) (resource string, reads bool) {
	path := r.URL.EscapedPath()
	if path == "/oauth2/introspect" {
		return path, true
	}
	at := s.addressOf(path)
	if at.Kind != address.Operation || at.Module == "" {
		return path, false
	}
	return operationPath(at.Module, at.Node), s.readsOnly(at.Module, at.Node)
}

// addressOf is what a canonical path addresses.
func (s *Server) addressOf(path string) address.Address {
	p, err := reqpath.ParseString(path)
	if err != nil || s.catalog == nil {
		return address.Address{}
	}
	return address.Parse(s.catalog.Installed(), p)
}

func operationPath(module, rpc string) string {
	return "/rests/operations/" + module + ":" + rpc
}

// readsOnly reports whether an operation says that it changes nothing: by the annotation of its module or, of a plugin of
// the contract before, by the manifest.
func (s *Server) readsOnly(module, rpc string) bool {
	r := s.catalog.Installed().Schema.RPC(module, rpc)
	if r != nil && r.Annotations.ReadOnly {
		return true
	}
	return s.plugins != nil && s.plugins.ReadOnly(module, rpc)
}

// excepted are requests that are never refused because the audit cannot be written: their records wait.
var excepted = []string{"/web/login", "/web/logout", "/oauth2/token", "/oauth2/revoke", "/oauth2/introspect"}

// needsAudit reports whether a request is refused while the audit cannot be written.
func (s *Server) needsAudit(path string) bool {
	if slices.Contains(excepted, path) {
		return false
	}
	switch s.loaded.Audit.Required {
	case "none":
		return false
	case "all":
		return true
	}
	return s.isProtectedPath(path)
}

// isProtectedPath reports whether a path is that of identities, policies, certificates or keys.
func (s *Server) isProtectedPath(path string) bool {
	if strings.HasPrefix(path, "/auth/") || strings.HasPrefix(path, "/web/keys") {
		return true
	}
	if decidesAccess(s.addressOf(path).Module) {
		return true
	}
	for _, part := range strings.Split(path, "/") {
		module, _, qualified := strings.Cut(part, ":")
		if qualified && decidesAccess(module) {
			return true
		}
	}
	return false
}

// decidesAccess reports whether a module is one of identities, policies, certificates or keys.
func decidesAccess(module string) bool {
	return module == "aaa" || strings.HasPrefix(module, "aaa-") || module == "authorization-schema"
}

// foldRecord writes a record, and of those that are the same within a minute only so many as are free, and how many the others were.
func (s *Server) foldRecord(key string, free int, r logs.AuditRecord) {
	r, write, before := s.refusals.countRefusal(key, r, time.Now(), free)
	if !write {
		return
	}
	r.Count = before
	if before > 0 && r.Outcome == refused && r.Resource != "" {
		r.Object += " (and " + formatCount(before, "change") + " below " + s.router.subtreeOf(r.Resource) + " before)"
	}
	s.writeAudit(r, r.Outcome == passed)
}

// flushFolded writes how many records were folded since a minute and not reported since; all when everything ends.
func (s *Server) flushFolded(now time.Time, all bool) {
	for _, r := range s.refusals.dueRecords(now, all) {
		s.writeAudit(r, false)
	}
}

// foldedRecords reports folded records each minute, until ctx ends.
func (s *Server) foldedRecords(ctx context.Context) error {
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-t.C:
			s.flushFolded(now, false)
		}
	}
}

// calledByPlugin writes down an operation that a plugin had carried out for a user, or for itself.
func (s *Server) calledByPlugin(ctx context.Context, plugin, module, rpc string, err error) {
	if s.readsOnly(module, rpc) && err == nil {
		return
	}
	who, _ := caller.From(ctx)
	outcome := passed
	switch {
	case fault.KindOf(err) == fault.Denied && err != nil:
		outcome = refused
	case err != nil:
		outcome = failed
	}
	resource := operationPath(module, rpc)
	address, _, _ := net.SplitHostPort(who.Address)
	r := logs.AuditRecord{
		Who:      who.ID(),
		What:     "operation by plugin " + plugin,
		Object:   "POST " + resource,
		Outcome:  outcome,
		Address:  address,
		Request:  who.RequestID,
		Method:   http.MethodPost,
		Resource: resource,
	}
	if aaa.IsPlugin(ctx) {
		r.Who = "plugin:" + plugin
	}
	if outcome == refused {
		s.foldRecord("plugin "+r.Who+" "+resource, onlyFirst, r)
		return
	}
	protected := s.isProtectedPath(resource)
	if protected && outcome == passed {
		r.Class = logs.ClassAccess
	}
	s.writeAudit(r, protected)
}

// changeHandler writes changes of access control to the log, and to the audit unless the recorder of their request does.
type changeHandler struct {
	slog.Handler
	note func(logs.AuditRecord)
}

// Handle implements slog.Handler.
func (h changeHandler) Handle(ctx context.Context, r slog.Record) error {
	if act.Of(ctx) == nil {
		one := logs.RecordOf(r)
		one.Class = logs.ClassAccess
		h.note(one)
	}
	return h.Handler.Handle(ctx, r)
}

// lockoutCounts counts lockouts by kind (account or address) and state, for a metric without names.
type lockoutCounts struct {
	mu    sync.Mutex
	count map[[2]string]uint64
}

func (c *lockoutCounts) countLockout(kind, state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = map[[2]string]uint64{}
	}
	c.count[[2]string{kind, state}]++
}

func (c *lockoutCounts) countOf(kind, state string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count[[2]string{kind, state}]
}

// lockedOut says in log, audit and metric that an account or address is first delayed, or blocked.
func (s *Server) lockedOut(o throttle.Lockout) {
	s.lockouts.countLockout(o.Kind(), o.State)
	what, from := accounting.Clean(o.User), ""
	if o.From.IsValid() {
		from = o.From.String()
	}
	what = cmp.Or(what, from)
	r := logs.AuditRecord{
		Time:    time.Now(),
		What:    "logins " + o.State,
		Object:  o.Kind() + " " + what,
		Outcome: refused,
		Address: from,
	}
	r, write, before := s.refusals.countRefusal("lockout "+o.State+" "+what, r, r.Time, onlyFirst)
	if !write {
		return
	}
	r.Count = before
	s.log.Warn(
		"logins are "+o.State+" after wrong passwords; access:throttled shows it, access:unblock ends it",
		o.Kind(),
		what,
		"failures",
		o.Failures,
	)
	s.writeAudit(r, false)
}
