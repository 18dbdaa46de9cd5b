package server

import (
	"context"
	"encoding/json"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/keys/keystore"
	certrpc "ctl.internal/host/internal/keys/keystore/rpc"
	"ctl.internal/host/internal/restconf/tree"
)

// guards ask access control before a change of its own trees is committed, and write
// changed settings to their files.
func (s *Server) guards() map[string]tree.Guard {
	out := map[string]tree.Guard{}
	for _, node := range []string{aaa.PolicyNode, aaa.BrokerNode} {
		out[node] = func(ctx context.Context, after json.RawMessage) error { return s.aaa.Guard(ctx, node, after) }
	}
	out[certrpc.SettingsNode] = func(_ context.Context, after json.RawMessage) error { return keystore.SetConfigData(s.home, after) }
	out[encrypt.Node] = func(_ context.Context, after json.RawMessage) error { return s.secrets.SetData(after) }
	return out
}

// mirrorSettings shows the settings of files in the configuration tree. The files
// count; a change of the tree is written to them by its guard.
func (s *Server) mirrorSettings(ctx context.Context) {
	for node, read := range map[string]func() (json.RawMessage, error){
		certrpc.SettingsNode: func() (json.RawMessage, error) { return keystore.ConfigData(s.home) }, encrypt.Node: s.secrets.Data,
	} {
		data, err := read()
		if err == nil {
			err = s.restconf.Config().Set(ctx, s.catalog.Installed().Schema, "/"+node, data)
		}
		if err != nil {
			s.log.Warn("settings of a file are not shown in the configuration", "node", node, "error", err)
		}
	}
}

// applyPolicies puts the stored content of a tree that decides access into force.
// What cannot be read denies.
func (s *Server) applyPolicies(ctx context.Context, node string) error {
	if s.restconf == nil {
		return nil // the start applies them when the trees are there
	}
	// Of two commits at once, the one read first must not be applied last.
	s.applying.Lock()
	defer s.applying.Unlock()
	content, _, err := s.restconf.Config().Get(ctx, s.catalog.Installed().Schema, "/"+node)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Error("the policies cannot be read; what they decide is denied", "node", node, "error", err)
			s.aaa.Unreadable(node)
		}
		return err
	}
	_ = s.aaa.Apply(ctx, node, content) // it logs and denies by itself
	return nil
}

// followPolicies applies what other nodes of a cluster change. The changes of this
// one are in force already when they are answered.
func (s *Server) followPolicies(ctx context.Context) {
	for _, node := range []string{aaa.PolicyNode, aaa.BrokerNode} {
		s.background(ctx, "policies", func(ctx context.Context) error {
			return datastore.Changed(ctx, s.store, []datastore.Prefix{{Namespace: tree.ConfigNamespace, Key: "/" + node}}, func(ctx context.Context, _ *datastore.Batch) error {
				return s.applyPolicies(ctx, node)
			})
		})
	}
}
