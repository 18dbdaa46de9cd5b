package realmdirectory

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ctl.internal/internal/ldap/ldaptest"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/realm"
)

func TestMain(m *testing.M) {
	plugintest.ServeAsProgram("realm-directory", Options)
	goleak.VerifyTestMain(m)
}

const (
	kind = "CtlDirectoryRealm"
	lab  = "DC=lab,DC=test"
)

func person(name, principal string, groups ...string) ldaptest.Entry {
	return ldaptest.Entry{DN: "CN=" + name + ",CN=Users," + lab, Password: "pw", Attributes: map[string][]string{
		"objectClass": {"user"}, "sAMAccountName": {name}, "userPrincipalName": {principal}, "memberOf": groups}}
}

// sid is S-1-5-21-1-2-RID.
func sid(rid uint16) string {
	return "\x01\x04\x00\x00\x00\x00\x00\x05\x15\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00" + string([]byte{byte(rid), byte(rid >> 8), 0, 0})
}

func withPrimary(e ldaptest.Entry, group string, rid uint16) ldaptest.Entry {
	e.Attributes["primaryGroupID"], e.Attributes["objectSid"] = []string{group}, []string{sid(rid)}
	return e
}

func entries() []ldaptest.Entry {
	return []ldaptest.Entry{
		person("alice", "alice@lab.test", "CN=ops,"+lab),
		person("bob", "bob@lab.test"),
		withPrimary(person("dora", "dora@lab.test"), "513", 7),
		{DN: "CN=root," + lab, Attributes: map[string][]string{"objectClass": {"group"}}},
		{DN: "CN=Domain Users," + lab, Attributes: map[string][]string{"objectClass": {"group"}, "objectSid": {sid(513)}}},
		// holds the primary group
		{DN: "CN=staff," + lab, Attributes: map[string][]string{"objectClass": {"group"}, "objectSid": {sid(900)}, "member": {"CN=Domain Users," + lab}}},
		person("carol", "c.smith@other.test", "CN=ops,"+lab),
		person("c.smith", "someone@lab.test", "CN=root,"+lab),
		{DN: "CN=ops," + lab, Attributes: map[string][]string{"objectClass": {"group"}, "member": {"CN=alice,CN=Users," + lab}}},
		// a group that holds the group ops
		{DN: "CN=all," + lab, Attributes: map[string][]string{"objectClass": {"group"}, "member": {"CN=alice,CN=Users," + lab}}},
	}
}

func TestGroupsBecomeRoles(t *testing.T) {
	s := (&ldaptest.Server{Entries: entries()}).Start(t)
	mapped := map[string]string{"CN=ops," + lab: "admin", "cn=all, " + lab: "user", "CN=root," + lab: "root"}
	for name, c := range map[string]struct {
		user   string
		groups map[string]string
		more   map[string]string
		want   realm.Result
	}{
		"nested":             {"alice", mapped, nil, realm.Result{Outcome: realm.Authenticated, Principal: "alice", Roles: []string{"admin", "user"}}},
		"direct ones only":   {"alice", mapped, map[string]string{"nestedGroups": "false"}, realm.Result{Outcome: realm.Authenticated, Principal: "alice", Roles: []string{"admin"}}},
		"no map":             {"alice", nil, nil, realm.Result{Outcome: realm.Authenticated, Principal: "alice", Roles: []string{"all", "ops"}}},
		"primary group":      {"dora", map[string]string{"CN=Domain Users," + lab: "user", "CN=staff," + lab: "staff"}, nil, realm.Result{Outcome: realm.Authenticated, Principal: "dora", Roles: []string{"staff", "user"}}},
		"in no group":        {"bob", mapped, nil, realm.Result{Outcome: realm.Authenticated, Principal: "bob"}},
		"the full name":      {"bob@lab.test", mapped, nil, realm.Result{Outcome: realm.Authenticated, Principal: "bob"}},
		"another spelling":   {"BOB@Lab.Test", mapped, nil, realm.Result{Outcome: realm.Authenticated, Principal: "bob"}},
		"of another suffix":  {"c.smith@other.test", mapped, nil, realm.Result{Outcome: realm.Authenticated, Principal: "c.smith@other.test", Roles: []string{"admin"}}},
		"characters":         {"bob)(sAMAccountName=alice", mapped, nil, realm.Result{Reason: "user unknown or password wrong"}},
		"without the suffix": {"c.smith", mapped, nil, realm.Result{Reason: "user unknown or password wrong"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := map[string]realm.Property{"url": {Value: s.URL()}, "principalSuffix": {Value: "@lab.test"}}
			if c.groups != nil {
				p["groupRolesMap"] = realm.Property{Value: "x", Map: c.groups}
			}
			for k, v := range c.more {
				p[k] = realm.Property{Value: v}
			}
			client := realm.NewClient(plugintest.Start(t, Options()).Conn)
			if _, err := client.Configure(t.Context(), realm.Config{Name: "r", Kind: kind, Properties: p}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if diff := cmp.Diff(c.want, client.Authenticate(ctx, "r", realm.Credentials{User: c.user, Password: "pw"})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A key of the map that names no group gives no user a role; realm:test names it.
func TestKeysOfNoGroupAreNamed(t *testing.T) {
	s := (&ldaptest.Server{Entries: entries()}).Start(t)
	client := realm.NewClient(plugintest.Start(t, Options()).Conn)
	if _, err := client.Configure(t.Context(), realm.Config{Name: "r", Kind: kind, Properties: map[string]realm.Property{
		"url": {Value: s.URL()}, "principalSuffix": {Value: "@lab.test"},
		"groupRolesMap": {Value: "x", Map: map[string]string{"CN=ops," + lab: "admin", "CN=opps," + lab: "admin", "ops": "admin"}}}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 2 {
		got := client.Authenticate(ctx, "r", realm.Credentials{User: "alice", Password: "pw"})
		if !cmp.Equal(got.Roles, []string{"admin"}) || !strings.Contains(got.Reason, `no group "CN=opps,`) || !strings.Contains(got.Reason, `no group "ops"`) || strings.Contains(got.Reason, `"CN=ops,DC=lab,DC=test";`) {
			t.Errorf("%+v", got)
		}
	}
}

// Users are found without their password by the system account, and not when their account is off.
func TestUsersAreFoundBySystemAccount(t *testing.T) {
	off := person("eve", "eve@lab.test")
	off.Attributes["userAccountControl"] = []string{"514"}
	old := person("old", "old@lab.test")
	old.Attributes["accountExpires"] = []string{"131000000000000000"} // 2016
	s := (&ldaptest.Server{Entries: append(entries(), off, old, person("machine", "machine@lab.test"))}).Start(t)
	c := realm.NewClient(plugintest.Start(t, Options()).Conn)
	if _, err := c.Configure(t.Context(), realm.Config{Name: "r", Kind: kind, Properties: map[string]realm.Property{
		"url": {Value: s.URL()}, "principalSuffix": {Value: "@lab.test"}, "systemUsername": {Value: "machine@lab.test"}, "systemPassword": {Value: "pw"}}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for user, want := range map[string]realm.Outcome{"alice": realm.Authenticated, "nobody": realm.Unknown, "eve": realm.Unknown, "old": realm.Unknown} {
		if got, err := c.Find(ctx, "r", user, ""); err != nil || got.Outcome != want || user == "alice" && !cmp.Equal(got.Roles, []string{"all", "ops"}) {
			t.Errorf("%s: %+v, %v", user, got, err)
		}
	}
}

func TestWhatNeedsToBeWritten(t *testing.T) {
	client := realm.NewClient(plugintest.Start(t, Options()).Conn)
	for want, p := range map[string]map[string]realm.Property{
		"searchBase":           {"url": {Value: "ldap://h"}},
		"does not begin":       {"url": {Value: "ldap://h"}, "principalSuffix": {Value: "lab.test"}},
		"needs `r.url":         {"principalSuffix": {Value: "@lab.test"}},
		`mean "nestedGroups"?`: {"url": {Value: "ldap://h"}, "principalSuffix": {Value: "@lab.test"}, "nestedGroup": {Value: "true"}},
	} {
		if _, err := client.Configure(t.Context(), realm.Config{Name: "r", Kind: kind, Properties: p}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if got := baseOf("@ad.lab.test"); got != "DC=ad,DC=lab,DC=test" {
		t.Error(got)
	}
}
