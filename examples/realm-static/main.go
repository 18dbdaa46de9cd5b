// Command realm-static is the example of docs/realms.md: a realm in 60 lines.
package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/hex"
	"strings"

	"ctl.internal/sdk"
	"ctl.internal/sdk/realm"
)

//go:embed plugin.yaml
var manifest []byte

func main() { sdk.Serve(options()) }

func options() sdk.Options {
	return sdk.Options{Manifest: manifest, New: func(context.Context, *sdk.Env) (*sdk.Plugin, error) {
		return &sdk.Plugin{Realm: factory{}}, nil
	}}
}

type factory struct{}

// New reads the properties of one instance: staticRealm.users = name:digest, ...
func (factory) New(_ context.Context, c realm.Config) (realm.Realm, []string, error) {
	r := realm.Read(c)
	s := &static{digests: r.Pairs("users"), roles: strings.Fields(r.String("roles", "user"))}
	for name, digest := range s.digests {
		if b, err := hex.DecodeString(digest); err != nil || len(b) != sha256.Size {
			r.Fault("users", "the digest of %s is not 64 hexadecimal digits", name)
		}
	}
	return s, nil, r.Err() // every fault at once, unknown properties among them
}

type static struct {
	digests map[string]string // SHA-256 of the password in hex, by user
	roles   []string
}

// Authenticate answers Unknown for a wrong password too: the next realm is asked.
func (s *static) Authenticate(_ context.Context, c realm.Credentials) (realm.Result, error) {
	sum := sha256.Sum256([]byte(c.Password))
	digest := strings.ToLower(s.digests[c.User])
	if c.Domain != "" || subtle.ConstantTimeCompare([]byte(digest), []byte(hex.EncodeToString(sum[:]))) != 1 {
		return realm.Result{Outcome: realm.Unknown}, nil
	}
	return realm.Result{Outcome: realm.Authenticated, Principal: c.User, Roles: s.roles}, nil
}

func (s *static) Close() error { return nil }
