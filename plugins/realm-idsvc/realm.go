package realmidsvc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
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
	base             *url.URL // of the API, up to its version
	endpoint, domain string
	appCred          bool
	account          *account // that looks users up; nil without one
}

// Authenticate implements realm.Realm.
func (s *service) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	domain := cmp.Or(c.Domain, s.domain)
	switch {
	case c.User == "" || c.Password == "":
		return unknownResult("an empty name or password")
	case len(c.User) > maxName || len(domain) > maxName || !utf8.ValidString(c.User+domain+c.Password):
		return unknownResult("no identity service holds such a name")
	}
	request := passwordLogin(c.User, domain, c.Password)
	if s.appCred && c.Domain == "" && credentialID.MatchString(c.User) {
		request = credentialLogin(c.User, c.Password)
	}
	_, status, body, err := s.requestToken(ctx, request)
	if err != nil {
		return realm.Result{}, err
	}
	result, err := resultOfAnswer(c.User, status, body)
	result.Reason = strings.ReplaceAll(result.Reason, c.Password, "***") // a service may repeat what it got
	return result, err
}

func unknownResult(why string) (realm.Result, error) {
	return realm.Result{
		Outcome: realm.Unknown,
		Reason:  why,
	}, nil
}

// resultOfAnswer says what an answer means. Only what is surely about the credentials is a
// refusal; all else says nothing about them.
func resultOfAnswer(name string, status int, body []byte) (realm.Result, error) {
	switch status {
	case http.StatusCreated, http.StatusOK:
	case http.StatusUnauthorized:
		if missing := secondFactor(body); missing != "" {
			return unknownResult("the identity service demands a further factor for this user (" + missing + "), which cannot be given here; use an application credential")
		}
		return unknownResult(withServerReason(
			"user unknown, password wrong, or no role in the domain",
			body,
		))
	case http.StatusForbidden:
		return unknownResult(withServerReason("the identity service forbids this login", body))
	case http.StatusBadRequest:
		return unknownResult(withServerReason(
			"the identity service cannot use this name or password",
			body,
		))
	case http.StatusNotFound:
		return realm.Result{}, errors.New("status 404: is the url that of the Identity API, without /auth/tokens?")
	default:
		return realm.Result{}, fmt.Errorf("the identity service answers with status %d", status)
	}
	var answer tokenAnswer
	err := json.Unmarshal(body, &answer)
	if err != nil || answer.Token.User.Name == "" {
		return realm.Result{}, errors.New("the answer holds no token of the Identity API version 3")
	}
	principal := name
	if credentialID.MatchString(name) {
		principal = answer.Token.User.Name
	}
	return realm.Result{
		Outcome:   realm.Authenticated,
		Principal: principal,
		Roles:     answer.roles(),
	}, nil
}

// secondFactor returns the methods that a service still wants after the password, as the receipt of an
// authentication in several steps names them; "" if it wants none.
func secondFactor(body []byte) string {
	var answer struct {
		Receipt struct {
			Methods []string `json:"methods"`
		} `json:"receipt"`
		Required [][]string `json:"required_auth_methods"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	var ways []string
	for _, way := range answer.Required {
		way = slices.DeleteFunc(way, func(m string) bool {
			return slices.Contains(answer.Receipt.Methods, m)
		})
		if len(way) > 0 {
			ways = append(ways, strings.Join(way, " and "))
		}
	}
	return printableLine(strings.Join(ways, ", or "))
}

// maxReason bounds what is repeated of a service's own reason, in characters.
const maxReason = 200

// withServerReason adds the service's own reason, such as that the password has expired. The host takes
// passwords out of what is shown.
func withServerReason(text string, body []byte) string {
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Error.Message == "" {
		return text
	}
	return text + `; it says "` + printableLine(answer.Error.Message) + `"`
}

// printableLine returns what a service says as one bounded line.
func printableLine(said string) string {
	said = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, said)
	if runes := []rune(said); len(runes) > maxReason {
		said = string(runes[:maxReason]) + "…"
	}
	return strings.TrimSpace(said)
}

// requestToken asks for a token, which is in the header of the answer.
func (s *service) requestToken(
	ctx context.Context,
	request tokenRequest,
) (h http.Header, status int, body []byte, err error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint, bytes.NewReader(text))
	if err != nil {
		return nil, 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	// Asking twice does no harm. The header is not sent; with it net/http asks again
	// when the server has just closed the connection that was kept.
	r.Header["Idempotency-Key"] = []string{}
	return s.sendRequest(r)
}

// sendRequest sends a request and reads its answer.
func (s *service) sendRequest(r *http.Request) (h http.Header, status int, body []byte, err error) {
	r.Header.Set("Accept", "application/json")
	answer, err := s.client.Do(r)
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	if err != nil {
		return nil, 0, nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	return answer.Header, answer.StatusCode, body, err
}

// Close implements realm.Realm.
func (s *service) Close() error {
	s.client.CloseIdleConnections()
	return nil
}
