package aaa

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/idm"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
)

// The reasons in the body of a refusal: a page asks for a login only for reasonLogin and reasonSession.
const (
	reasonLogin   = "login"   // credentials are missing or wrong
	reasonSession = "session" // the session of the pages has ended
	reasonRole    = "role"    // who asks is known, and may not
)

func (a *AAA) refuseRequest(w http.ResponseWriter, r *http.Request, v rules.Verdict, e *env) {
	switch {
	case errors.Is(e.err, context.Canceled): // the client has gone
	case e.err != nil:
		a.log.Error("a login could not be verified", "error", e.err)
		w.Header().Set("Retry-After", "1")
		a.answerRefusal(w, r, http.StatusServiceUnavailable, "", "the login cannot be verified now")
	case v == rules.Malformed:
		a.answerRefusal(w, r, http.StatusBadRequest, "", "a rule refuses this form of path")
	case v == rules.Busy:
		w.Header().Set("Retry-After", strconv.Itoa(e.retry))
		a.answerRefusal(
			w,
			r,
			http.StatusTooManyRequests,
			"",
			"too many failed logins; try again later",
		)
	case v == rules.Unknown:
		w.Header().Set("Retry-After", strconv.Itoa(e.retry))
		a.answerRefusal(
			w,
			r,
			http.StatusServiceUnavailable,
			"",
			"the login cannot be verified now: a realm does not answer",
		)
	case e.demand != "":
		a.answerRefusal(w, r, http.StatusForbidden, "", e.demand)
	case v == rules.Denied:
		a.answerRefusal(
			w,
			r,
			a.o.RoleDeniedStatus,
			reasonRole,
			"this needs a role or permission that the user does not have"+a.describeRoleRule(r),
		)
	case isPageRequest(r) && r.Header.Get("Authorization") == "" && a.o.Page != nil:
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
	default:
		a.challengeClient(w, r, e)
	}
}

// describeRoleRule says which rule asks for the role, if one does by itself.
func (a *AAA) describeRoleRule(r *http.Request) string {
	p, ok := reqpath.From(r.Context())
	if !ok {
		return ""
	}
	m := a.rules.Match(p.Segments())
	if m == nil {
		return ""
	}
	return fmt.Sprintf(": line %d of etc/sec.ini is %s = %s", m.Line, m.Pattern.String(), m.Text)
}

func (a *AAA) challengeClient(w http.ResponseWriter, r *http.Request, e *env) {
	challenge := `Basic realm="` + a.realm + `", charset="UTF-8"`
	reason := reasonLogin
	text := "credentials are required"
	switch sent := r.Header.Get("Authorization"); {
	case sent != "":
		text = "the credentials were refused: user, password or token"
		scheme, _, _ := strings.Cut(sent, " ")
		if strings.EqualFold(scheme, "bearer") { // RFC 6750 section 3
			challenge = `Bearer realm="` + a.realm + `", error="invalid_token", error_description="the token has expired, was revoked or is unknown"`
		}
	case e.ended:
		reason, text = reasonSession, "the session has ended: log in again"
	}
	// a browser would ask for a password in a window of its own
	if r.Header.Get("X-Requested-With") == "ctl" || authn.Cookie(r) != "" {
		challenge = `Session realm="` + a.realm + `"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	a.answerRefusal(w, r, http.StatusUnauthorized, reason, text)
}

// isPageRequest reports whether a browser asks for a page to show to a person.
func isPageRequest(r *http.Request) bool {
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return r.Method == http.MethodGet && strings.HasPrefix(r.Header.Get("Accept"), "text/html")
}

func (a *AAA) answerRefusal(
	w http.ResponseWriter,
	r *http.Request,
	status int,
	reason, text string,
) {
	if a.o.Page != nil && isPageRequest(r) {
		w.Header().Set("Cache-Control", "no-store")
		a.o.Page(w, r, status, text)
		return
	}
	decided := status == http.StatusUnauthorized || status == http.StatusForbidden
	if a.o.Unusable != nil && !decided && a.o.Unusable(w, r, status, text) {
		return
	}
	idm.Fail(w, r, status, reason, text)
}
