package aaa_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/datastore/storetest"
)

// A user of another realm is NAME@REALM by whatever the user logs in with, and nobody of the controller's own domains.
func TestUsersOfOtherRealmsAreNobodyHere(t *testing.T) {
	for _, account := range []bool{true, false} {
		d := &finding{directory{users: map[string]string{"ann@": "pw", "ann@sdn": "pw"}, roles: []string{"admin"}}, account}
		var changes []string
		l := withDirectory(t, func(o *aaa.Options) { o.Realms = d })
		l.Accounting().Listen(always, listen(&changes))
		l.user("ann", "user")
		tab := l.logIn("ann", "pw")
		for _, auth := range []string{"ann:pw", "ann@sdn:pw", l.token("ann", "pw"), l.token("ann@sdn", "pw")} {
			if a := l.want(200, "GET", "/x", auth, ""); a.body != "ann@ldapRealm admin" {
				t.Errorf("account %v: by %s she is %q", account, auth, a.body)
			}
		}
		if a := tab.do("GET", "/x"); a.body != "ann@ldapRealm admin" {
			t.Errorf("account %v: by her session she is %q", account, a.body)
		}
		if a := l.want(200, "GET", "/x", "ann:password1", ""); a.body != "ann@sdn user" {
			t.Errorf("account %v: the user of this controller is %q", account, a.body)
		}
		l.want(201, "POST", "/auth/v1/roles", "ann:pw", `{"name":"r","domainid":"sdn"}`)
		for _, want := range []string{"change begin session ldapRealm/ann@ by ann@ldapRealm", "change create role r@sdn by ann@ldapRealm"} {
			if !slices.Contains(changes, want) {
				t.Errorf("account %v: %q is not in %q", account, want, changes)
			}
		}
		who, _, err := l.Console().Password(ctx, "ann", "pw", "")
		if err != nil || who.ID() != "ann@ldapRealm" {
			t.Errorf("account %v: at the console she is %s, %v", account, who.ID(), err)
		}
		l.want(200, "GET", "/x", "ann:pw", "") // remembered
		before := d.asked
		if a := l.want(400, "POST", "/auth/password", "ann:pw", `{"current":"pw","password":"password2"}`); !strings.Contains(a.body, "ldapRealm stores the password") {
			t.Errorf("account %v: her password is changed here: %s", account, a.body)
		}
		if d.asked != before {
			t.Errorf("account %v: her password was tried under another name", account)
		}
	}
}

// Where a realm has several domains, users of two of them who are called the same are two.
func TestUsersOfTwoDomainsOfARealmAreTwo(t *testing.T) {
	d := &finding{directory{users: map[string]string{"ann@lab": "pw", "ann@lab@lab": "pw", "ann@sdn": "pw", "ann@Default": "pw"}, roles: []string{"admin"}, fallback: "Default"}, true}
	l := open(t, idsvcINI, func(o *aaa.Options) { o.Realms = d })
	for auth, want := range map[string]string{
		"ann@lab:pw":     "ann@lab@idSvcAuthRealm admin",
		"ann@lab@lab:pw": "ann@lab@lab@idSvcAuthRealm admin",
		"ann@sdn:pw":     "ann@sdn@idSvcAuthRealm admin",
		"ann:pw":         "ann@idSvcAuthRealm admin",
	} {
		if a := l.want(200, "GET", "/x", auth, ""); a.body != want {
			t.Errorf("%s is %q, want %q", auth, a.body, want)
		}
	}
	_, err := l.runCommand("access:block", nil, "idSvcAuthRealm/ann@lab@idSvcAuthRealm")
	must(t, err)
	l.want(401, "GET", "/x", "ann@lab:pw", "")
	l.want(200, "GET", "/x", "ann@sdn:pw", "")
	l.want(200, "GET", "/x", "ann:pw", "")
}

// No realm, no domain and nothing of the controller itself may have the same name.
func TestNoTwoHaveOneDomain(t *testing.T) {
	for _, name := range []string{"sdn", "SDN", "plugin"} {
		ini := "[main]\n" + name + " = CtlJndiLdapRealm\nsecurityManager.realms = $" + name + "\n[urls]\n/** = authcBasic\n"
		err := aaa.Validate(aaa.Options{SecINI: []byte(ini)})
		if err == nil || !strings.Contains(err.Error(), "etc/sec.ini:2: ") || !strings.Contains(err.Error(), "write another name") {
			t.Errorf("a realm %s: %v", name, err)
		}
	}
	l := withDirectory(t, func(*aaa.Options) {})
	for _, name := range []string{"ldapRealm", "ldaprealm", "plugin"} {
		if a := l.want(400, "POST", "/auth/v1/domains", adm, `{"name":"`+name+`"}`); !strings.Contains(a.body, "choose another name") {
			t.Errorf("a domain %s: %s", name, a.body)
		}
	}
	l.want(201, "POST", "/auth/v1/domains", adm, `{"name":"lab"}`)
}

// A domain that was made before the realm of its name, or that an earlier release let be made.
func TestDomainsThatAreThereAlready(t *testing.T) {
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	before := identity.New(identity.Options{Store: store})
	must(t, before.CreateDomain(ctx, identity.Domain{Name: "plugin", Enabled: true}))
	var log bytes.Buffer
	with := func(ini string) error {
		_, err := aaa.New(ctx, aaa.Options{
			SecINI: []byte(ini),
			Store:  store,
			Logger: func(string) *slog.Logger { return slog.New(slog.NewTextHandler(&log, nil)) },
		})
		return err
	}
	must(t, with(twoRealmsINI))
	if !strings.Contains(log.String(), "delete this one") {
		t.Errorf("nothing is said of the domain plugin:\n%s", log.String())
	}
	must(t, before.CreateDomain(ctx, identity.Domain{Name: "ldapRealm", Enabled: true}))
	err := with(twoRealmsINI)
	if err == nil || !strings.Contains(err.Error(), "etc/sec.ini:3: ") || !strings.Contains(err.Error(), "call it otherwise") {
		t.Errorf("a realm that is called like a domain: %v", err)
	}
}
