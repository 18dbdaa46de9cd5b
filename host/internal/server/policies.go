package server

import (
	"context"
	"encoding/json"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/restconf/tree"
)

// guards ask access control before a change of its own trees is committed.
func (s *Server) guards() map[string]tree.Guard {
	out := map[string]tree.Guard{}
	for _, node := range []string{aaa.PolicyNode, aaa.BrokerNode} {
		out[node] = func(ctx context.Context, after json.RawMessage) error { return s.aaa.Guard(ctx, node, after) }
	}
	return out
}

// applyPolicies puts the stored content of a tree that decides access into force.
// What cannot be read denies.
func (s *Server) applyPolicies(ctx context.Context, node string) {
	if s.restconf == nil {
		return // the start applies them when the trees are there
	}
	content, _, err := s.restconf.Config().Get(ctx, s.catalog.Installed().Schema, "/"+node)
	if err != nil {
		s.log.Error("the policies cannot be read; what they decide is denied", "node", node, "error", err)
		s.aaa.Unreadable(node)
		return
	}
	_ = s.aaa.Apply(ctx, node, content) // it logs and denies by itself
}
