// Package rules holds the static access rules of sec.ini's [urls], compiled:
// the first line whose pattern matches decides, its filters run from left to
// right and all must pass. They do not change while the controller runs.
//
// Policies that may change are package policy; who somebody is, is package
// authn. Filters reach both through Env, so that everything here is pure.
package rules

import (
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/secini"
)

// kind is a filter that a rule can name.
type kind struct {
	name    string
	classes []string // that [main] may give another name of the filter, last segment only
	login   login
	args    bool // it needs arguments
	make    maker
}

// maker makes what a filter does of its arguments.
type maker func(c *compiler, fl secini.Filter, line int) (check, error)

// login is what a filter has to do with the login of the user.
type login uint8

const (
	nothing login = iota
	asks          // it asks for the login
	needs         // it runs only after one that asks; else the request is Unauthenticated
)

// kinds are the filters that need no line in [main].
var kinds = []kind{
	{"anon", []string{"AnonymousFilter"}, nothing, false, newPassingCheck},
	{"authcBasic", []string{"CtlHttpAuthenticationFilter", "BasicHttpAuthenticationFilter"}, asks, false, authcOf(Basic | Bearer)},
	{"authcBearer", []string{"BearerHttpAuthenticationFilter"}, asks, false, authcOf(Bearer)},
	{"roles", []string{"RolesAuthorizationFilter", "CtlRolesAuthorizationFilter"}, needs, true, rolesOf(false)},
	{"anyRoles", []string{"AnyRolesAuthorizationFilter", "AnyRoleHttpAuthenticationFilter"}, needs, true, rolesOf(true)},
	{"perms", []string{"PermissionsAuthorizationFilter"}, needs, true, permsOf},
	{"rest", []string{"HttpMethodPermissionFilter"}, needs, true, restOf},
	{"ip", []string{"IpFilter"}, nothing, true, ipOf},
	{"port", []string{"PortFilter"}, nothing, true, portOf(false)},
	{"ssl", []string{"SslFilter"}, nothing, false, portOf(true)},
	{"noSessionCreation", []string{"NoSessionCreationFilter"}, nothing, false, newPassingCheck},
	{"dynamicAuthorization", []string{"MDSALDynamicAuthorizationFilter", "DynamicAuthorizationFilter"}, needs, false, dynamicOf},
	{"invalidRequest", []string{"InvalidRequestFilter"}, nothing, false, invalidOf},
}

// ofClass is the filter that a class of [main] is, last segment only; nil = none.
func ofClass(class string) *kind {
	for i, k := range kinds {
		if slices.Contains(k.classes, class) {
			return &kinds[i]
		}
	}
	return nil
}

// IsFilter reports whether a class of [main], last segment only, is a filter.
func IsFilter(class string) bool {
	return ofClass(class) != nil
}

// IsBuiltin reports whether a filter of the name exists without a line in [main].
func IsBuiltin(name string) bool {
	return slices.ContainsFunc(kinds, func(k kind) bool { return k.name == name })
}

// Classes returns the class names of filters, for proposals in messages.
func Classes() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.classes...)
	}
	slices.Sort(out)
	return out
}

type compiler struct {
	file  *secini.File
	named map[string]*kind
	known []string // their names
	given grants
}

func newCompiler(f *secini.File) (*compiler, []error) {
	c := &compiler{
		file:  f,
		named: map[string]*kind{},
		given: grants{},
	}
	for i, k := range kinds {
		c.named[k.name] = &kinds[i]
		c.known = append(c.known, k.name)
	}
	for _, o := range f.Objects {
		if k := ofClass(o.Class[strings.LastIndex(o.Class, ".")+1:]); k != nil {
			c.named[o.Name] = k
			c.known = append(c.known, o.Name)
		}
	}
	var errs []error
	for _, r := range f.Roles {
		list, err := f.List(r.Value)
		if err != nil {
			errs = append(errs, err)
		}
		for _, p := range list {
			c.given[r.Key] = append(c.given[r.Key], parsePermission(p))
		}
	}
	return c, errs
}

func (c *compiler) compileFilter(fl secini.Filter, line int) (f filter, err error) {
	if f.kind = c.named[fl.Name]; f.kind == nil {
		return f, c.file.Unknown(line, "filter", fl.Name, c.known)
	}
	if f.args && len(fl.Args) == 0 {
		return f, c.file.Errorf(line, "filter %q needs arguments; write %s[...]", fl.Name, fl.Name)
	}
	f.check, err = f.make(c, fl, line)
	return f, err
}
