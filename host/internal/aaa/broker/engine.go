// Package broker enforces simple authorization: when a service has policies, its
// data is open only to users who hold the role of a policy that matches. It is
// experimental in the documents; package policy is what new policies should use.
package broker

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"sync/atomic"

	"ctl.internal/host/internal/aaa/pattern"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/sdk/fault"
)

// RestConf is the service of RESTCONF's data trees.
const RestConf = "RestConfService"

// Policy is one entry of the list, as stored.
type Policy struct {
	Service  string `json:"service"`
	Action   string `json:"action,omitempty"`   // empty = any
	Resource string `json:"resource,omitempty"` // empty = *
	Role     string `json:"role"`
}

type rule struct {
	action   string
	resource pattern.Pattern
	role     string
}

// Engine answers with the policies of the moment. Its zero value allows all: the
// broker is a feature that need not be installed. It is safe for concurrent use.
type Engine struct {
	now atomic.Pointer[Rules]
}

// Rules are compiled policies.
type Rules []rule

// Compile reads the content of simple-authorization in canonical RFC 7951 JSON; empty
// content has no policies.
func Compile(content json.RawMessage) (Rules, error) {
	var c struct {
		Policies []Policy `json:"policies"`
	}
	if len(content) > 0 {
		if err := json.Unmarshal(content, &c); err != nil {
			return nil, fault.Wrap(fault.Malformed, err, "the broker's policies cannot be read")
		}
	}
	var out Rules
	for _, p := range c.Policies {
		resource := cmp.Or(p.Resource, "*")
		pat, err := pattern.Compile(resource)
		if err != nil {
			return nil, fault.At(
				fault.Invalid,
				"authorization-schema:simple-authorization/policies="+p.Service+"/resource",
				"%v",
				err,
			)
		}
		if p.Service == RestConf {
			out = append(out, rule{p.Action, pat, p.Role})
		}
	}
	return out, nil
}

// Use puts compiled policies into force.
func (e *Engine) Use(rules Rules) { e.now.Store(&rules) }

// Deny refuses all data: the policies cannot be read.
func (e *Engine) Deny() { e.now.Store(&Rules{{role: "\x00"}}) }

// actionsOf are the actions that a request's method means.
func actionsOf(method string) []string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return []string{"read", "exists"}
	case http.MethodPut, http.MethodPost:
		return []string{"put", "commit", "submit"}
	case http.MethodPatch:
		return []string{"merge", "commit", "submit"}
	case http.MethodDelete:
		return []string{"delete", "commit", "submit"}
	}
	return nil
}

// Allows decides for a caller with these roles.
func (e *Engine) Allows(method string, path reqpath.Path, roles []string) bool {
	p := e.now.Load()
	if p == nil || len(*p) == 0 {
		return true
	}
	return p.allowsRequest(method, path, roles)
}

func (rules Rules) allowsRequest(method string, path reqpath.Path, roles []string) bool {
	depth := path.DataDepth()
	if depth == 0 {
		return true
	}
	actions := actionsOf(method)
	for _, r := range rules {
		if (r.action == "" || r.action == "any" || slices.Contains(actions, r.action)) &&
			slices.Contains(roles, r.role) && r.resource.Match(path.Segments()[depth:]) {
			return true
		}
	}
	return false
}

// Check reports whether the policies may replace the present ones: an administrator must
// still be able to change them.
func (rules Rules) Check(admins [][]string) error {
	if len(rules) == 0 {
		return nil
	}
	p, err := reqpath.ParseString("/restconf/config/authorization-schema:simple-authorization/policies/" + RestConf)
	if err != nil {
		return err
	}
	for _, roles := range admins {
		if rules.allowsRequest(http.MethodPut, p, roles) ||
			rules.allowsRequest(http.MethodDelete, p, roles) {
			return nil
		}
	}
	return fault.At(
		fault.InUse,
		"authorization-schema:simple-authorization",
		"with this policy no administrator could change it any more; give it role admin and resource *",
	)
}
