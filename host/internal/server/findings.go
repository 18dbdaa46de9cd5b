package server

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/accounting"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/host/internal/troubles"
)

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
func (s *Server) findings(ctx context.Context) (out []troubles.Trouble) {
	for _, r := range s.storeFindings(ctx) {
		out = append(out, troubles.Trouble{
			Kind:     r.What,
			Resource: r.What,
			Cause:    r.Why,
			Remedy:   r.Remedy,
		})
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
func (s *Server) pluginFindings() (out []troubles.Trouble) {
	for _, p := range s.plugins.List() {
		out = append(out, pluginTroubles(p, s.catalog.refusalReason(p.Name), time.Now())...)
	}
	return out
}

// pluginTroubles are what is wrong with a plugin; refused is why its YANG modules are, empty: they are not.
func pluginTroubles(p plugin.Info, refused string, now time.Time) (out []troubles.Trouble) {
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
		t.Remedy = "ctl plugin:info " + argument(p.Name) + " shows its state and its last log lines"
		out = append(out, t)
	case !p.State.Serving() && p.State != plugin.Standby:
		moves := p.State == plugin.Starting || p.State == plugin.Stopping
		t.Passing = moves && now.Sub(p.Since) < startsWithin
		out = append(out, t)
	}
	if refused != "" {
		out = append(out, troubles.Trouble{
			Kind:     kindModules,
			Resource: "plugin " + p.Name,
			Cause:    "its YANG modules are refused: " + refused,
			Remedy: "install a version of the plugin whose modules fit the others; ctl plugin:check " +
				argument(p.Name) + " shows the fault",
		})
	}
	return out
}

// certificateFindings say that the certificate which clients see ends soon.
func (s *Server) certificateFindings() []troubles.Trouble {
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
	return []troubles.Trouble{{
		Kind:     kindCertificate,
		Resource: "certificate https",
		Subject:  "certificate of the controller",
		Warning:  true,
		Cause:    cause + formatInstant(ends),
		Remedy:   "get a new one and import it; the chapter Certificates of the documentation says how",
	}}
}

// lockoutFindings are the accounts and addresses whose logins are refused.
func (s *Server) lockoutFindings() (out []troubles.Trouble) {
	for _, o := range s.aaa.Lockouts() {
		if o.State == throttle.Blocked && len(out) < maxLockouts {
			out = append(out, lockoutTrouble(o))
		}
	}
	return out
}

func lockoutTrouble(o throttle.Lockout) troubles.Trouble {
	user, from := accounting.Clean(o.User), ""
	if o.From.IsValid() {
		from = o.From.String()
	}
	return troubles.Trouble{
		Kind:       kindLockout,
		Resource:   o.Kind() + " " + strings.TrimSpace(user+" "+from),
		Warning:    true,
		Restricted: true,
		Cause:      fmt.Sprintf("logins are refused after %d wrong passwords", o.Failures),
		Remedy: "it ends by itself; ctl access:throttled shows until when, ctl access:unblock " +
			argument(cmp.Or(user, from)) + " ends it at once",
	}
}

// plainArgument is a word that means itself in every shell, and is no option.
var plainArgument = regexp.MustCompile(`^[A-Za-z0-9._@:][A-Za-z0-9._@:-]*$`)

// argument is a name in the command of a remedy, which people paste into a shell: others choose the names of accounts
// and of files. NAME is used for one that a shell may read as something else.
func argument(name string) string {
	if plainArgument.MatchString(name) {
		return name
	}
	return "NAME"
}

// maxLockouts are listed at most: an attack from many addresses makes thousands.
const maxLockouts = 50
