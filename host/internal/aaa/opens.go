package aaa

import (
	"context"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/sdk/caller"
)

// adminRole is the role for which nothing is denied by default.
const adminRole = "admin"

// Opens reports whether the caller in ctx may use what a module denies by default (nacm:default-deny-all and -write of RFC
// 8341): a user with the role admin may, others where the line of the rules, or the policy, that permits the request names
// the module or the node, or a line of a role does; a pattern such as /** names nothing. A call of the controller itself has no caller.
func (a *AAA) Opens(ctx context.Context, method, path, module, name string) bool {
	who, known := caller.From(ctx)
	if !known || slices.Contains(who.Roles, adminRole) {
		return true
	}
	p, err := reqpath.ParseString(path)
	if err != nil {
		return false
	}
	if a.namedByRole(who.Roles, method, p, nil, module, name) {
		return true
	}
	for _, one := range append(a.otherAddresses(p, ""), p) {
		rule := a.rules.Match(one.Segments())
		if rule == nil {
			continue
		}
		if namesNode(rule.Pattern.String(), module, name) {
			return true
		}
		if a.rules.Dynamic(one.Segments()) && namesNode(a.policies.First(one), module, name) {
			return true
		}
	}
	return false
}

// namesNode reports whether a segment of a pattern of paths is of a module or a node: MODULE:…, MODULE*, or the node.
func namesNode(pattern, module, name string) bool {
	for segment := range strings.FieldsFuncSeq(pattern, func(r rune) bool {
		return r == '/' || r == '=' || r == ' ' || r == ','
	}) {
		literal, _, wild := strings.Cut(segment, "*")
		switch {
		case literal == "":
		case strings.HasPrefix(literal, module+":"), literal == name:
			return true
		case wild && strings.HasPrefix(module+":"+name, literal):
			return true
		}
	}
	return false
}
