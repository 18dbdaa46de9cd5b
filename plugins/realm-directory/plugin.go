// Package realmdirectory is the plugin that serves CtlDirectoryRealm of
// etc/sec.ini: a user binds by userPrincipalName, and the groups that the user is in,
// nested ones too, are translated into roles. How the directory is reached is package
// internal/ldap; plain LDAP servers are the plugin realm-ldap.
package realmdirectory

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
