package realmjwt

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"ctl.internal/sdk/realm"
)

// introspection asks the provider whether a token, whose signature is good, was revoked (RFC 7662).
type introspection struct {
	client       *http.Client
	address      string
	name, secret string // of this controller at the provider
}

// readIntrospection returns nil where it is not set.
func readIntrospection(r *realm.Reader) *introspection {
	s := &introspection{
		address: r.String("introspection-uri", ""),
		name:    r.String("client-id", ""),
		secret:  r.String("client-secret", ""),
	}
	checkAddress(r, "introspection-uri", s.address)
	switch {
	case s.address == "" && s.name == "" && s.secret == "":
		return nil
	case s.address == "" || s.name == "" || s.secret == "":
		r.Fault("introspection-uri", "introspection-uri, client-id and client-secret must be set together")
	}
	return s
}

// isActive reports whether a token is still valid for the provider. An answer that is no clear yes or no is an error.
func (s *introspection) isActive(ctx context.Context, token string) (bool, error) {
	form := url.Values{
		"token":           {token},
		"token_type_hint": {"access_token"},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, strings.NewReader(form.Encode()))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(s.name), url.QueryEscape(s.secret)) // RFC 6749, 2.3.1
	var said struct {
		Active *bool `json:"active"`
	}
	if err := readJSON(s.client, r, &said); err != nil {
		return false, err
	}
	if said.Active == nil {
		return false, fmt.Errorf("%s does not say whether the token is active", s.address)
	}
	return *said.Active, nil
}
