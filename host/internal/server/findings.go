package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/accounting"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/host/internal/troubles"
)

// finding is a trouble of this node.
type finding struct {
	troubles.Trouble
	passing bool // it is expected to end by itself within moments
}

// The kinds of the controller's own troubles; those of readiness are store, quorum, lease, disk and audit.
const (
	kindPlugin      = "plugin"
	kindModules     = "yang-modules"
	kindCertificate = "certificate-ends"
	kindLockout     = "lockout"
)

const (
	// warnBefore is how long before its end a certificate is spoken of.
	warnBefore = 30 * 24 * time.Hour
	// startsWithin is how long a plugin may take to start, or to stop, before that is a trouble.
	startsWithin = 15 * time.Second
)

// findings are the troubles of this node, as they are now. Those that are no warning keep the controller from serving
// all it should.
func (s *Server) findings(ctx context.Context) []finding {
	var out []finding
	for _, r := range s.storeFindings(ctx) {
		out = append(out, finding{Trouble: troubles.Trouble{
			Kind:     r.What,
			Resource: r.What,
			Cause:    r.Why,
			Remedy:   r.Remedy,
		}})
	}
	out = append(out, s.pluginFindings()...)
	out = append(out, s.certificateFindings()...)
	return append(out, s.lockoutFindings()...)
}

// storeFindings are what is wrong with the store, the disks and the lease.
func (s *Server) storeFindings(ctx context.Context) []reason {
	out := append(append(s.storeReasons(ctx), s.listFailures()...), diskReasons(s.home)...)
	if s.roles.Clustered() && s.roles.Valid() == 0 {
		out = append(out, newReason("lease", "this node has no lease, so it holds no role: the store does not answer, or this home is a copy of another",
			"the log says which; a copied home gets an identity of its own when its data/node.pem is removed"))
	}
	return out
}

// pluginFindings are the plugins that do not serve, or not well.
func (s *Server) pluginFindings() (out []finding) {
	for _, p := range s.plugins.List() {
		t := troubles.Trouble{
			Kind:     kindPlugin,
			Resource: "plugin " + p.Name,
			Since:    p.Since.UTC().Truncate(time.Second),
			Cause:    strings.TrimSuffix(p.State.String()+": "+p.Reason, ": "),
			Remedy:   pluginRemedy(p),
		}
		switch {
		case p.State == plugin.Degraded:
			t.Warning = true
			t.Remedy = "ctl plugin:info " + p.Name + " shows its state and its last log lines"
			out = append(out, finding{Trouble: t})
		case !p.State.Serving() && p.State != plugin.Standby:
			moves := p.State == plugin.Starting || p.State == plugin.Stopping
			out = append(out, finding{t, moves && time.Since(p.Since) < startsWithin})
		}
		if why := s.catalog.refusalReason(p.Name); why != "" {
			out = append(out, finding{Trouble: troubles.Trouble{
				Kind:     kindModules,
				Resource: "plugin " + p.Name,
				Cause:    "its YANG modules are refused: " + why,
				Remedy: "install a version of the plugin whose modules fit the others; ctl plugin:check " + p.Name +
					" shows the fault",
			}})
		}
	}
	return out
}

// certificateFindings say that the certificate which clients see ends soon.
func (s *Server) certificateFindings() []finding {
	shown := s.certs.shownCertificate()
	if shown == nil {
		return nil
	}
	ends := shown.Expires()
	if ends.IsZero() || time.Until(ends) > warnBefore {
		return nil
	}
	cause := "it, or one of its chain, ends "
	if time.Now().After(ends) {
		cause = "it, or one of its chain, has ended "
	}
	return []finding{{Trouble: troubles.Trouble{
		Kind:     kindCertificate,
		Resource: "certificate https",
		Subject:  "certificate of the controller",
		Warning:  true,
		Cause:    cause + formatInstant(ends),
		Remedy:   "get a new one and import it; the chapter Certificates of the documentation says how",
	}}}
}

// lockoutFindings are the accounts and addresses whose logins are refused.
func (s *Server) lockoutFindings() (out []finding) {
	for _, o := range s.aaa.Lockouts() {
		if o.State != throttle.Blocked || len(out) >= maxLockouts {
			continue
		}
		what := accounting.Clean(o.User)
		from := ""
		if o.From.IsValid() {
			from = o.From.String()
		}
		name := strings.TrimSpace(what + " " + from)
		unblock := what
		if unblock == "" {
			unblock = from
		}
		out = append(out, finding{Trouble: troubles.Trouble{
			Kind:       kindLockout,
			Resource:   o.Kind() + " " + name,
			Warning:    true,
			Restricted: true,
			Cause:      fmt.Sprintf("logins are refused after %d wrong passwords", o.Failures),
			Remedy: "it ends by itself; ctl access:throttled shows until when, ctl access:unblock " + unblock +
				" ends it at once",
		}})
	}
	return out
}

// maxLockouts are listed at most: an attack from many addresses makes thousands.
const maxLockouts = 50
