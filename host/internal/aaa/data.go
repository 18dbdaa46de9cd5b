package aaa

import (
	"context"
	"encoding/json"
	"slices"

	"ctl.internal/host/internal/aaa/broker"
	"ctl.internal/host/internal/aaa/policy"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/sdk/caller"
)

// The top-level nodes of the configuration tree that decide access.
const (
	PolicyNode = "aaa:http-authorization"
	BrokerNode = "authorization-schema:simple-authorization"
)

// Guard is asked before a change of the configuration tree is committed: node is
// the top-level node's qualified name, after its content as it would be, in
// RFC 7951 JSON, empty when it would be gone. It refuses policies that are invalid
// (fault.Invalid) or that would lock every administrator out (fault.InUse, 409).
func (a *AAA) Guard(ctx context.Context, node string, after json.RawMessage) error {
	if node != PolicyNode && node != BrokerNode {
		return nil
	}
	admins, err := a.identity.Admins(ctx)
	if err != nil {
		return err
	}
	if node == BrokerNode {
		list, err := broker.Decode(after)
		if err != nil {
			return err
		}
		return broker.Check(list, admins)
	}
	list, err := decodePolicies(after)
	if err != nil {
		return err
	}
	return policy.Check(list, admins, a.ruledByPolicies("/restconf/config/"+PolicyNode+"/policies"))
}

// ruledByPolicies lists the addresses of a path's target at which the rules ask the policies.
func (a *AAA) ruledByPolicies(path string) []reqpath.Path {
	p, err := reqpath.ParseString(path)
	if err != nil {
		return nil
	}
	all := append(a.otherAddresses(p, ""), p)
	return slices.DeleteFunc(all, func(p reqpath.Path) bool { return !a.rules.Dynamic(p.Segments()) })
}

// Apply puts the committed content of one of the two nodes into force; others are
// ignored. It must run before the change is answered (see policy.Follow), and at
// start. When the content cannot be understood, all that it would decide is denied.
func (a *AAA) Apply(ctx context.Context, node string, content json.RawMessage) error {
	var err error
	switch node {
	case BrokerNode:
		var list []broker.Policy
		if list, err = broker.Decode(content); err == nil {
			err = a.broker.Set(list)
		}
		if err != nil {
			a.broker.Deny()
		}
	case PolicyNode:
		var list []policy.Policy
		if list, err = decodePolicies(content); err == nil {
			err = a.policies.Set(list)
		}
		if err != nil {
			a.policies.Fail()
		}
	default:
		return nil
	}
	if c, ok := caller.From(ctx); ok && c.User != "" {
		a.recorder.Change(ctx, "change policies", node)
	}
	if err != nil {
		a.log.ErrorContext(ctx, "policies cannot be read; what they decide is denied", "node", node, "error", err)
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
	}
}

func decodePolicies(content json.RawMessage) ([]policy.Policy, error) {
	if len(content) == 0 {
		return nil, nil
	}
	return policy.Decode(content)
}
