package idm

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/act"
	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Sessions are the settings of browser sessions.
type Sessions struct {
	Idle  time.Duration // unused for so long a session ends
	Life  time.Duration // used or not, it ends after this
	Plain bool          // they may be begun over plain HTTP from other machines
}

// maxAsked bounds how many requests one call of /web/me asks about, and maxAgent what is kept of a browser's name.
const (
	maxAsked = 200
	maxAgent = 200
)

// logIn is POST /web/login: it begins a session of the pages. The answer has its cookie, which no script reads.
func (h *handler) logIn(w http.ResponseWriter, r *http.Request, _ []string) (int, any, error) {
	o, err := readJSONObject(r, "user", "password")
	if err != nil {
		return 0, nil, err
	}
	user, password := o.requiredText("user"), o.requiredText("password")
	if err := o.faults.Err(); err != nil {
		return 0, nil, err
	}
	if r.TLS == nil && !h.Sessions.Plain && !authn.OnThisMachine(r) {
		return 0, nil, fault.New(fault.Denied, "a login from another machine needs HTTPS (listeners.https in etc/ctl.yaml, "+
			"or a proxy of listeners.proxies), or aaa.session.plainHTTP: true if the network is trusted")
	}
	who, err := h.passwordGrant(r, user, password)
	if err != nil {
		h.refusedLogin(w, r, err)
		return 0, nil, nil
	}
	agent := r.UserAgent()
	text, err := h.Tokens.Begin(
		r.Context(),
		who,
		r.RemoteAddr,
		strings.ToValidUTF8(agent[:min(len(agent), maxAgent)], ""),
		h.Sessions.Idle,
		h.Sessions.Life,
	)
	if err != nil {
		return 0, nil, err
	}
	if old := authn.Cookie(r); old != "" { // a login in a browser that has a session replaces it
		_, _ = h.Tokens.Revoke(r.Context(), old)
	}
	h.Change(h.withHolder(r.Context(), who), "begin session", who.ID())
	http.SetCookie(
		w,
		&http.Cookie{
			Name:     authn.CookieName(r),
			Value:    text,
			Path:     "/",
			HttpOnly: true,
			Secure:   r.TLS != nil,
			SameSite: http.SameSiteStrictMode,
		},
	)
	return http.StatusNoContent, nil, nil
}

// withHolder returns ctx with the holder as its caller, for the audit.
func (h *handler) withHolder(ctx context.Context, who token.Holder) context.Context {
	c, _ := caller.From(ctx)
	if p := who.Principal; p != nil {
		c.User, c.Domain, c.Roles = p.Name, p.Domain, p.Roles
	} else {
		c.User, c.Domain = who.Outside.Names()
	}
	by := act.Sender{User: c.ID()}
	if who.Outside != nil {
		by.Realm = who.Outside.Realm
	}
	act.Of(ctx).SentBy(by)
	return caller.With(ctx, c)
}

// asLogin is as of a login.
func (h *handler) asLogin(ctx context.Context, l *authn.Login) context.Context {
	c, _ := caller.From(ctx)
	c.User, c.Domain, c.Roles = l.User, l.Domain, l.Roles
	return caller.With(ctx, c)
}

func (h *handler) refusedLogin(w http.ResponseWriter, r *http.Request, err error) {
	var slow *throttle.BlockedError
	var silent *authn.UnavailableError
	var notFindable *authn.NotFindableError
	var later interface{ RetryAfter() time.Duration }
	if errors.As(err, &later) {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(later.RetryAfter().Seconds()))))
	}
	switch {
	case errors.As(err, &slow):
		h.writeFailure(w, r, http.StatusTooManyRequests, "too many failed logins; try again later")
	case errors.As(err, &silent):
		h.writeFailure(
			w,
			r,
			http.StatusServiceUnavailable,
			"the login cannot be verified now: a realm does not answer",
		)
	case errors.Is(err, authn.ErrRefused):
		h.writeFailure(w, r, http.StatusUnauthorized, "user or password is wrong")
	case errors.As(err, &notFindable):
		h.writeFailure(w, r, http.StatusForbidden, err.Error())
	default:
		h.writeFault(w, r, err)
	}
}

// findSender finds out who sends a request that stands outside of the rules: by its Authorization header, else by
// its session. A request without a login is answered, and nil returned.
func (h *handler) findSender(w http.ResponseWriter, r *http.Request) *authn.Login {
	l, _, _, err := h.Authn.Sender(r.Context(), r, remoteAddrPort(r), rules.Basic|rules.Bearer)
	switch {
	case err == nil:
		h.Authn.SentBy(r.Context(), l)
		return l
	case errors.Is(err, authn.ErrNoOrigin):
		h.writeFailure(w, r, http.StatusForbidden, err.Error())
	case errors.Is(err, authn.ErrRefused):
		Fail(w, r, http.StatusUnauthorized, "login", "there is no session, or it has ended: log in")
	default:
		h.refusedLogin(w, r, err)
	}
	return nil
}

// logOut is POST /web/logout: it ends the session of its cookie, and has the browser forget what it keeps of the pages.
func (h *handler) logOut(w http.ResponseWriter, r *http.Request, _ []string) (int, any, error) {
	if text := authn.Cookie(r); text != "" {
		if !authn.ProvesOrigin(r) {
			return 0, nil, fault.New(
				fault.Denied,
				"a logout needs the header Origin, which browsers send",
			)
		}
		who, err := h.Tokens.Lookup(r.Context(), text, true)
		if err == nil && who.Known() {
			h.Change(h.withHolder(r.Context(), who), "end session", who.ID())
		}
		if _, err := h.Tokens.Revoke(r.Context(), text); err != nil {
			return 0, nil, err
		}
	}
	http.SetCookie(
		w,
		&http.Cookie{
			Name:     authn.CookieName(r),
			Path:     "/",
			MaxAge:   -1,
			HttpOnly: true,
			Secure:   r.TLS != nil,
			SameSite: http.SameSiteStrictMode,
		},
	)
	w.Header().Set("Clear-Site-Data", `"cache"`)
	return http.StatusNoContent, nil, nil
}

// showSelf is GET /web/me: who asks, with which roles, until when, and for each parameter may=METHOD+PATH whether the
// rules and policies would allow it. It answers every user who is logged in, so that a page can distinguish a role
// that
// is missing from a session that has ended.
func (h *handler) showSelf(w http.ResponseWriter, r *http.Request, _ []string) (int, any, error) {
	l := h.findSender(w, r)
	if l == nil {
		return 0, nil, nil
	}
	asked := r.URL.Query()["may"]
	if len(asked) > maxAsked {
		return 0, nil, fault.New(
			fault.Invalid,
			"at most %d requests can be checked at once",
			maxAsked,
		)
	}
	c, _ := caller.From(r.Context())
	c.User, c.Domain, c.Roles = l.User, l.Domain, l.Roles
	may := map[string]bool{}
	for _, one := range asked {
		method, path, _ := strings.Cut(one, " ")
		may[one] = h.May(r.Context(), c, method, path) == nil
	}
	session, err := h.Tokens.SessionInfo(r.Context(), authn.Cookie(r))
	if err != nil {
		return 0, nil, err
	}
	roles := append([]string{}, l.Roles...) // [] in JSON, not null
	return http.StatusOK, map[string]any{
		"user":    l.User,
		"domain":  l.Domain,
		"roles":   roles,
		"local":   l.Local,
		"session": session,
		"may":     may,
	}, nil
}

// listSessions is GET /web/sessions: the sessions of the user who asks.
func (h *handler) listSessions(
	w http.ResponseWriter,
	r *http.Request,
	_ []string,
) (int, any, error) {
	l := h.findSender(w, r)
	if l == nil {
		return 0, nil, nil
	}
	list, err := h.Tokens.Sessions(r.Context(), holderID(l), authn.Cookie(r))
	return http.StatusOK, map[string]any{"sessions": list}, err
}

// endSession is DELETE /web/sessions/{id}, of a session of the user who asks; the role admin may end those of all, and
// tokens by the id that access:tokens shows.
func (h *handler) endSession(
	w http.ResponseWriter,
	r *http.Request,
	id []string,
) (int, any, error) {
	l := h.findSender(w, r)
	if l == nil {
		return 0, nil, nil
	}
	whose, err := h.Tokens.End(r.Context(), holderID(l), id[0])
	if err == nil && whose == "" && slices.Contains(l.Roles, "admin") {
		whose, err = h.Tokens.End(r.Context(), "", id[0])
	}
	if err == nil && whose == "" {
		err = fault.New(fault.NotFound, "you have no session of this id")
	}
	if err == nil {
		h.Change(h.asLogin(r.Context(), l), "end session", whose)
	}
	return http.StatusNoContent, nil, err
}

func holderID(l *authn.Login) string {
	if l.Outside != nil {
		return token.Holder{Outside: l.Outside}.ID()
	}
	return l.User + "@" + l.Domain
}

// changeOwnPassword is POST /auth/password: every user of the controller's own realm changes its own
// password with the present one. All its logins and tokens end.
func (h *handler) changeOwnPassword(
	w http.ResponseWriter,
	r *http.Request,
	_ []string,
) (int, any, error) {
	o, err := readJSONObject(r, "current", "password")
	if err != nil {
		return 0, nil, err
	}
	current, fresh := o.requiredText("current"), o.requiredText("password")
	if err := o.faults.Err(); err != nil {
		return 0, nil, err
	}
	who, ok := caller.From(r.Context())
	if !ok || who.User == "" {
		h.writeFailure(
			w,
			r,
			http.StatusUnauthorized,
			"log in with the account whose password is to be changed",
		)
		return 0, nil, nil
	}
	return http.StatusNoContent, nil, h.OwnPassword(
		r.Context(),
		who.User+"@"+who.Domain,
		current,
		fresh,
		remoteAddrPort(r),
	)
}
