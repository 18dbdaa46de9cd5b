// Package realmjwt is the plugin that serves BearerJwtRealm of etc/sec.ini: it verifies JWTs that an
// identity provider has signed, and takes user and roles from their claims. settings.go is the
// properties, keys.go the keys of the provider, provider.go how they are asked for, token.go the
// signature, claims.go what a token says.
package realmjwt

import (
	"context"
	_ "embed"
	"log/slog"
	"time"

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
			return &sdk.Plugin{Realm: factory{
				trust: trust.New(env.Host.Certificates, slog.Default()),
				now:   time.Now,
			}}, nil
		},
	}
}
