package idm

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// oauthError is an error answer of RFC 6749 section 5.2.
type oauthError struct {
	status            int
	Code, Description string
}

func (h *handler) oauthFail(w http.ResponseWriter, r *http.Request, e oauthError) {
	w.Header().Set("Pragma", "no-cache")
	body := map[string]string{"error": e.Code}
	if e.Description != "" {
		body["error_description"] = e.Description
	}
	h.ok(w, r, e.status, body)
}

func badRequest(description string) oauthError {
	return oauthError{http.StatusBadRequest, "invalid_request", description}
}

// form reads a form body; credentials in the query are ignored, as section
// 2.3.1 wants, and a field sent twice is an error.
func form(r *http.Request) (url.Values, error) {
	if err := wantType(r, "application/x-www-form-urlencoded"); err != nil {
		return nil, err
	}
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	return parseForm(string(data))
}

func parseForm(data string) (url.Values, error) {
	v, err := url.ParseQuery(data)
	if err != nil {
		return nil, fault.New(fault.Malformed, "the form cannot be read")
	}
	for k, values := range v {
		if len(values) > 1 {
			return nil, fault.New(fault.Malformed, "field %s is sent twice", k)
		}
	}
	return v, nil
}

func address(r *http.Request) netip.AddrPort {
	a, _ := netip.ParseAddrPort(r.RemoteAddr)
	return a
}

// issueToken is /oauth2/token: the grants password and refresh_token. No answer
// tells an unknown user from a wrong password.
func (h *handler) issueToken(w http.ResponseWriter, r *http.Request, _ []string) {
	f, err := form(r)
	if err != nil {
		e := badRequest(err.Error())
		if fault.KindOf(err) == fault.TooBig {
			e.status = http.StatusRequestEntityTooLarge
		}
		h.oauthFail(w, r, e)
		return
	}
	var p *identity.Principal
	switch grant := f.Get("grant_type"); {
	case grant == "":
		h.oauthFail(w, r, badRequest("grant_type is missing"))
		return
	case grant != "password" && grant != "refresh_token":
		h.oauthFail(w, r, oauthError{http.StatusBadRequest, "unsupported_grant_type", "password and refresh_token are supported"})
		return
	case grant == "password" && (f.Get("username") == "" || f.Get("password") == ""):
		h.oauthFail(w, r, badRequest("username and password are required"))
		return
	case grant == "refresh_token" && f.Get("refresh_token") == "":
		h.oauthFail(w, r, badRequest("refresh_token is required"))
		return
	case f.Get("scope") != "" && f.Get("scope") != identity.SDN:
		h.oauthFail(w, r, oauthError{http.StatusBadRequest, "invalid_scope", "the only scope is " + identity.SDN})
		return
	case grant == "password":
		p, err = h.passwordGrant(r, f)
	default:
		p, err = h.Tokens.Lookup(r.Context(), f.Get("refresh_token"))
	}
	if err == nil && p == nil {
		err = authn.ErrRefused
	}
	if err != nil {
		h.refusedGrant(w, r, err)
		return
	}
	t, err := h.Tokens.Issue(r.Context(), p)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	c, _ := caller.From(r.Context())
	c.User, c.Domain, c.Roles = p.Name, p.Domain, p.Roles
	h.Change(caller.With(r.Context(), c), "issue token", p.ID())
	w.Header().Set("Pragma", "no-cache")
	h.ok(w, r, http.StatusOK, struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int    `json:"expires_in"`
	}{t, "Bearer", int(h.Tokens.ExpiresIn().Seconds())})
}

var errOutside = errors.New("tokens are issued to users of the controller's own realm only: the rights of others cannot be looked up at use")

func (h *handler) passwordGrant(r *http.Request, f url.Values) (*identity.Principal, error) {
	l, err := h.Authn.Login(r.Context(), authn.Credentials{User: f.Get("username"), Password: f.Get("password"), Address: address(r)})
	if err != nil {
		return nil, err
	}
	if !l.Local {
		return nil, errOutside
	}
	return h.Identity.Principal(r.Context(), l.User+"@"+l.Domain)
}

func (h *handler) refusedGrant(w http.ResponseWriter, r *http.Request, err error) {
	var slow *throttle.BlockedError
	var silent *authn.UnavailableError
	switch {
	case errors.As(err, &silent):
		w.Header().Set("Retry-After", strconv.Itoa(int(silent.RetryAfter().Seconds())))
		h.oauthFail(w, r, oauthError{http.StatusServiceUnavailable, "temporarily_unavailable", "the credentials cannot be verified now"})
	case errors.As(err, &slow):
		w.Header().Set("Retry-After", strconv.Itoa(int(slow.RetryAfter().Seconds())))
		h.oauthFail(w, r, oauthError{http.StatusTooManyRequests, "temporarily_unavailable", "too many failed logins; try again later"})
	case errors.Is(err, authn.ErrRefused):
		h.oauthFail(w, r, oauthError{http.StatusBadRequest, "invalid_grant", "the credentials were refused"})
	case errors.Is(err, errOutside):
		h.oauthFail(w, r, oauthError{http.StatusBadRequest, "invalid_grant", err.Error()})
	case errors.Is(err, context.Canceled): // the client has gone
	default:
		h.Log.ErrorContext(r.Context(), "a token could not be issued", "error", err)
		w.Header().Set("Retry-After", "1")
		h.oauthFail(w, r, oauthError{http.StatusServiceUnavailable, "temporarily_unavailable", "the credentials cannot be verified now"})
	}
}

// revokeToken is /oauth2/revoke: a form with the field token (RFC 7009, always
// 200), or the token as the whole body (204, and 401 when there is no such one).
func (h *handler) revokeToken(w http.ResponseWriter, r *http.Request, _ []string) {
	data, err := readAll(r)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	line, _, _ := strings.Cut(string(data), "\n")
	line = strings.TrimSpace(line)
	raw := !strings.Contains(line, "=")
	if !raw {
		f, err := parseForm(string(data))
		if err != nil || f.Get("token") == "" {
			h.oauthFail(w, r, badRequest("the field token is missing"))
			return
		}
		line = f.Get("token")
	}
	info, err := h.Tokens.Info(r.Context(), line)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	found, err := h.Tokens.Revoke(r.Context(), line)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	if found && info != nil {
		h.Change(r.Context(), "revoke token", info.Principal.ID())
	}
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case !raw:
		w.WriteHeader(http.StatusOK)
	case found:
		w.WriteHeader(http.StatusNoContent)
	default:
		h.oauthFail(w, r, oauthError{status: http.StatusUnauthorized, Code: "unauthorized"})
	}
}

// introspectToken is /oauth2/introspect (RFC 7662). Who holds a token may ask
// about it; credentials are checked when they are sent.
func (h *handler) introspectToken(w http.ResponseWriter, r *http.Request, _ []string) {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	if _, present, err := h.Authn.Request(r.Context(), r.Header, from, rules.Basic|rules.Bearer); present && err != nil {
		h.refusedClient(w, r, err)
		return
	}
	f, err := form(r)
	if err != nil || f.Get("token") == "" {
		h.oauthFail(w, r, badRequest("a form with the field token is expected"))
		return
	}
	info, err := h.Tokens.Info(r.Context(), f.Get("token"))
	if err != nil {
		h.fault(w, r, err)
		return
	}
	if info == nil {
		h.ok(w, r, http.StatusOK, map[string]bool{"active": false})
		return
	}
	p := info.Principal
	h.ok(w, r, http.StatusOK, map[string]any{
		"active": true, "scope": identity.SDN, "username": p.Name, "sub": p.ID(), "token_type": "Bearer",
		"iat": info.Issued.Unix(), "exp": info.Expires.Unix(),
	})
}

func (h *handler) refusedClient(w http.ResponseWriter, r *http.Request, err error) {
	if !errors.Is(err, authn.ErrRefused) {
		h.refusedGrant(w, r, err)
		return
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="application", charset="UTF-8"`)
	h.oauthFail(w, r, oauthError{http.StatusUnauthorized, "invalid_client", "the credentials were refused"})
}
