package realmldap

import (
	"context"
	"strings"

	goldap "github.com/go-ldap/ldap/v3"

	"ctl.internal/internal/ldap"
	"ctl.internal/sdk/realm"
)

// directory is one instance of etc/sec.ini.
type directory struct {
	template ldap.Template // of the name to bind with
	fold     bool          // the case of names does not matter

	base, attribute, filter string
	own                     bool // only the user's own entry counts: a namesake's must not lend its roles
}

// Bind implements ldap.Directory.
func (d *directory) Bind(user string) string {
	return d.template.Name(user)
}

// Principal implements ldap.Directory.
func (d *directory) Principal(user string) string {
	if !d.fold {
		return user
	}
	return ldap.FoldName(user)
}

// Values implements ldap.Directory.
func (d *directory) Values(
	ctx context.Context,
	search ldap.Search,
	user string,
) (values []string, err error) {
	q := ldap.Query{
		Base:       d.base,
		Filter:     ldap.Filter(d.filter, user, d.Bind(user)),
		Attributes: []string{d.attribute},
	}
	if d.own {
		q.Base, q.Alone = d.Bind(user), true
	}
	entries, err := search(ctx, q)
	for _, e := range entries {
		for _, a := range e.Attributes {
			if strings.EqualFold(a.Name, d.attribute) {
				values = append(values, a.Values...)
			}
		}
	}
	return values, err
}

// Entry implements ldap.Directory: it is the one whose name the template makes.
func (d *directory) Entry(
	ctx context.Context,
	search ldap.Search,
	user string,
) (*goldap.Entry, error) {
	if !d.template.IsDN() {
		return nil, realm.ErrNoFinder
	}
	entries, err := search(
		ctx,
		ldap.Query{
			Base:       d.Bind(user),
			Alone:      true,
			Filter:     "(objectClass=*)",
			Attributes: ldap.LockAttributes,
		},
	)
	if ldap.Absent(err) || err == nil && len(entries) != 1 {
		return nil, &ldap.RefusedError{Reason: "no such entry"}
	}
	if err != nil {
		return nil, err
	}
	return entries[0], nil
}
