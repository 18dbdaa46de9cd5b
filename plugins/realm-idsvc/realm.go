package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"unicode/utf8"

	"ctl.internal/sdk/realm"
)

// What an answer may be long, and a name, in bytes.
const (
	maxAnswer = 1 << 20
	maxName   = 255
)

// service is one instance of etc/sec.ini.
type service struct {
	client           *http.Client
	endpoint, domain string
	appCred          bool
}

// Authenticate implements realm.Realm.
func (s *service) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	domain := c.Domain
	if domain == "" {
		domain = s.domain
	}
	switch {
	case c.User == "" || c.Password == "":
		return refused("an empty name or password")
	case len(c.User) > maxName || len(domain) > maxName || !utf8.ValidString(c.User+domain+c.Password):
		return refused("no identity service holds such a name")
	}
	request := passwordLogin(c.User, domain, c.Password)
	if s.appCred && c.Domain == "" && credentialID.MatchString(c.User) {
		request = credentialLogin(c.User, c.Password)
	}
	status, body, err := s.post(ctx, request)
	if err != nil {
		return realm.Result{}, err
	}
	return verdict(c.User, status, body)
}

func refused(why string) (realm.Result, error) {
	return realm.Result{Outcome: realm.Unknown, Reason: why}, nil
}

// verdict says what an answer means. Only what is surely about the credentials is a
// refusal; all else says nothing about them.
func verdict(name string, status int, body []byte) (realm.Result, error) {
	switch status {
	case http.StatusCreated, http.StatusOK:
	case http.StatusUnauthorized:
		return refused("user unknown, password wrong, or no role in the domain")
	case http.StatusForbidden:
		return refused("the identity service forbids this login")
	case http.StatusBadRequest:
		return refused("the identity service cannot use this name or password")
	case http.StatusNotFound:
		return realm.Result{}, errors.New("status 404: is the url that of the Identity API, without /auth/tokens?")
	default:
		return realm.Result{}, fmt.Errorf("the identity service answers with status %d", status)
	}
	var answer tokenAnswer
	if err := json.Unmarshal(body, &answer); err != nil || answer.Token.User.Name == "" {
		return realm.Result{}, errors.New("the answer holds no token of the Identity API version 3")
	}
	principal := name
	if credentialID.MatchString(name) {
		principal = answer.Token.User.Name
	}
	return realm.Result{Outcome: realm.Authenticated, Principal: principal, Roles: answer.roles()}, nil
}

func (s *service) post(ctx context.Context, request tokenRequest) (status int, body []byte, err error) {
	text, err := json.Marshal(request)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	// Asking twice does no harm. The header is not sent; with it net/http asks again
	// when the server has just closed the connection that was kept.
	r.Header["Idempotency-Key"] = []string{}
	answer, err := s.client.Do(r)
	var told *url.Error
	if errors.As(err, &told) {
		err = told.Err
	}
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	return answer.StatusCode, body, err
}

// Close implements realm.Realm.
func (s *service) Close() error {
	s.client.CloseIdleConnections()
	return nil
}
