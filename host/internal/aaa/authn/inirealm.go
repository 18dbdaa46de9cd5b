package authn

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"ctl.internal/host/internal/aaa/secini"
	"ctl.internal/sdk/realm"
)

// iniRealm holds the users that [users] of sec.ini lists: `name = password, role, role`.
type iniRealm map[string]iniUser

type iniUser struct {
	password [sha256.Size]byte
	roles    []string
}

// INIRealm returns the realm of the file's [users] section.
func INIRealm(f *secini.File) (realm.Realm, error) {
	r := iniRealm{}
	for _, u := range f.Users {
		list, err := f.List(u.Value)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 || list[0] == "" {
			return nil, f.Errorf(u.Value.Line, "user %q has no password; write `name = password, role`", u.Key)
		}
		r[u.Key] = iniUser{sha256.Sum256([]byte(list[0])), list[1:]}
	}
	return r, nil
}

// Authenticate compares in a time that depends on neither name nor password.
func (r iniRealm) Authenticate(_ context.Context, c realm.Credentials) (realm.Result, error) {
	u := r[c.User]
	sum := sha256.Sum256([]byte(c.Password))
	if subtle.ConstantTimeCompare(sum[:], u.password[:]) != 1 || (c.Domain != "" && c.Domain != "sdn") {
		return realm.Result{Outcome: realm.Unknown}, nil
	}
	return realm.Result{Outcome: realm.Authenticated, Principal: c.User, Roles: u.roles}, nil
}

// Find implements realm.Finder: the users are in the file.
func (r iniRealm) Find(_ context.Context, user, domain string) (realm.Result, error) {
	u, ok := r[user]
	if !ok || domain != "" && domain != "sdn" {
		return realm.Result{Outcome: realm.Unknown}, nil
	}
	return realm.Result{Outcome: realm.Authenticated, Principal: user, Roles: u.roles}, nil
}

// Close does nothing.
func (r iniRealm) Close() error { return nil }
