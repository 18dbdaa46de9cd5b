// Package rules holds the static access rules of sec.ini's [urls], compiled:
// the first line whose pattern matches decides, its filters run from left to
// right and all must pass. They do not change while the controller runs.
//
// Policies that may change are package policy; who somebody is, is package
// authn. Filters reach both through Env, so that everything here is pure.
package rules

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/host/internal/aaa/secini"
)

// kind is a filter that a rule can name.
type kind struct {
	name    string
	classes []string // that [main] may give another name of the filter, last segment only
	needs   bool     // arguments
	make    func(c *compiler, fl secini.Filter, line int) (filter, error)
}

// kinds are the filters that need no line in [main].
var kinds = []kind{
	{"anon", []string{"AnonymousFilter"}, false, passing},
	{"authcBasic", []string{"CtlHttpAuthenticationFilter", "BasicHttpAuthenticationFilter"}, false, authcOf(Basic | Bearer)},
	{"authcBearer", []string{"BearerHttpAuthenticationFilter"}, false, authcOf(Bearer)},
	{"roles", []string{"RolesAuthorizationFilter", "CtlRolesAuthorizationFilter"}, true, rolesOf(false)},
	{"anyRoles", []string{"AnyRolesAuthorizationFilter", "AnyRoleHttpAuthenticationFilter"}, true, rolesOf(true)},
	{"perms", []string{"PermissionsAuthorizationFilter"}, true, permsOf},
	{"rest", []string{"HttpMethodPermissionFilter"}, true, restOf},
	{"ip", []string{"IpFilter"}, true, ipOf},
	{"port", []string{"PortFilter"}, true, portOf(false)},
	{"ssl", []string{"SslFilter"}, false, portOf(true)},
	{"noSessionCreation", []string{"NoSessionCreationFilter"}, false, passing},
	{"dynamicAuthorization", []string{"MDSALDynamicAuthorizationFilter", "DynamicAuthorizationFilter"}, false, dynamicOf},
	{"invalidRequest", []string{"InvalidRequestFilter"}, false, invalidOf},
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
func IsFilter(class string) bool { return ofClass(class) != nil }

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
	given map[string][]permission
}

func newCompiler(f *secini.File) (*compiler, []error) {
	c := &compiler{file: f, named: map[string]*kind{}, given: map[string][]permission{}}
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

func (c *compiler) filter(fl secini.Filter, line int) (filter, error) {
	k := c.named[fl.Name]
	if k == nil {
		return nil, c.file.Unknown(line, "filter", fl.Name, c.known)
	}
	if k.needs && len(fl.Args) == 0 {
		return nil, c.file.Errorf(line, "filter %q needs arguments; write %s[...]", fl.Name, fl.Name)
	}
	return k.make(c, fl, line)
}

func passing(*compiler, secini.Filter, int) (filter, error) { return pass{}, nil }

func dynamicOf(*compiler, secini.Filter, int) (filter, error) { return dynamic{}, nil }

func rolesOf(anyRole bool) func(*compiler, secini.Filter, int) (filter, error) {
	return func(_ *compiler, fl secini.Filter, _ int) (filter, error) {
		return &roles{names: oneEach(fl.Args), any: anyRole}, nil
	}
}

// oneEach splits roles that stand in one pair of quotes, as Shiro reads them.
func oneEach(args []string) []string {
	var out []string
	for _, a := range args {
		for name := range strings.SplitSeq(a, ",") {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

func authcOf(s Schemes) func(*compiler, secini.Filter, int) (filter, error) {
	return func(c *compiler, fl secini.Filter, line int) (filter, error) {
		f := &authc{schemes: s}
		for _, a := range fl.Args {
			if strings.EqualFold(a, "permissive") {
				f.permissive = true
				continue
			}
			m := strings.ToUpper(a)
			if _, ok := restActions[m]; !ok {
				return nil, c.file.Errorf(line, "%q is neither an HTTP method nor permissive", a)
			}
			f.methods = append(f.methods, m)
			if m == "GET" { // the same resource without its body
				f.methods = append(f.methods, "HEAD")
			}
		}
		return f, nil
	}
}

func permsOf(c *compiler, fl secini.Filter, _ int) (filter, error) {
	f := &perms{given: c.given}
	for _, a := range fl.Args {
		f.wanted = append(f.wanted, parsePermission(a))
	}
	return f, nil
}

func restOf(c *compiler, fl secini.Filter, _ int) (filter, error) {
	f := &perms{given: c.given, rest: map[string][]permission{}}
	for method, action := range restActions {
		for _, a := range fl.Args {
			f.rest[method] = append(f.rest[method], parsePermission(a+":"+action))
		}
	}
	return f, nil
}

func ipOf(c *compiler, fl secini.Filter, line int) (filter, error) {
	f := &ip{}
	for _, a := range fl.Args {
		p, err := netip.ParsePrefix(a)
		if addr, aerr := netip.ParseAddr(a); aerr == nil {
			p, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		if err != nil {
			return nil, c.file.Errorf(line, "%q is neither an address nor a prefix such as 10.0.0.0/8", a)
		}
		f.allowed = append(f.allowed, p.Masked())
	}
	return f, nil
}

func portOf(ssl bool) func(*compiler, secini.Filter, int) (filter, error) {
	return func(c *compiler, fl secini.Filter, line int) (filter, error) {
		f := &port{ssl: ssl}
		if len(fl.Args) == 0 {
			return f, nil
		}
		n, err := strconv.Atoi(fl.Args[0])
		if err != nil || n < 1 || n > 65535 || len(fl.Args) > 1 {
			return nil, c.file.Errorf(line, "%s takes one port, 1 to 65535", fl.Name)
		}
		f.number = n
		return f, nil
	}
}

func invalidOf(c *compiler, fl secini.Filter, _ int) (filter, error) {
	name := fl.Name
	f := &invalidRequest{true, true, true}
	o := c.file.Object(name)
	if o == nil {
		return f, nil
	}
	for _, p := range o.Props {
		on, err := strconv.ParseBool(p.Value.Raw)
		if err != nil {
			return nil, c.file.Errorf(p.Value.Line, "%s.%s takes true or false", name, p.Name)
		}
		switch p.Name {
		case "blockSemicolon":
			f.semicolon = on
		case "blockEncodedForwardSlash":
			f.slash = on
		case "blockNonAscii":
			f.nonASCII = on
		case "blockBackslash", "blockEncodedPeriod", "blockTraversal":
			// Such paths have been refused before any rule is asked.
		default:
			return nil, c.file.Unknown(p.Value.Line, "property", p.Name, []string{
				"blockSemicolon", "blockEncodedForwardSlash", "blockNonAscii", "blockBackslash", "blockEncodedPeriod", "blockTraversal"})
		}
	}
	return f, nil
}
