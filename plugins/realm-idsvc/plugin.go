// Package realmidsvc is the plugin that serves IdSvcAuthRealm of etc/sec.ini: it
// asks an identity service for a token, by the Identity API version 3, and takes the
// roles from the answer. messages.go is the API's forms, realm.go one login,
// factory.go the properties, with HTTP and TLS.
package realmidsvc

import (
	"context"
	_ "embed"
	"log/slog"

	"ctl.internal/sdk"
	"ctl.internal/sdk/realm/trust"
)

//go:embed plugin.yaml
var manifest []byte

// Options describe the plugin.
func Options() sdk.Options {
	return sdk.Options{
		Manifest: manifest,
		New: func(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
			return &sdk.Plugin{Realm: factory{trust.New(env.Host.Certificates, slog.Default())}}, nil
		},
	}
}
