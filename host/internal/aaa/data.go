package aaa

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"ctl.internal/host/internal/aaa/broker"
	"ctl.internal/host/internal/aaa/labrole"
	"ctl.internal/host/internal/aaa/policy"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/right"
	"ctl.internal/sdk/caller"
)

// The top-level nodes of the configuration tree that decide access.
const (
	PolicyNode = "aaa:http-authorization"
	BrokerNode = "authorization-schema:simple-authorization"
	RolesNode  = "aaa-roles:roles"
	RightsNode = right.Node
)

// compiled are the policies that were read last: what is checked before a commit is the
// content that is put into force after it, and read once.
type compiled struct {
	mu       sync.Mutex
	content  []byte
	policies *policy.Index
}

func (c *compiled) compilePolicies(content json.RawMessage) (*policy.Index, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.policies != nil && bytes.Equal(content, c.content) {
		return c.policies, nil
	}
	x, err := policy.Compile(content)
	if err == nil {
		c.content, c.policies = bytes.Clone(content), x
	}
	return x, err
}

// Check is asked before a change of the configuration tree is committed: node is
// the top-level node's qualified name, after its content as it would be, in canonical
// RFC 7951 JSON, empty when it would be gone. It refuses policies that are invalid
// (fault.Invalid) or that would lock every administrator out (fault.InUse, 409).
func (a *AAA) Check(ctx context.Context, node string, after json.RawMessage) error {
	switch node {
	case PolicyNode, BrokerNode:
	case RolesNode:
		return a.checkRoles(ctx, after)
	case RightsNode:
		return a.checkRights(ctx, after)
	default:
		return nil
	}
	admins, err := a.identity.Admins(ctx)
	if err != nil {
		return err
	}
	if node == BrokerNode {
		rules, err := broker.Compile(after)
		if err != nil {
			return err
		}
		return rules.Check(admins)
	}
	x, err := a.compiled.compilePolicies(after)
	if err != nil {
		return err
	}
	return x.Check(admins, a.ruledByPolicies("/restconf/config/"+PolicyNode+"/policies"))
}

// ruledByPolicies lists the addresses of a path's target at which the rules ask the policies.
func (a *AAA) ruledByPolicies(path string) []reqpath.Path {
	p, err := reqpath.ParseString(path)
	if err != nil {
		return nil
	}
	all := append(a.otherAddresses(p, ""), p)
	return slices.DeleteFunc(all, func(p reqpath.Path) bool {
		return !a.rules.Dynamic(p.Segments())
	})
}

// Apply puts the committed content of one of these nodes into force; others are
// ignored. It must run before the change is answered (see policy.Follow), and at
// start. When the content cannot be understood, all that it would decide is denied.
func (a *AAA) Apply(ctx context.Context, node string, content json.RawMessage) error {
	var err error
	switch node {
	case BrokerNode:
		var rules broker.Rules
		if rules, err = broker.Compile(content); err == nil {
			a.broker.Use(rules)
		}
	case RolesNode:
		var s *labrole.Set
		if s, err = labrole.Compile(content); err == nil {
			a.roles.Use(s)
		}
	case RightsNode:
		var r *right.Rights
		if r, err = right.Compile(content); err == nil {
			a.rights.Use(r)
		}
	case PolicyNode:
		var x *policy.Index
		if x, err = a.compiled.compilePolicies(content); err == nil {
			a.policies.Use(x)
		}
	default:
		return nil
	}
	if err != nil {
		a.Unreadable(node)
	}
	if c, ok := caller.From(ctx); ok && c.User != "" {
		what := "change policies"
		switch node {
		case RolesNode:
			what = "change roles"
		case RightsNode:
			what = "change rights"
		}
		a.recorder.Change(ctx, what, node)
	}
	if err != nil {
		a.log.ErrorContext(
			ctx,
			"policies cannot be read; what they decide is denied",
			"node",
			node,
			"error",
			err,
		)
	}
	return err
}

// Unreadable says that the content of a node could not be read at all.
func (a *AAA) Unreadable(node string) {
	switch node {
	case BrokerNode:
		a.broker.Deny()
	case PolicyNode:
		a.policies.Fail()
	case RolesNode:
		a.roles.Fail()
	case RightsNode:
		a.rights.Fail()
	}
}
