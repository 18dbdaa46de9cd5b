package realmdirectory

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	goldap "github.com/go-ldap/ldap/v3"

	"ctl.internal/internal/ldap"
	"ctl.internal/sdk/realm"
)

// directoryRealm is one instance of etc/sec.ini.
type directoryRealm struct {
	client       *ldap.Client
	base, suffix string
	nested       bool
	roles        *ldap.Roles
	check        ldap.MapCheck
}

// Authenticate implements realm.Realm.
func (d *directoryRealm) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	name, ok := ldap.Name(c.User, c.Domain)
	if !ok {
		return realm.Result{Outcome: realm.Unknown, Reason: "no directory holds such a name"}, nil
	}
	who := d.who(name)
	result := realm.Result{Outcome: realm.Authenticated, Principal: c.User}
	err := d.client.Login(ctx, who.bind, c.Password, func(ctx context.Context, search ldap.Search) (err error) {
		result.Roles, result.Reason, err = d.find(ctx, search, who)
		return err
	})
	if err != nil {
		return ldap.Outcome(err), nil
	}
	return result, nil
}

// account is the names of a user: what to bind as, and what to look for.
type account struct{ bind, principal, sam string }

func (d *directoryRealm) who(name string) account {
	if domain, user, found := strings.Cut(name, `\`); found && domain != "" { // LAB\alice
		return account{bind: name, sam: user}
	}
	if user, _, found := strings.Cut(name, "@"); found {
		a := account{bind: name, principal: name}
		if strings.EqualFold(name, user+d.suffix) {
			a.sam = user
		}
		return a
	}
	return account{bind: name + d.suffix, principal: name + d.suffix, sam: name}
}

// Filters of a directory service; 1.2.840.113556.1.4.1941 is the rule that follows
// a chain of links, here of groups in groups.
const (
	byPrincipal = "(&(objectClass=user)(userPrincipalName={0}))"
	byAccount   = "(&(objectClass=user)(sAMAccountName={0}))"
	groupsOf    = "(&(objectClass=group)(member:1.2.840.113556.1.4.1941:={0}))"
)

// find returns the roles of a user who has logged in; reason says why there may be
// fewer than expected.
func (d *directoryRealm) find(ctx context.Context, search ldap.Search, who account) (roles []string, reason string, err error) {
	groups, err := d.groups(ctx, search, who)
	switch {
	case errors.Is(err, ldap.ErrSizeLimit) || errors.Is(err, errNotFound):
		reason = err.Error()
	case ldap.Forbidden(err):
		reason = "no roles, because the search was refused: " + err.Error()
	case err != nil:
		return nil, "", err
	}
	if reason != "" {
		slog.Warn("groups of a directory user", "user", who.bind, "problem", reason)
	}
	if d.roles == nil { // a DN is no name of a role
		for i, g := range groups {
			groups[i] = ldap.CommonName(g)
		}
	}
	return d.roles.Of(groups), cmp.Or(reason, d.check.Run(ctx, search, d.base, "", d.roles)), nil
}

// errNotFound comes with a login that no entry, or more than one, belongs to.
var errNotFound = errors.New("no roles, because not exactly one entry below searchBase has this user's name")

func (d *directoryRealm) groups(ctx context.Context, search ldap.Search, who account) ([]string, error) {
	user, err := d.entry(ctx, search, who)
	if err != nil {
		return nil, err
	}
	groups := user.GetEqualFoldAttributeValues("memberOf")
	members := []string{user.DN}
	if sid := primaryGroup(user); sid != nil { // no member list names its users
		entries, err := search(ctx, ldap.Query{Base: d.base, Filter: sidFilter(sid), Attributes: []string{"1.1"}})
		if err != nil {
			return groups, err
		}
		for _, e := range entries {
			groups, members = append(groups, e.DN), append(members, e.DN)
		}
	}
	if !d.nested || len(groups) == 0 {
		return groups, nil
	}
	for _, member := range members {
		entries, err := search(ctx, ldap.Query{Base: d.base, Filter: ldap.Filter(groupsOf, member), Attributes: []string{"1.1"}})
		for _, e := range entries {
			groups = append(groups, e.DN)
		}
		if err != nil {
			return groups, err
		}
	}
	return groups, nil
}

// primaryGroup makes the SID of a user's primary group: that of the user with the last number, of
// four bytes, replaced (MS-DTYP 2.4.2.2). Nil when the entry does not name one.
func primaryGroup(user *goldap.Entry) []byte {
	id, err := strconv.ParseUint(user.GetEqualFoldAttributeValue("primaryGroupID"), 10, 32)
	sid := user.GetEqualFoldRawAttributeValue("objectSid")
	if err != nil || len(sid) < 12 {
		return nil
	}
	return binary.LittleEndian.AppendUint32(slices.Clone(sid[:len(sid)-4]), uint32(id))
}

// sidFilter finds the group with a SID, whose bytes are written \xx (RFC 4515).
func sidFilter(sid []byte) string {
	var b strings.Builder
	for _, c := range sid {
		fmt.Fprintf(&b, `\%02x`, c)
	}
	return "(&(objectClass=group)(objectSid=" + b.String() + "))"
}

// entry finds the user's entry: by userPrincipalName, as the bind did, and only when
// none has it by the account's name.
func (d *directoryRealm) entry(ctx context.Context, search ldap.Search, who account) (*goldap.Entry, error) {
	for _, by := range []struct{ filter, value string }{{byPrincipal, who.principal}, {byAccount, who.sam}} {
		if by.value == "" {
			continue
		}
		entries, err := search(ctx, ldap.Query{Base: d.base, Filter: ldap.Filter(by.filter, by.value), Attributes: append([]string{"memberOf", "primaryGroupID", "objectSid"}, ldap.LockAttributes...)})
		switch {
		case err != nil:
			return nil, err
		case len(entries) == 1:
			return entries[0], nil
		case len(entries) > 1:
			return nil, errNotFound
		}
	}
	return nil, errNotFound
}

// Find implements realm.Finder, as the system account.
func (d *directoryRealm) Find(ctx context.Context, user, domain string) (realm.Result, error) {
	name, ok := ldap.Name(user, domain)
	if !ok {
		return realm.Result{Outcome: realm.Unknown, Reason: "no directory holds such a name"}, nil
	}
	who := d.who(name)
	result := realm.Result{Outcome: realm.Unknown, Principal: user}
	err := d.client.Find(ctx, func(ctx context.Context, search ldap.Search) error {
		entry, err := d.entry(ctx, search, who)
		if errors.Is(err, errNotFound) {
			result.Reason = "not exactly one entry below searchBase has this user's name"
			return nil
		}
		if err != nil {
			return err
		}
		if result.Reason = ldap.Locked(entry); result.Reason != "" {
			return nil
		}
		result.Outcome = realm.Authenticated
		result.Roles, result.Reason, err = d.find(ctx, search, who)
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
func (d *directoryRealm) Close() error { return d.client.Close() }
