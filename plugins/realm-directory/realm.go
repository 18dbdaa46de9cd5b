package realmdirectory

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	goldap "github.com/go-ldap/ldap/v3"

	"ctl.internal/internal/ldap"
)

// directory is one instance of etc/sec.ini.
type directory struct {
	base, suffix string
	nested       bool
	mapped       bool // there is a groupRolesMap
}

// Bind implements ldap.Directory.
func (d *directory) Bind(user string) string {
	return d.parseAccount(user).bind
}

// account is the names of a user: what to bind as, and what to look for.
type account struct{ bind, principal, sam string }

func (d *directory) parseAccount(name string) account {
	domain, user, found := strings.Cut(name, `\`)
	if found && domain != "" { // LAB\alice
		return account{bind: name, sam: user}
	}
	if user, _, found := strings.Cut(name, "@"); found {
		a := account{bind: name, principal: name}
		if strings.EqualFold(name, user+d.suffix) {
			a.sam = user
		}
		return a
	}
	return account{
		bind:      name + d.suffix,
		principal: name + d.suffix,
		sam:       name,
	}
}

// Principal implements ldap.Directory: alice for alice, ALICE, LAB\alice and, with the suffix of the settings, alice@lab.test.
func (d *directory) Principal(name string) string {
	if a := d.parseAccount(name); a.sam != "" {
		name = a.sam
	}
	return ldap.FoldName(name)
}

// Filters of a directory service; 1.2.840.113556.1.4.1941 is the rule that follows
// a chain of links, here of groups in groups.
const (
	byPrincipal = "(&(objectClass=user)(userPrincipalName={0}))"
	byAccount   = "(&(objectClass=user)(sAMAccountName={0}))"
	groupsOf    = "(&(objectClass=group)(member:1.2.840.113556.1.4.1941:={0}))"
)

// Values implements ldap.Directory: they are the groups of a user.
func (d *directory) Values(ctx context.Context, search ldap.Search, user string) ([]string, error) {
	groups, err := d.userGroups(ctx, search, user)
	if !d.mapped { // a DN is no name of a role
		for i, g := range groups {
			groups[i] = ldap.CommonName(g)
		}
	}
	return groups, err
}

func (d *directory) userGroups(
	ctx context.Context,
	search ldap.Search,
	user string,
) ([]string, error) {
	entry, err := d.Entry(ctx, search, user)
	if err != nil {
		return nil, err
	}
	groups := entry.GetEqualFoldAttributeValues("memberOf")
	members := []string{entry.DN}
	if sid := primaryGroup(entry); sid != nil { // no member list names its users
		entries, err := search(
			ctx,
			ldap.Query{
				Base:       d.base,
				Filter:     sidFilter(sid),
				Attributes: []string{"1.1"},
			},
		)
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
		entries, err := search(
			ctx,
			ldap.Query{
				Base:       d.base,
				Filter:     ldap.Filter(groupsOf, member),
				Attributes: []string{"1.1"},
			},
		)
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

// errNotFound says that no entry, or more than one, belongs to a user.
var errNotFound = &ldap.RefusedError{Reason: "not exactly one entry below searchBase has this user's name"}

// entryAttributes are those that are read of a user's entry.
var entryAttributes = append([]string{"memberOf", "primaryGroupID", "objectSid"}, ldap.LockAttributes...)

// Entry implements ldap.Directory: by userPrincipalName, as the bind did, and only when none has it by the account's
// name.
func (d *directory) Entry(
	ctx context.Context,
	search ldap.Search,
	user string,
) (*goldap.Entry, error) {
	who := d.parseAccount(user)
	for _, by := range []struct{ filter, value string }{{byPrincipal, who.principal}, {byAccount, who.sam}} {
		if by.value == "" {
			continue
		}
		entries, err := search(
			ctx,
			ldap.Query{
				Base:       d.base,
				Filter:     ldap.Filter(by.filter, by.value),
				Attributes: entryAttributes,
			},
		)
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
