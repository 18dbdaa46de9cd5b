package realmldap

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"

	"ctl.internal/internal/ldap"
	"ctl.internal/sdk/realm"
)

// ldapRealm is one instance of etc/sec.ini.
type ldapRealm struct {
	client   *ldap.Client
	template ldap.Template // of the name to bind with

	base, attribute string
	filter          string // empty = no roles
	own             bool   // only the user's own entry counts: a namesake's must not lend its roles
	roles           *ldap.Roles
	check           ldap.MapCheck
}

// Authenticate implements realm.Realm.
func (l *ldapRealm) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	name, ok := ldap.Name(c.User, c.Domain)
	if !ok {
		return realm.Result{Outcome: realm.Unknown, Reason: "no directory holds such a name"}, nil
	}
	result := realm.Result{Outcome: realm.Authenticated, Principal: c.User}
	bindName := l.template.Name(name)
	var find func(context.Context, ldap.Search) error
	if l.filter != "" {
		find = func(ctx context.Context, search ldap.Search) (err error) {
			result.Roles, result.Reason, err = l.find(ctx, search, name, bindName)
			return err
		}
	}
	if err := l.client.Login(ctx, bindName, c.Password, find); err != nil {
		return ldap.Outcome(err), nil
	}
	return result, nil
}

// find returns the roles of a user who has logged in; reason says why there may be
// fewer than expected.
func (l *ldapRealm) find(ctx context.Context, search ldap.Search, name, bindName string) (roles []string, reason string, err error) {
	q := ldap.Query{Base: l.base, Filter: ldap.Filter(l.filter, name, bindName), Attributes: []string{l.attribute}}
	if l.own {
		q.Base, q.Alone = bindName, true
	}
	entries, err := search(ctx, q)
	switch {
	case errors.Is(err, ldap.ErrSizeLimit):
		reason = err.Error()
	case ldap.Forbidden(err):
		reason = "no roles, because the search was refused: " + err.Error()
	case err != nil:
		return nil, "", err
	}
	if reason != "" {
		slog.Warn("roles of an LDAP user", "user", name, "problem", reason)
	}
	var values []string
	for _, e := range entries {
		for _, a := range e.Attributes {
			if strings.EqualFold(a.Name, l.attribute) {
				values = append(values, a.Values...)
			}
		}
	}
	return l.roles.Of(values), cmp.Or(reason, l.check.Run(ctx, search, l.base, l.attribute, l.roles)), nil
}

// Find implements realm.Finder, as the system account: a user is there if the entry is whose name the
// template makes, and it is not locked by the attributes that servers use for that.
func (l *ldapRealm) Find(ctx context.Context, user, domain string) (realm.Result, error) {
	name, ok := ldap.Name(user, domain)
	if !ok {
		return realm.Result{Outcome: realm.Unknown, Reason: "no directory holds such a name"}, nil
	}
	if !l.template.IsDN() {
		return realm.Result{}, realm.ErrNoFinder
	}
	bindName := l.template.Name(name)
	result := realm.Result{Outcome: realm.Unknown, Principal: user}
	err := l.client.Find(ctx, func(ctx context.Context, search ldap.Search) error {
		entries, err := search(ctx, ldap.Query{Base: bindName, Alone: true, Filter: "(objectClass=*)", Attributes: ldap.LockAttributes})
		switch {
		case ldap.Absent(err) || err == nil && len(entries) != 1:
			result.Reason = "no such entry"
			return nil
		case err != nil:
			return err
		}
		if result.Reason = ldap.Locked(entries[0]); result.Reason != "" {
			return nil
		}
		result.Outcome = realm.Authenticated
		if l.filter == "" {
			return nil
		}
		result.Roles, result.Reason, err = l.find(ctx, search, name, bindName)
		return err
	})
	if errors.Is(err, realm.ErrNoFinder) {
		return realm.Result{}, err
	}
	if err != nil {
		return ldap.Outcome(err), nil
	}
	return result, nil
}

// Close implements realm.Realm.
func (l *ldapRealm) Close() error { return l.client.Close() }
