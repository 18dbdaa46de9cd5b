// Package realmldap is the plugin that serves CtlJndiLdapRealm and
// CtlJndiLdapRealmAuthNOnly of etc/sec.ini: a user binds under a DN made of a
// template, and values of the user's entry are translated into roles. How the
// directory is reached is package internal/ldap; Active Directory is the plugin
// realm-directory.
package realmldap

import (
	"cmp"
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
	return sdk.Options{
		Manifest: manifest,
		New: func(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
			ldap.Bound()
			return &sdk.Plugin{Realm: factory{trust.New(env.Host.Certificates, slog.Default())}}, nil
		},
	}
}

// The kinds served.
const (
	kindRoles    = "CtlJndiLdapRealm"
	kindAuthOnly = "CtlJndiLdapRealmAuthNOnly"
)

type factory struct{ trust *trust.Source }

// New implements realm.Factory.
func (f factory) New(_ context.Context, c realm.Config) (realm.Realm, []string, error) {
	r := realm.Read(c)
	settings, warnings := ldap.ReadSettings(r, "contextFactory.")
	template := r.Needed(
		"userDnTemplate",
		"the name to bind with, such as uid={0},ou=People,dc=example,dc=org",
	)
	if template != "" && !strings.Contains(template, "{0}") {
		r.Fault("userDnTemplate", "{0}, which is replaced by the user name, is missing")
	}
	d := readRoles(r, template, c.Kind == kindRoles)
	roles := ldap.NewRoles(r.Pairs("groupRolesMap"))
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	return &ldap.Realm{
		Directory: d,
		Client:    ldap.New(settings, f.trust),
		NoRoles:   c.Kind != kindRoles,
		Map:       roles,
		Base:      d.base,
		Attribute: d.attribute,
	}, warnings, nil
}

// readRoles reads how roles are found. A realm without roles may have these properties, so that only its kind must be
// changed.
func readRoles(r *realm.Reader, template string, roles bool) *directory {
	naming, suffix := ldap.Naming(template)
	bind := ldap.NewTemplate(template)
	d := &directory{
		template:  bind,
		fold:      !bind.IsDN() || ldap.IgnoresCase(naming),
		base:      r.String("searchBase", suffix),
		attribute: r.String("ldapAttributeForComparison", "objectClass"),
		filter:    r.String("searchFilter", ""),
	}
	if err := ldap.CheckBase(d.base); err != nil {
		r.Fault("searchBase", "%v", err)
	}
	if err := ldap.CheckAttribute(d.attribute); err != nil {
		r.Fault("ldapAttributeForComparison", "%v", err)
	}
	if d.filter == "" {
		d.filter, d.own = "("+cmp.Or(naming, "uid")+"={0})", d.base != "" && d.template.Within(d.base)
	} else if err := ldap.CheckFilter(d.filter); err != nil {
		r.Fault("searchFilter", "%v", err)
	}
	if roles && d.base == "" && template != "" {
		r.Fault(
			"searchBase",
			"the userDnTemplate does not say where users are; write searchBase = dc=example,dc=org",
		)
	}
	return d
}
