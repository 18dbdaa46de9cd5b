package idm

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/sdk/fault"
)

// oauthError is an error answer of RFC 6749 section 5.2.
type oauthError struct {
	status            int
	Code, Description string
}

func (e oauthError) Error() string {
	return e.Code + ": " + e.Description
}

func (h *handler) oauthFail(w http.ResponseWriter, r *http.Request, e oauthError) {
	w.Header().Set("Pragma", "no-cache")
	body := map[string]string{"error": e.Code}
	if e.Description != "" {
		body["error_description"] = e.Description
	}
	Answer(w, r, e.status, body)
}

func badRequest(description string) oauthError {
	return oauthError{http.StatusBadRequest, "invalid_request", description}
}

// readForm reads a form body; credentials in the query are ignored, as section
// 2.3.1 wants, and a field sent twice is an error.
func readForm(r *http.Request) (url.Values, error) {
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

func remoteAddrPort(r *http.Request) netip.AddrPort {
	a, _ := netip.ParseAddrPort(r.RemoteAddr)
	return a
}

// issueToken is /oauth2/token: the grants password and refresh_token. No answer
// distinguishes an unknown user from a wrong password.
func (h *handler) issueToken(w http.ResponseWriter, r *http.Request, _ []string) (int, any, error) {
	f, err := readForm(r)
	if err != nil {
		e := badRequest(err.Error())
		if fault.KindOf(err) == fault.TooBig {
			e.status = http.StatusRequestEntityTooLarge
		}
		return 0, nil, e
	}
	var who token.Holder
	var pair token.Pair
	switch grant := f.Get("grant_type"); {
	case grant == "":
		return 0, nil, badRequest("grant_type is missing")
	case grant != "password" && grant != "refresh_token":
		return 0, nil, oauthError{http.StatusBadRequest, "unsupported_grant_type", "password and refresh_token are supported"}
	case grant == "password" && (f.Get("username") == "" || f.Get("password") == ""):
		return 0, nil, badRequest("username and password are required")
	case grant == "refresh_token" && f.Get("refresh_token") == "":
		return 0, nil, badRequest("refresh_token is required")
	case f.Get("scope") != "" && f.Get("scope") != identity.SDN:
		return 0, nil, oauthError{http.StatusBadRequest, "invalid_scope", "the only scope is " + identity.SDN}
	case grant == "password":
		who, err = h.passwordGrant(r, f.Get("username"), f.Get("password"))
		if err == nil {
			pair, err = h.Tokens.Grant(r.Context(), who)
		}
	default:
		pair, who, err = h.Tokens.Exchange(r.Context(), f.Get("refresh_token"), func(who token.Holder) error {
			if who.Outside == nil {
				return nil
			}
			_, err := h.Authn.Find(r.Context(), *who.Outside)
			return err
		})
	}
	if err == nil && pair.Access == "" {
		err = authn.ErrRefused
	}
	if err != nil {
		return 0, nil, h.refusedGrant(w, r, err)
	}
	h.Change(h.withHolder(r.Context(), who), "issue token", who.ID())
	w.Header().Set("Pragma", "no-cache")
	return http.StatusOK, struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int    `json:"expires_in"`
		Refresh string `json:"refresh_token,omitempty"`
	}{pair.Access, "Bearer", int(pair.Life.Seconds()), pair.Refresh}, nil
}

// passwordGrant finds out who sends a password. The rights of outside users are looked up at use; where their realm
// cannot look them up, those of this login hold for a short time.
func (h *handler) passwordGrant(r *http.Request, user, password string) (token.Holder, error) {
	l, err := h.Authn.Login(
		r.Context(),
		authn.Credentials{
			User:     user,
			Password: password,
			Address:  remoteAddrPort(r),
		},
	)
	if err != nil {
		return token.Holder{}, err
	}
	if !l.Local {
		who := *l.Outside
		_, err := h.Authn.Find(r.Context(), who)
		if errors.As(err, new(*authn.NotFindableError)) {
			who.Held, who.Roles = true, strings.Join(l.Roles, "\n")
			err = nil
		}
		return token.Holder{Outside: &who}, err
	}
	p, err := h.Identity.Principal(r.Context(), l.User+"@"+l.Domain)
	demand := h.Identity.MustChange(p)
	if err == nil && demand != "" {
		return token.Holder{}, &authn.NotFindableError{Reason: demand}
	}
	return token.Holder{Principal: p}, err
}

// refusedGrant is the answer to a login that failed; nil when the client has gone.
func (h *handler) refusedGrant(w http.ResponseWriter, r *http.Request, err error) error {
	var slow *throttle.BlockedError
	var silent *authn.UnavailableError
	var notFindable *authn.NotFindableError
	var many *token.TooManyError
	switch {
	case errors.As(err, &many):
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(many.RetryAfter().Seconds()))))
		return oauthError{http.StatusTooManyRequests, "temporarily_unavailable", err.Error()}
	case errors.As(err, &silent):
		w.Header().Set("Retry-After", strconv.Itoa(int(silent.RetryAfter().Seconds())))
		return oauthError{http.StatusServiceUnavailable, "temporarily_unavailable", "the credentials cannot be verified now"}
	case errors.As(err, &slow):
		w.Header().Set("Retry-After", strconv.Itoa(int(slow.RetryAfter().Seconds())))
		return oauthError{http.StatusTooManyRequests, "temporarily_unavailable", "too many failed logins; try again later"}
	case errors.Is(err, authn.ErrRefused):
		return oauthError{http.StatusBadRequest, "invalid_grant", "the credentials were refused"}
	case errors.As(err, &notFindable):
		return oauthError{http.StatusBadRequest, "invalid_grant", err.Error()}
	case errors.Is(err, context.Canceled):
		return nil
	default:
		h.Log.ErrorContext(r.Context(), "a token could not be issued", "error", err)
		w.Header().Set("Retry-After", "1")
		return oauthError{http.StatusServiceUnavailable, "temporarily_unavailable", "the credentials cannot be verified now"}
	}
}

// revokeToken is /oauth2/revoke: a form with the field token (RFC 7009, always
// 200), or the token as the whole body (204, and 401 when there is no such one).
func (h *handler) revokeToken(
	w http.ResponseWriter,
	r *http.Request,
	_ []string,
) (int, any, error) {
	data, err := readAll(r)
	if err != nil {
		return 0, nil, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	line = strings.TrimSpace(line)
	raw := !strings.Contains(line, "=")
	if !raw {
		f, err := parseForm(string(data))
		if err != nil || f.Get("token") == "" {
			return 0, nil, badRequest("the field token is missing")
		}
		line = f.Get("token")
	}
	info, err := h.Tokens.Info(r.Context(), line)
	if err != nil {
		return 0, nil, err
	}
	found, err := h.Tokens.Revoke(r.Context(), line)
	if err != nil {
		return 0, nil, err
	}
	if found && info != nil {
		h.Change(r.Context(), "revoke token", info.ID())
	}
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case !raw:
		w.WriteHeader(http.StatusOK)
		return 0, nil, nil
	case found:
		return http.StatusNoContent, nil, nil
	}
	return 0, nil, oauthError{
		status: http.StatusUnauthorized,
		Code:   "unauthorized",
	}
}

// introspectToken is /oauth2/introspect (RFC 7662), for callers with credentials: administrators may ask
// about any token, others about their own.
func (h *handler) introspectToken(
	w http.ResponseWriter,
	r *http.Request,
	_ []string,
) (int, any, error) {
	asks, _, err := h.Authn.Request(
		r.Context(),
		r.Header,
		remoteAddrPort(r),
		rules.Basic|rules.Bearer,
	)
	if errors.Is(err, authn.ErrRefused) {
		w.Header().Set("WWW-Authenticate", `Basic realm="application", charset="UTF-8"`)
		return 0, nil, oauthError{http.StatusUnauthorized, "invalid_client", "the credentials were refused"}
	}
	if err != nil {
		return 0, nil, h.refusedGrant(w, r, err)
	}
	f, err := readForm(r)
	if err != nil || f.Get("token") == "" {
		return 0, nil, badRequest("a form with the field token is expected")
	}
	info, err := h.Tokens.Info(r.Context(), f.Get("token"))
	if err != nil {
		return 0, nil, err
	}
	if info == nil || !mayIntrospect(asks, info.Holder) {
		return http.StatusOK, map[string]bool{"active": false}, nil
	}
	name := ""
	if info.Principal != nil {
		name = info.Principal.Name
	} else {
		name = cmp.Or(info.Outside.Principal, info.Outside.User)
		if _, err := h.Authn.Find(r.Context(), *info.Outside); errors.Is(err, authn.ErrRefused) {
			return http.StatusOK, map[string]bool{"active": false}, nil
		}
	}
	return http.StatusOK, map[string]any{
		"active":     true,
		"scope":      identity.SDN,
		"username":   name,
		"sub":        info.ID(),
		"token_type": "Bearer",
		"iat":        info.Issued.Unix(),
		"exp":        info.Expires.Unix(),
	}, nil
}

func mayIntrospect(l *authn.Login, of token.Holder) bool {
	switch {
	case slices.Contains(l.Roles, "admin"):
		return true
	case of.Principal != nil:
		return l.Local && of.ID() == l.User+"@"+l.Domain
	}
	return l.Outside != nil && of.ID() == holderID(l)
}

// serverMetadata is /.well-known/oauth-authorization-server (RFC 8414).
func (h *handler) serverMetadata(
	_ http.ResponseWriter,
	r *http.Request,
	_ []string,
) (int, any, error) {
	issuer := "http://" + r.Host
	if r.TLS != nil {
		issuer = "https://" + r.Host
	}
	return http.StatusOK, map[string]any{
		"issuer":                                        issuer,
		"token_endpoint":                                issuer + "/oauth2/token",
		"revocation_endpoint":                           issuer + "/oauth2/revoke",
		"introspection_endpoint":                        issuer + "/oauth2/introspect",
		"response_types_supported":                      []string{},
		"grant_types_supported":                         []string{"password", "refresh_token"},
		"scopes_supported":                              []string{identity.SDN},
		"token_endpoint_auth_methods_supported":         []string{"none"},
		"revocation_endpoint_auth_methods_supported":    []string{"none"},
		"introspection_endpoint_auth_methods_supported": []string{"client_secret_basic"},
	}, nil
}
