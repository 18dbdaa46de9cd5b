package realmldap

import (
	"context"
	"errors"
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
	plugintest.ServeAsProgram("realm-ldap", Options)
	goleak.VerifyTestMain(m)
}

const template = "uid={0},ou=People,dc=x"

// people is a directory in which some try to be more than they are.
func people() []ldaptest.Entry {
	person := func(name, dn string, classes ...string) ldaptest.Entry {
		return ldaptest.Entry{DN: dn, Password: "pw:" + name, Attributes: map[string][]string{"uid": {name}, "objectClass": classes}}
	}
	return []ldaptest.Entry{
		person("alice", "uid=alice,ou=People,dc=x", "person", "organizationalPerson"),
		person("mallory", "uid=mallory,ou=People,dc=x", "person"),
		person("alice", "uid=alice,ou=Guests,dc=x", "boss"), // a namesake
		person("a,b", `uid=a\,b,ou=People,dc=x`, "person"),
		person("(*)", `uid=(*),ou=People,dc=x`, "person"),
		person(`back\slash`, `uid=back\\slash,ou=People,dc=x`, "person"),
	}
}

func properties(pairs ...string) map[string]realm.Property {
	out := map[string]realm.Property{}
	for i := 0; i < len(pairs); i += 2 {
		v := pairs[i+1]
		out[pairs[i]] = realm.Property{Value: v, List: strings.Split(v, ", "), Origin: "etc/sec.ini:7"}
	}
	return out
}

// plugin starts the plugin with one instance r.
func plugin(t *testing.T, kind string, pairs ...string) func(user, password string) realm.Result {
	t.Helper()
	return pluginAt(t, plugintest.NewHost(t), kind, pairs...)
}

func pluginAt(t *testing.T, host *plugintest.Host, kind string, pairs ...string) func(user, password string) realm.Result {
	t.Helper()
	c := realm.NewClient(plugintest.Start(t, Options(), plugintest.WithHost(host)).Conn)
	if _, err := c.Configure(t.Context(), realm.Config{Name: "r", Kind: kind, Properties: properties(pairs...)}); err != nil {
		t.Fatal(err)
	}
	return func(user, password string) realm.Result {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		return c.Authenticate(ctx, "r", realm.Credentials{User: user, Password: password})
	}
}

func TestWhoMayLogInAndAsWhat(t *testing.T) {
	s := (&ldaptest.Server{Entries: people()}).Start(t)
	ask := plugin(t, kindRoles, "userDnTemplate", template, "contextFactory.url", s.URL(), "searchBase", "dc=x",
		"ldapAttributeForComparison", "objectclass", "groupRolesMap", "person:user, organizationalPerson:admin, boss:root")
	for _, c := range []struct {
		user, password string
		outcome        realm.Outcome
		roles          []string
	}{
		{"alice", "pw:alice", realm.Authenticated, []string{"admin", "user"}},
		{"mallory", "pw:mallory", realm.Authenticated, []string{"user"}},
		{"MALLory", "pw:mallory", realm.Authenticated, []string{"user"}},
		{"mallory", "pw:alice", realm.Unknown, nil},
		{"mallory", "", realm.Unknown, nil},
		{"nobody", "pw:nobody", realm.Unknown, nil},
		{"*", "pw:alice", realm.Unknown, nil},
		{"mallory)(uid=alice", "pw:mallory", realm.Unknown, nil},
		{"alice,ou=Guests", "pw:alice", realm.Unknown, nil},
		{"a,b", "pw:a,b", realm.Authenticated, []string{"user"}},
		{"(*)", "pw:(*)", realm.Authenticated, []string{"user"}},
		{`back\slash`, `pw:back\slash`, realm.Authenticated, []string{"user"}},
		{"alice\x00", "pw:alice", realm.Unknown, nil},
	} {
		got := ask(c.user, c.password)
		want := realm.Result{Outcome: c.outcome, Roles: c.roles, Reason: got.Reason}
		if c.outcome == realm.Authenticated {
			want.Principal = strings.ToLower(c.user)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", c.user, diff)
		}
	}
}

// Users are found without their password by the system account, and only by that.
func TestUsersAreFoundBySystemAccount(t *testing.T) {
	entries := append(people(), ldaptest.Entry{DN: "cn=system,dc=x", Password: "machine"},
		ldaptest.Entry{DN: "uid=gone,ou=People,dc=x", Attributes: map[string][]string{"uid": {"gone"}, "pwdAccountLockedTime": {"000001010000Z"}}},
		ldaptest.Entry{DN: "uid=reset,ou=People,dc=x", Attributes: map[string][]string{"uid": {"reset"}, "pwdReset": {"TRUE"}}})
	s := (&ldaptest.Server{Entries: entries}).Start(t)
	client := func(more ...string) *realm.Client {
		cfg := realm.Config{Name: "r", Kind: kindRoles, Properties: map[string]realm.Property{}}
		for i, all := 0, append([]string{"userDnTemplate", template, "contextFactory.url", s.URL(), "searchBase", "dc=x"}, more...); i < len(all); i += 2 {
			cfg.Properties[all[i]] = realm.Property{Value: all[i+1]}
		}
		c := realm.NewClient(plugintest.Start(t, Options()).Conn)
		if _, err := c.Configure(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		return c
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := client().Find(ctx, "r", "alice", ""); !errors.Is(err, realm.ErrNoFinder) {
		t.Errorf("without a system account: %v", err)
	}
	c := client("contextFactory.systemUsername", "cn=system,dc=x", "contextFactory.systemPassword", "machine")
	for user, want := range map[string]realm.Outcome{"alice": realm.Authenticated, "nobody": realm.Unknown, "gone": realm.Unknown, "reset": realm.Unknown, "*": realm.Unknown} {
		got, err := c.Find(ctx, "r", user, "sdn")
		if err != nil || got.Outcome != want || want == realm.Authenticated && len(got.Roles) == 0 {
			t.Errorf("%s: %+v, %v", user, got, err)
		}
	}
}

func TestOtherWaysToRoles(t *testing.T) {
	entries := append(people(), ldaptest.Entry{DN: "cn=ops,ou=Groups,dc=x",
		Attributes: map[string][]string{"cn": {"ops"}, "member": {"uid=mallory,ou=People,dc=x"}}},
		ldaptest.Entry{DN: "cn=of mallory,ou=Rights,dc=x", Attributes: map[string][]string{"uid": {"mallory"}, "title": {"clerk"}}})
	s := (&ldaptest.Server{Entries: entries}).Start(t)
	for name, c := range map[string]struct {
		kind  string
		more  []string
		roles []string
	}{
		"authentication only": {kindAuthOnly, nil, nil},
		"entries elsewhere":   {kindRoles, []string{"searchBase", "ou=Rights,dc=x", "ldapAttributeForComparison", "title"}, []string{"clerk"}},
		"no map":              {kindRoles, nil, []string{"person"}},
		"groups by a filter":  {kindRoles, []string{"searchFilter", "(member={1})", "searchBase", "dc=x", "ldapAttributeForComparison", "cn", "groupRolesMap", "ops:admin"}, []string{"admin"}},
	} {
		t.Run(name, func(t *testing.T) {
			ask := plugin(t, c.kind, append([]string{"userDnTemplate", template, "contextFactory.url", s.URL()}, c.more...)...)
			if diff := cmp.Diff(realm.Result{Outcome: realm.Authenticated, Principal: "mallory", Roles: c.roles}, ask("mallory", "pw:mallory")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestASearchThatIsRefusedGivesNoRoles(t *testing.T) {
	s := (&ldaptest.Server{Entries: people(), SearchCode: 50}).Start(t)
	got := plugin(t, kindRoles, "userDnTemplate", template, "contextFactory.url", s.URL())("alice", "pw:alice")
	if got.Outcome != realm.Authenticated || got.Roles != nil || !strings.Contains(got.Reason, "refused") {
		t.Errorf("%+v", got)
	}
}

func TestFaultsOfSecIni(t *testing.T) {
	c := realm.NewClient(plugintest.Start(t, Options()).Conn)
	for name, k := range map[string]struct{ pairs, want []string }{
		"nothing":   {nil, []string{"r.contextFactory.url", "userDnTemplate"}},
		"misspelt":  {[]string{"userDnTemplate", template, "contextFactory.url", "ldap://h", "seachBase", "dc=x"}, []string{"etc/sec.ini:7", `did you mean "searchBase"`}},
		"no place":  {[]string{"userDnTemplate", "uid=x,dc=x", "contextFactory.url", "ldap://h"}, []string{"{0}"}},
		"scheme":    {[]string{"userDnTemplate", template, "contextFactory.url", "http://h"}, []string{"neither ldap nor ldaps"}},
		"pair":      {[]string{"userDnTemplate", template, "contextFactory.url", "ldap://h", "groupRolesMap", "person"}, []string{"key:value"}},
		"filter":    {[]string{"userDnTemplate", template, "contextFactory.url", "ldap://h", "searchFilter", "(uid={0}"}, []string{"searchFilter"}},
		"base":      {[]string{"userDnTemplate", template, "contextFactory.url", "ldap://h", "searchBase", "lab"}, []string{"etc/sec.ini:7", "searchBase", "is not a DN"}},
		"attribute": {[]string{"userDnTemplate", template, "contextFactory.url", "ldap://h", "ldapAttributeForComparison", "member of"}, []string{"etc/sec.ini:7", "such as memberOf"}},
		"time":      {[]string{"userDnTemplate", template, "contextFactory.url", "ldap://h", "connectTimeout", "5s"}, []string{"etc/sec.ini:7", "connectTimeout", "milliseconds"}},
		"half accounts, the other half": {[]string{"userDnTemplate", template, "contextFactory.url", "ldap://h", "contextFactory.systemPassword", "hush"},
			[]string{"systemPassword", "add contextFactory.systemUsername"}},
		"half accounts": {[]string{"userDnTemplate", template, "contextFactory.url", "ldap://h", "contextFactory.systemUsername", "cn=x"}, []string{"systemPassword"}},
	} {
		_, err := c.Configure(t.Context(), realm.Config{Name: "r", Kind: kindRoles, Properties: properties(k.pairs...)})
		for _, want := range k.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", name, err, want)
			}
		}
	}
}
