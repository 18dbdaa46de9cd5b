// Package broker enforces simple authorization: when a service has policies, its
// data is open only to users who hold the role of a policy that matches. It is
// experimental in the documents; package policy is what new policies should use.
package broker

import (
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
	now atomic.Pointer[[]rule]
}

func compile(list []Policy) ([]rule, error) {
	var out []rule
	for _, p := range list {
		resource := p.Resource
		if resource == "" {
			resource = "*"
		}
		pat, err := pattern.Compile(resource)
		if err != nil {
			return nil, fault.At(fault.Invalid, "authorization-schema:simple-authorization/policies="+p.Service+"/resource", "%v", err)
		}
		if p.Service == RestConf {
			out = append(out, rule{p.Action, pat, p.Role})
		}
	}
	return out, nil
}

// Set replaces all policies; on an error the old ones stay.
func (e *Engine) Set(list []Policy) error {
	rules, err := compile(list)
	if err == nil {
		e.now.Store(&rules)
	}
	return err
}

// Deny refuses all data: the policies cannot be read.
func (e *Engine) Deny() { e.now.Store(&[]rule{{role: "\x00"}}) }

// actionsOf are the actions that a request's method stands for.
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
	return allows(*p, method, path, roles)
}

func allows(rules []rule, method string, path reqpath.Path, roles []string) bool {
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

// Check tells whether a list may replace the present one: it must be valid, and
// an administrator must still be able to change it.
func Check(list []Policy, admins [][]string) error {
	rules, err := compile(list)
	if err != nil || len(rules) == 0 {
		return err
	}
	p, err := reqpath.ParseString("/restconf/config/authorization-schema:simple-authorization/policies/" + RestConf)
	if err != nil {
		return err
	}
	for _, roles := range admins {
		if allows(rules, http.MethodPut, p, roles) || allows(rules, http.MethodDelete, p, roles) {
			return nil
		}
	}
	return fault.At(fault.InUse, "authorization-schema:simple-authorization", "with this policy no administrator could change it any more; give it role admin and resource *")
}

// Decode reads the content of simple-authorization in RFC 7951 JSON; nil is none.
func Decode(content json.RawMessage) ([]Policy, error) {
	if len(content) == 0 {
		return nil, nil
	}
	var c struct {
		Policies []Policy `json:"policies"`
		Prefixed []Policy `json:"authorization-schema:policies"`
	}
	if err := json.Unmarshal(content, &c); err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "the broker's policies cannot be read")
	}
	return append(c.Policies, c.Prefixed...), nil
}
