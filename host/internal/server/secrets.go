package server

import (
	"context"
	"fmt"
	"maps"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/realm"
)

// openSecrets opens the encryption service on the store, and returns the store as
// everybody else sees it.
func (s *Server) openSecrets(ctx context.Context, store datastore.Store) (datastore.Store, error) {
	s.store = store // for stop, should the rest fail
	var err error
	s.secrets, err = encrypt.Open(ctx, encrypt.Options{Dir: s.home, Store: store, Shared: s.loaded.Datastore.Shared(),
		Documents: tree.ConfigNamespace, Log: s.registry.Logger("org.ctl.encrypt")})
	if err != nil {
		return nil, fmt.Errorf("encryption service: %w", err)
	}
	s.background(ctx, "encryption service", s.secrets.Run)
	s.store = s.secrets.Documents()
	return s.store, nil
}

func (s *Server) secretCommands() []commands.Command { return s.secrets.Commands() }

// openRealm is a configuration of a realm with its sealed settings opened.
func (s *Server) openRealm(c realm.Config) (realm.Config, error) {
	c.Properties = maps.Clone(c.Properties)
	for name, p := range c.Properties {
		plain, err := s.secrets.OpenText(p.Value)
		if err != nil {
			return c, fmt.Errorf("%s: %s.%s: %w", p.Origin, c.Name, name, err)
		}
		if plain != p.Value {
			c.Properties[name] = realm.Property{Value: plain, List: []string{plain}, Origin: p.Origin}
		}
	}
	return c, nil
}
