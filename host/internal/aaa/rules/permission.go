package rules

import (
	"slices"
	"strings"
)

// permission is a wildcard permission: parts between colons, each a comma list
// or *; what has fewer parts implies all that begins with them.
type permission [][]string

func parsePermission(text string) permission {
	var p permission
	for _, part := range strings.Split(strings.TrimSpace(text), ":") {
		var alternatives []string
		for _, a := range strings.Split(part, ",") {
			if a = strings.ToLower(strings.TrimSpace(a)); a != "" { // as upstream's wildcard permissions
				alternatives = append(alternatives, a)
			}
		}
		p = append(p, alternatives)
	}
	return p
}

func (p permission) impliesPermission(w permission) bool {
	for i, part := range p {
		if slices.Contains(part, "*") {
			continue
		}
		if i >= len(w) {
			return false
		}
		for _, a := range w[i] {
			if !slices.Contains(part, a) {
				return false
			}
		}
		if len(w[i]) == 0 {
			return false
		}
	}
	return true
}

// grants are the permissions of each role.
type grants map[string][]permission

// decidePermissions asks for all the permissions that are wanted.
func (g grants) decidePermissions(roles []string, wanted []permission) Verdict {
	for _, w := range wanted {
		if !slices.ContainsFunc(roles, func(role string) bool {
			return slices.ContainsFunc(g[role], func(p permission) bool {
				return p.impliesPermission(w)
			})
		}) {
			return Denied
		}
	}
	return Pass
}

// restActions are the actions that the rest filter derives from methods.
var restActions = map[string]string{
	"GET":     "read",
	"HEAD":    "read",
	"OPTIONS": "read",
	"TRACE":   "read",
	"POST":    "create",
	"PUT":     "update",
	"PATCH":   "update",
	"DELETE":  "delete",
}
