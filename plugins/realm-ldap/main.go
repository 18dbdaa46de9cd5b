package main

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

func main() { sdk.Serve(options()) }

func options() sdk.Options {
	return sdk.Options{Manifest: manifest, New: func(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
		ldap.Bound()
		return &sdk.Plugin{Realm: factory{trust.New(env.Host.Certificates, slog.Default())}}, nil
	}}
}
