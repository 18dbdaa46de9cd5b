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

// builtin are the filters that need no line in [main].
var builtin = []string{
	"anon", "authcBasic", "authcBearer", "roles", "anyRoles", "perms", "rest", "ip", "port", "ssl",
	"noSessionCreation", "dynamicAuthorization", "invalidRequest",
}

// classes are the classes that [main] may give a filter name, last segment only.
var classes = map[string]string{
	"AnonymousFilter":                 "anon",
	"CtlHttpAuthenticationFilter":     "authcBasic",
	"BasicHttpAuthenticationFilter":   "authcBasic",
	"BearerHttpAuthenticationFilter":  "authcBearer",
	"RolesAuthorizationFilter":        "roles",
	"CtlRolesAuthorizationFilter":     "roles",
	"AnyRolesAuthorizationFilter":     "anyRoles",
	"AnyRoleHttpAuthenticationFilter": "anyRoles",
	"PermissionsAuthorizationFilter":  "perms",
	"HttpMethodPermissionFilter":      "rest",
	"IpFilter":                        "ip",
	"PortFilter":                      "port",
	"SslFilter":                       "ssl",
	"NoSessionCreationFilter":         "noSessionCreation",
	"MDSALDynamicAuthorizationFilter": "dynamicAuthorization",
	"DynamicAuthorizationFilter":      "dynamicAuthorization",
	"InvalidRequestFilter":            "invalidRequest",
}

// IsFilter reports whether a class of [main], last segment only, is a filter.
func IsFilter(class string) bool { return classes[class] != "" }

// IsBuiltin reports whether a filter of the name exists without a line in [main].
func IsBuiltin(name string) bool { return slices.Contains(builtin, name) }

// Classes returns the class names of filters, for proposals in messages.
func Classes() []string {
	var out []string
	for c := range classes {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

type compiler struct {
	file  *secini.File
	names map[string]string // filter name -> builtin it is
	known []string
	given map[string][]permission
}

func newCompiler(f *secini.File) (*compiler, []error) {
	c := &compiler{file: f, names: map[string]string{}, known: slices.Clone(builtin), given: map[string][]permission{}}
	for _, n := range builtin {
		c.names[n] = n
	}
	for _, o := range f.Objects {
		if kind := classes[o.Class[strings.LastIndex(o.Class, ".")+1:]]; kind != "" {
			c.names[o.Name] = kind
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
	kind := c.names[fl.Name]
	needs := func() error {
		return c.file.Errorf(line, "filter %q needs arguments; write %s[...]", fl.Name, fl.Name)
	}
	switch kind {
	case "":
		return nil, c.file.Unknown(line, "filter", fl.Name, c.known)
	case "anon", "noSessionCreation":
		return pass{}, nil
	case "authcBasic":
		return c.authc(fl, line, Basic|Bearer)
	case "authcBearer":
		return c.authc(fl, line, Bearer)
	case "dynamicAuthorization":
		return dynamic{}, nil
	case "invalidRequest":
		return c.invalid(fl.Name)
	case "ssl":
		return c.port(fl, line, true)
	}
	if len(fl.Args) == 0 {
		return nil, needs()
	}
	switch kind {
	case "roles", "anyRoles":
		return &roles{names: oneEach(fl.Args), any: kind == "anyRoles"}, nil
	case "perms", "rest":
		return c.perms(fl, kind == "rest"), nil
	case "ip":
		return c.ip(fl, line)
	}
	return c.port(fl, line, false)
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

func (c *compiler) authc(fl secini.Filter, line int, s Schemes) (filter, error) {
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

func (c *compiler) perms(fl secini.Filter, rest bool) filter {
	f := &perms{given: c.given}
	if rest {
		f.rest = map[string][]permission{}
		for method, action := range restActions {
			for _, a := range fl.Args {
				f.rest[method] = append(f.rest[method], parsePermission(a+":"+action))
			}
		}
		return f
	}
	for _, a := range fl.Args {
		f.wanted = append(f.wanted, parsePermission(a))
	}
	return f
}

func (c *compiler) ip(fl secini.Filter, line int) (filter, error) {
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

func (c *compiler) port(fl secini.Filter, line int, ssl bool) (filter, error) {
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

func (c *compiler) invalid(name string) (filter, error) {
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
