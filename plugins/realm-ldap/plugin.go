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

	"ctl.internal/internal/ldap"
	"ctl.internal/sdk"
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
