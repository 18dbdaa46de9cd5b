package server

import (
	"context"
	"encoding/json"
	"strings"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/act"
	"ctl.internal/host/internal/aaa/policy"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/keys/keystore"
	certrpc "ctl.internal/host/internal/keys/keystore/rpc"
	"ctl.internal/host/internal/restconf/tree"
)

// policyNodes are the top-level nodes that decide access.
var policyNodes = []string{aaa.PolicyNode, aaa.BrokerNode, aaa.RolesNode, aaa.RightsNode}

// treeValidators check a change of some trees before it is committed: access control checks
// what decides access, and changed settings are written to their files.
func (s *Server) treeValidators() map[string]tree.Validator {
	out := map[string]tree.Validator{}
	for _, node := range policyNodes {
		out[node] = func(ctx context.Context, after json.RawMessage) error {
			return s.aaa.Check(ctx, node, after)
		}
	}
	check := out[aaa.PolicyNode]
	out[aaa.PolicyNode] = func(ctx context.Context, after json.RawMessage) error {
		err := check(ctx, after)
		if err == nil {
			s.notifyOfCopies(ctx, after)
		}
		return err
	}
	out[certrpc.SettingsNode] = func(_ context.Context, after json.RawMessage) error {
		return keystore.SetConfigData(s.home, after)
	}
	out[encrypt.Node] = func(_ context.Context, after json.RawMessage) error {
		return s.secrets.SetData(after)
	}
	return out
}

// notifyOfCopies has the answer to a change of policies say what else they decide: what is made of the resources that they name.
func (s *Server) notifyOfCopies(ctx context.Context, policies json.RawMessage) {
	o := s.catalog.origins.Load()
	if o == nil {
		return
	}
	for _, resource := range policy.Resources(policies) {
		path, err := reqpath.ParseString(strings.TrimRight(resource, "*/"))
		if err != nil || path.DataDepth() == 0 || len(path.Segments()) == path.DataDepth() {
			continue
		}
		top, _, _ := strings.Cut(path.Segments()[path.DataDepth()].Decoded, "=")
		if copies := o.copiesOf(top); len(copies) > 0 {
			act.Of(ctx).Notify("the policy for " + path.Canonical() + " holds for what is made of it, too: " + strings.Join(copies, ", "))
		}
	}
}

// decidingStore is a store by which policies are in force when their commit is answered.
func (s *Server) decidingStore() datastore.Store {
	var keys []string
	for _, node := range policyNodes {
		keys = append(keys, "/"+node)
	}
	return policy.Follow(s.store, tree.ConfigNamespace, keys, func(ctx context.Context, key string) {
		_ = s.applyPolicies(ctx, key[1:])
	})
}

// mirrorSettings shows the settings of files in the configuration tree. The files
// count; a change of the tree is written to them by its validator.
func (s *Server) mirrorSettings(ctx context.Context) {
	for node, read := range map[string]func() (json.RawMessage, error){
		certrpc.SettingsNode: func() (json.RawMessage, error) {
			return keystore.ConfigData(s.home)
		},
		encrypt.Node: s.secrets.Data,
	} {
		data, err := read()
		if err == nil {
			err = s.restconf.Config().Set(ctx, s.catalog.Installed().Schema, "/"+node, data)
		}
		if err != nil {
			s.log.Warn(
				"settings of a file are not shown in the configuration",
				"node",
				node,
				"error",
				err,
			)
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
	content, err := s.restconf.Config().Get(ctx, s.catalog.Installed().Schema, "/"+node)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Error(
				"the policies cannot be read; what they decide is denied",
				"node",
				node,
				"error",
				err,
			)
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
	for _, node := range policyNodes {
		s.runInBackground(ctx, "policies", func(ctx context.Context) error {
			return datastore.Changed(ctx, s.store, []datastore.Prefix{{
				Namespace: tree.ConfigNamespace,
				Key:       "/" + node,
			}}, func(ctx context.Context, _ *datastore.Batch) error {
				return s.applyPolicies(ctx, node)
			})
		})
	}
}
