// Package realmdirectory is the plugin that serves CtlDirectoryRealm of
// etc/sec.ini: a user binds by userPrincipalName, and the groups that the user is in,
// nested ones too, are translated into roles. How the directory is reached is package
// internal/ldap; plain LDAP servers are the plugin realm-ldap.
package realmdirectory

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
	return sdk.Options{
		Manifest: manifest,
		New: func(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
			ldap.Bound()
			return &sdk.Plugin{Realm: factory{trust.New(env.Host.Certificates, slog.Default())}}, nil
		},
	}
}

type factory struct{ trust *trust.Source }

// New implements realm.Factory.
func (f factory) New(_ context.Context, c realm.Config) (realm.Realm, []string, error) {
	r := realm.Read(c)
	settings, warnings := ldap.ReadSettings(r, "")
	roles := ldap.NewRoles(r.Pairs("groupRolesMap"))
	d := &directory{
		suffix: r.String("principalSuffix", ""),
		nested: r.Bool("nestedGroups", true),
		mapped: roles != nil,
	}
	if d.suffix != "" && !strings.HasPrefix(d.suffix, "@") {
		r.Fault("principalSuffix", "%q does not begin with @", d.suffix)
	}
	if d.base = r.String("searchBase", baseOf(d.suffix)); d.base == "" {
		r.Fault(
			"searchBase",
			"write searchBase = dc=example,dc=org, or principalSuffix = @example.org of which it is made",
		)
	} else if err := ldap.CheckBase(d.base); err != nil {
		r.Fault("searchBase", "%v", err)
	}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	return &ldap.Realm{
		Directory: d,
		Client:    ldap.New(settings, f.trust),
		Map:       roles,
		Base:      d.base,
	}, warnings, nil
}

// baseOf makes DC=example,DC=org of @example.org (RFC 2247).
func baseOf(suffix string) string {
	var parts []string
	template := ldap.NewTemplate("DC={0}")
	for label := range strings.SplitSeq(strings.TrimPrefix(suffix, "@"), ".") {
		if label != "" {
			parts = append(parts, template.Name(label))
		}
	}
	return strings.Join(parts, ",")
}
