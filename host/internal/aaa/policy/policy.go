// Package policy holds the access policies that are data (aaa:http-authorization):
// compiled into an index whose answer costs the same for ten policies and for ten
// thousand, and replaced as a whole with every change.
//
// The tree they are stored in is RESTCONF's; the rules of sec.ini are package
// rules.
package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/pattern"
	"ctl.internal/sdk/fault"
)

// Policy is one entry of the list, as stored.
type Policy struct {
	Resource    string       `json:"resource"`
	Index       *uint32      `json:"index,omitempty"` // its place among all; nil: its place in the list
	Description string       `json:"description,omitempty"`
	Permissions []Permission `json:"permissions,omitempty"`
}

// Permission lets a role do actions. A policy permits when one of its
// permissions does; a policy without any denies everything.
type Permission struct {
	Role    string   `json:"role"`
	Actions []string `json:"actions"`
}

// Actions are the values of the leaf-list, in the order of their bits.
var Actions = []string{"get", "post", "put", "patch", "delete"}

type actions uint8

func actionOf(method string) (actions, bool) {
	switch method {
	case http.MethodGet, http.MethodHead:
		return 1, true
	case http.MethodPost:
		return 2, true
	case http.MethodPut:
		return 4, true
	case http.MethodPatch:
		return 8, true
	case http.MethodDelete:
		return 16, true
	}
	return 0, false
}

// entry is a compiled policy; its index is its place in the order.
type entry struct {
	rest  pattern.Pattern // what must match after the literal prefix
	index int
	tree  bool // it decides for all below what it matches
	roles []grant
	kind  string // equal for entries that permit the same

	resource string // as it is written
}

type grant struct {
	role    string
	allowed actions
}

func (e *entry) permitsAction(a actions, roles []string) bool {
	for i := range e.roles {
		if e.roles[i].allowed&a != 0 && slices.Contains(roles, e.roles[i].role) {
			return true
		}
	}
	return false
}

func compilePolicy(i int, p Policy) (pattern.Shape, *entry, error) {
	at := func(format string, args ...any) error {
		return fault.At(fault.Invalid, fmt.Sprintf("aaa:http-authorization/policies/policies[%d]", i), format, args...)
	}
	resource := cmp.Or(p.Resource, "*")
	pat, err := pattern.Compile(resource)
	if err != nil {
		return pattern.Shape{}, nil, at("resource: %v", err)
	}
	e := &entry{index: i, tree: pat.Tree(), resource: resource}
	for _, perm := range p.Permissions {
		g := grant{role: perm.Role}
		for _, name := range perm.Actions {
			bit := slices.Index(Actions, strings.ToLower(name))
			if bit < 0 {
				return pattern.Shape{}, nil, at(
					"actions: %q is not one of %s",
					name,
					strings.Join(Actions, ", "),
				)
			}
			g.allowed |= 1 << bit
		}
		e.roles = append(e.roles, g)
	}
	shape := pat.Shape()
	e.rest, e.kind = shape.Rest, fmt.Sprint(e.roles)
	return shape, e, nil
}

// Resources are what the policies of a content are about; none of a content that is invalid.
func Resources(content json.RawMessage) []string {
	list, err := decodePolicies(content)
	if err != nil {
		return nil
	}
	var out []string
	for _, p := range list {
		out = append(out, p.Resource)
	}
	return out
}

// decodePolicies reads the content of http-authorization in canonical RFC 7951 JSON, as the
// configuration tree gives it; empty content has no policies.
func decodePolicies(content json.RawMessage) ([]Policy, error) {
	if len(content) == 0 {
		return nil, nil
	}
	var c struct {
		Policies struct {
			Policies []Policy `json:"policies"`
		} `json:"policies"`
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the policies do not match module aaa: %v", err)
	}
	return c.Policies.Policies, sortPolicies(c.Policies.Policies)
}

// sortPolicies sorts policies by their index. Either all have one or none has.
func sortPolicies(list []Policy) error {
	with := 0
	seen := map[uint32]string{}
	for _, p := range list {
		if p.Index == nil {
			continue
		}
		with++
		if other, twice := seen[*p.Index]; twice {
			return fault.New(
				fault.Invalid,
				"the policies %q and %q have the same index %d",
				other,
				p.Resource,
				*p.Index,
			)
		}
		seen[*p.Index] = p.Resource
	}
	switch with {
	case 0:
		return nil
	case len(list):
		slices.SortStableFunc(list, func(a, b Policy) int {
			return cmp.Compare(*a.Index, *b.Index)
		})
		return nil
	}
	return fault.New(
		fault.Invalid,
		"%d of %d policies have an index: give an index to all of them, or to none; then they are checked in their order",
		with,
		len(list),
	)
}
