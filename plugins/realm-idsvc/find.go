package realmidsvc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"ctl.internal/sdk/realm"
)

// account is the service account by which users are looked up. It needs to list users and role
// assignments, as a role such as admin or reader of the system lets it.
type account struct {
	s                      *service
	user, password, domain string

	mu    sync.Mutex
	token string
}

func newAccount(r *realm.Reader, s *service) *account {
	a := &account{
		s:        s,
		user:     r.String("serviceUser", ""),
		password: r.String("servicePassword", ""),
		domain:   r.String("serviceDomain", s.domain),
	}
	switch {
	case a.user == "" && a.password == "":
		return nil
	case a.user == "" || a.password == "":
		r.Fault("serviceUser", "serviceUser and servicePassword must be set together")
	}
	return a
}

// Find implements realm.Finder.
func (s *service) Find(ctx context.Context, user, domain string) (realm.Result, error) {
	if s.account == nil {
		return realm.Result{}, realm.ErrNoFinder
	}
	domain = cmp.Or(domain, s.domain)
	if credentialID.MatchString(user) && s.appCred || len(user) > maxName || len(domain) > maxName {
		return unknownResult("an application credential cannot be looked up")
	}
	a := s.account
	domainID, why, err := a.findOnlyID(ctx, "domains", url.Values{"name": {domain}})
	if err != nil || why != "" {
		return realm.Result{
			Outcome: realm.Unknown,
			Reason:  why,
		}, err
	}
	userID, why, err := a.findOnlyID(
		ctx,
		"users",
		url.Values{"name": {user}, "domain_id": {domainID}},
	)
	if err != nil || why != "" {
		return realm.Result{
			Outcome: realm.Unknown,
			Reason:  why,
		}, err
	}
	var assigned struct {
		Assignments []struct {
			Role named `json:"role"`
		} `json:"role_assignments"`
	}
	q := url.Values{
		"user.id":         {userID},
		"scope.domain.id": {domainID},
		"effective":       {""},
		"include_names":   {""},
	}
	if err := a.getJSON(ctx, "role_assignments", q, &assigned); err != nil {
		return realm.Result{}, err
	}
	result := realm.Result{
		Outcome:   realm.Authenticated,
		Principal: user,
	}
	for _, x := range assigned.Assignments {
		result.Roles = append(result.Roles, x.Role.Name)
	}
	slices.Sort(result.Roles)
	if result.Roles = slices.Compact(result.Roles); len(result.Roles) == 0 { // a login with the password fails then, too
		return unknownResult("the user has no role in the domain")
	}
	return result, nil
}

// findOnlyID finds the id of the only enabled domain or user that a query names; why is the reason if there is no such one.
func (a *account) findOnlyID(
	ctx context.Context,
	kind string,
	q url.Values,
) (id, why string, err error) {
	var answer map[string]json.RawMessage
	if err := a.getJSON(ctx, kind, q, &answer); err != nil {
		return "", "", err
	}
	var list []struct {
		ID      string    `json:"id"`
		Name    string    `json:"name"`
		Enabled bool      `json:"enabled"`
		Expires *jsonTime `json:"password_expires_at"`
	}
	if err := json.Unmarshal(answer[kind], &list); err != nil {
		return "", "", fmt.Errorf("the answer has no list %s", kind)
	}
	switch {
	case len(list) != 1:
		return "", fmt.Sprintf("the service knows %d %s of this name", len(list), kind), nil
	case !list[0].Enabled:
		return "", "the user or its domain is disabled", nil
	case list[0].Expires != nil && time.Time(*list[0].Expires).Before(time.Now()):
		return "", "the password has expired", nil
	}
	return list[0].ID, "", nil
}

// jsonTime is a time as the service writes it, in UTC without a zone.
type jsonTime time.Time

// UnmarshalJSON reads 2026-11-22T12:00:00.000000.
func (t *jsonTime) UnmarshalJSON(b []byte) error {
	at, err := time.Parse(`"2006-01-02T15:04:05.999999"`, string(b))
	*t = jsonTime(at)
	return err
}

// getJSON asks the service as the account, with a new token when the one it has is refused.
func (a *account) getJSON(ctx context.Context, path string, q url.Values, into any) error {
	for again := range 2 {
		token, err := a.accountToken(ctx, again > 0)
		if err != nil {
			return err
		}
		u := a.s.base.JoinPath(path)
		u.RawQuery = q.Encode()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return err
		}
		r.Header.Set("X-Auth-Token", token)
		_, status, body, err := a.s.sendRequest(r)
		switch {
		case err != nil:
			return err
		case status == http.StatusUnauthorized && again == 0:
			continue
		case status != http.StatusOK:
			return fmt.Errorf(
				"the service account may not read %s: status %d; give it a role of the system, such as reader",
				path,
				status,
			)
		}
		return json.Unmarshal(body, into)
	}
	return errors.New("the service refuses the service account's token")
}

func (a *account) accountToken(ctx context.Context, fresh bool) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token != "" && !fresh {
		return a.token, nil
	}
	request := passwordLogin(a.user, a.domain, a.password)
	request.Auth.Scope = &scope{System: &system{All: true}}
	header, status, _, err := a.s.requestToken(ctx, request)
	if err != nil {
		return "", err
	}
	if a.token = header.Get("X-Subject-Token"); status/100 != 2 || a.token == "" {
		a.token = ""
		return "", fmt.Errorf(
			"the service account %s cannot log in for the system: status %d",
			a.user,
			status,
		)
	}
	return a.token, nil
}
