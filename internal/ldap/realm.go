package ldap

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	goldap "github.com/go-ldap/ldap/v3"

	"ctl.internal/sdk/realm"
)

// Directory is what a kind of directory has of its own: how users bind, and where their entries and roles are.
type Directory interface {
	// Bind is the name that a user binds as.
	Bind(user string) string
	// Principal is the one spelling of a user's name among those that the directory takes for the same.
	Principal(user string) string
	// Entry finds the entry of a user, with LockAttributes: a *RefusedError when there is none, realm.ErrNoFinder
	// when users cannot be looked up.
	Entry(ctx context.Context, search Search, user string) (*goldap.Entry, error)
	// Values are what the roles of a user are made of, such as the names of groups; those that come with an error
	// count, too.
	Values(ctx context.Context, search Search, user string) ([]string, error)
}

// Realm is an instance of etc/sec.ini over LDAP: a realm.Realm and a realm.Finder.
type Realm struct {
	Directory
	Client  *Client
	NoRoles bool // users log in, and have no roles from here
	Map     *Roles
	// Base and Attribute say where the keys of Map are looked for; without Attribute they are the DNs of groups.
	Base, Attribute string

	check mapCheck
}

var errName = &RefusedError{"no directory holds such a name"}

// Authenticate implements realm.Realm.
func (r *Realm) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	user, ok := Name(c.User, c.Domain)
	if !ok {
		return Outcome(errName), nil
	}
	result := realm.Result{
		Outcome:   realm.Authenticated,
		Principal: r.Principal(c.User),
	}
	var found func(context.Context, Search) error
	if !r.NoRoles {
		found = func(ctx context.Context, search Search) (err error) {
			result.Roles, result.Reason, err = r.rolesOf(ctx, search, user)
			return err
		}
	}
	if err := r.Client.Login(ctx, r.Bind(user), c.Password, found); err != nil {
		return Outcome(err), nil
	}
	return result, nil
}

// Find implements realm.Finder, as the system account: a user is there who has an entry that is not locked by the
// attributes that servers use for that.
func (r *Realm) Find(ctx context.Context, name, domain string) (realm.Result, error) {
	user, ok := Name(name, domain)
	if !ok {
		return Outcome(errName), nil
	}
	result := realm.Result{
		Outcome:   realm.Authenticated,
		Principal: r.Principal(name),
	}
	err := r.Client.Find(ctx, func(ctx context.Context, search Search) error {
		entry, err := r.Entry(ctx, search, user)
		if err != nil {
			return err
		}
		if why := accountLockReason(entry); why != "" {
			return &RefusedError{why}
		}
		if !r.NoRoles {
			result.Roles, result.Reason, err = r.rolesOf(ctx, search, user)
		}
		return err
	})
	if errors.Is(err, realm.ErrNoFinder) {
		return realm.Result{}, err
	}
	if err != nil {
		return Outcome(err), nil
	}
	return result, nil
}

// rolesOf returns the roles of a user; reason says why there may be fewer than expected.
func (r *Realm) rolesOf(
	ctx context.Context,
	search Search,
	user string,
) (roles []string, reason string, err error) {
	values, err := r.Values(ctx, search, user)
	var none *RefusedError
	switch {
	case errors.Is(err, ErrSizeLimit):
		reason = err.Error()
	case errors.As(err, &none):
		reason = "no roles, because " + none.Reason
	case isSearchForbidden(err):
		reason = "no roles, because the search was refused: " + err.Error()
	case err != nil:
		return nil, "", err
	}
	if reason != "" {
		slog.Warn("roles of a user of a directory", "user", user, "problem", reason)
	}
	return r.Map.Of(values), cmp.Or(
		reason,
		r.check.checkOnce(ctx, search, r.Base, r.Attribute, r.Map),
	), nil
}

// Close implements realm.Realm.
func (r *Realm) Close() error { return r.Client.Close() }
