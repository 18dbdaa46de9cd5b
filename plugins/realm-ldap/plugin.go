// Package realmldap is the plugin that serves CtlJndiLdapRealm and
// CtlJndiLdapRealmAuthNOnly of etc/sec.ini: a user binds under a DN made of a
// template, and values of the user's entry are translated into roles. How the
// directory is reached is package internal/ldap; Active Directory is the plugin
// realm-directory.
package realmldap

import (
	"context"
	_ "embed"
	"log/slog"
	"strings"

	"ctl.internal/internal/ldap"
	"ctl.internal/sdk"
	"ctl.internal/sdk/realm"
	"ctl.internal/sdk/realm/trust"
)

//go:embed plugin.yaml
var manifest []byte

// Options describe the plugin.
func Options() sdk.Options {
	return sdk.Options{Manifest: manifest, New: func(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
		ldap.Bound()
		return &sdk.Plugin{Realm: factory{trust.New(env.Host.Certificates, slog.Default())}}, nil
	}}
}

// The kinds served.
const (
	kindRoles    = "CtlJndiLdapRealm"
	kindAuthOnly = "CtlJndiLdapRealmAuthNOnly"
)

type factory struct{ trust *trust.Source }

// Kinds implements realm.Factory.
func (factory) Kinds() []string { return []string{kindRoles, kindAuthOnly} }

// New implements realm.Factory.
func (f factory) New(_ context.Context, c realm.Config) (realm.Realm, []string, error) {
	r := realm.Read(c)
	settings, warnings := ldap.ReadSettings(r, ldap.Names{Prefix: "contextFactory."})
	template := r.Needed("userDnTemplate", "the name to bind with, such as uid={0},ou=People,dc=example,dc=org")
	if template != "" && !strings.Contains(template, "{0}") {
		r.Fault("userDnTemplate", "{0}, which is replaced by the user name, is missing")
	}
	l := &ldapRealm{template: ldap.NewTemplate(template)}
	readRoles(r, l, template, c.Kind == kindRoles)
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	l.client = ldap.New(settings, f.trust)
	return l, warnings, nil
}

// readRoles reads how roles are found. A realm without roles may have these properties, so that only its kind must be
// changed.
func readRoles(r *realm.Reader, l *ldapRealm, template string, roles bool) {
	naming, suffix := ldap.Naming(template)
	if naming == "" {
		naming = "uid"
	}
	l.base = r.String("searchBase", suffix)
	l.attribute = r.String("ldapAttributeForComparison", "objectClass")
	if err := ldap.CheckBase(l.base); err != nil {
		r.Fault("searchBase", "%v", err)
	}
	if err := ldap.CheckAttribute(l.attribute); err != nil {
		r.Fault("ldapAttributeForComparison", "%v", err)
	}
	l.filter = r.String("searchFilter", "")
	l.roles = ldap.NewRoles(r.Pairs("groupRolesMap"))
	if l.filter == "" {
		l.filter, l.own = "("+naming+"={0})", l.base != "" && l.template.Within(l.base)
	} else if err := ldap.CheckFilter(l.filter); err != nil {
		r.Fault("searchFilter", "%v", err)
	}
	if !roles {
		l.filter = ""
	} else if l.base == "" && template != "" {
		r.Fault("searchBase", "the userDnTemplate does not say where users are; write searchBase = dc=example,dc=org")
	}
}
