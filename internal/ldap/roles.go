package ldap

import (
	"slices"
	"strings"

	goldap "github.com/go-ldap/ldap/v3"
)

// Roles translates values of a directory (group names, DNs, object classes) into
// roles of the controller.
type Roles struct {
	exact map[string][]string
	fold  map[string][]string // by lower case, DNs normalised
}

// NewRoles compiles a groupRolesMap. A value may be mapped to several roles,
// separated by commas.
func NewRoles(pairs map[string]string) *Roles {
	if len(pairs) == 0 {
		return nil
	}
	r := &Roles{
		exact: map[string][]string{},
		fold:  map[string][]string{},
	}
	for value, list := range pairs {
		var roles []string
		for role := range strings.SplitSeq(list, ",") {
			if role = strings.TrimSpace(role); role != "" {
				roles = append(roles, role)
			}
		}
		r.exact[value] = roles
		r.fold[foldValue(value)] = append(r.fold[foldValue(value)], roles...)
	}
	return r
}

// foldValue makes values equal that directories hold to be equal.
func foldValue(value string) string {
	if strings.ContainsRune(value, '=') {
		if dn, err := goldap.ParseDN(value); err == nil {
			value = dn.String()
		}
	}
	return strings.ToLower(value)
}

// Of returns the roles of values, sorted, each once. Without a map the values are
// the roles, unchanged. With one, a value outside it gives none.
func (r *Roles) Of(values []string) []string {
	var out []string
	for _, v := range values {
		if r == nil {
			out = append(out, v)
			continue
		}
		if roles, ok := r.exact[v]; ok {
			out = append(out, roles...)
		} else {
			out = append(out, r.fold[foldValue(v)]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// CommonName returns the value of the first part of a DN, "admins" of
// "CN=admins,OU=lab,DC=x"; what is no DN is returned as it is.
func CommonName(value string) string {
	dn, err := goldap.ParseDN(value)
	if err == nil && len(dn.RDNs) > 0 && len(dn.RDNs[0].Attributes) > 0 {
		return dn.RDNs[0].Attributes[0].Value
	}
	return value
}
