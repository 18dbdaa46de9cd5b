package rules

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ctl.internal/host/internal/aaa/secini"
)

// filter is one of a rule.
type filter struct {
	*kind
	check check
}

// check decides about a request; Pass leaves it to the next filter.
type check func(Env, *Request) Verdict

func newPassingCheck(*compiler, secini.Filter, int) (check, error) {
	return func(Env, *Request) Verdict { return Pass }, nil
}

func dynamicOf(*compiler, secini.Filter, int) (check, error) {
	return Env.Dynamic, nil
}

// authcOf asks for a login: for every method, or for those named. Permissive lets
// a request without credentials through; wrong credentials never pass.
func authcOf(s Schemes) maker {
	return func(c *compiler, fl secini.Filter, line int) (check, error) {
		var methods []string
		permissive := false
		for _, a := range fl.Args {
			if strings.EqualFold(a, "permissive") {
				permissive = true
				continue
			}
			m := strings.ToUpper(a)
			if _, ok := restActions[m]; !ok {
				return nil, c.file.Errorf(line, "%q is neither an HTTP method nor permissive", a)
			}
			methods = append(methods, m)
			if m == "GET" { // the same resource without its body
				methods = append(methods, "HEAD")
			}
		}
		return func(env Env, r *Request) Verdict {
			if len(methods) > 0 && !slices.Contains(methods, r.HTTP.Method) {
				return Pass
			}
			v, present := env.Authenticate(r, s)
			if permissive && !present {
				return Pass
			}
			return v
		}, nil
	}
}

// rolesOf asks for one of the roles, or for all of them.
func rolesOf(anyRole bool) maker {
	return func(_ *compiler, fl secini.Filter, _ int) (check, error) {
		names := oneEach(fl.Args)
		return func(_ Env, r *Request) Verdict {
			// One that the user has is enough for any; one that the user lacks is too much for all.
			if slices.ContainsFunc(names, func(n string) bool {
				return r.Caller.HasRole(n) == anyRole
			}) == anyRole {
				return Pass
			}
			return Denied
		}, nil
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

// permsOf asks for permissions that [roles] gives.
func permsOf(c *compiler, fl secini.Filter, _ int) (check, error) {
	var wanted []permission
	for _, a := range fl.Args {
		wanted = append(wanted, parsePermission(a))
	}
	given := c.given
	return func(_ Env, r *Request) Verdict {
		return given.decidePermissions(r.Caller.Roles, wanted)
	}, nil
}

// restOf is permsOf with the method as the last part of each permission.
func restOf(c *compiler, fl secini.Filter, _ int) (check, error) {
	of := map[string][]permission{}
	for method, action := range restActions {
		for _, a := range fl.Args {
			of[method] = append(of[method], parsePermission(a+":"+action))
		}
	}
	given := c.given
	return func(_ Env, r *Request) Verdict {
		wanted, known := of[r.HTTP.Method]
		if !known {
			return Denied
		}
		return given.decidePermissions(r.Caller.Roles, wanted)
	}, nil
}

func ipOf(c *compiler, fl secini.Filter, line int) (check, error) {
	var allowed []netip.Prefix
	for _, a := range fl.Args {
		p, err := netip.ParsePrefix(a)
		if addr, aerr := netip.ParseAddr(a); aerr == nil {
			p, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		if err != nil {
			return nil, c.file.Errorf(
				line,
				"%q is neither an address nor a prefix such as 10.0.0.0/8",
				a,
			)
		}
		allowed = append(allowed, p.Masked())
	}
	return func(_ Env, r *Request) Verdict {
		from := r.Peer.Addr().Unmap()
		if slices.ContainsFunc(allowed, func(p netip.Prefix) bool {
			return p.Contains(from)
		}) {
			return Pass
		}
		return Denied
	}, nil
}

func portOf(ssl bool) maker {
	return func(c *compiler, fl secini.Filter, line int) (check, error) {
		number := 0 // any
		if len(fl.Args) > 0 {
			var err error
			if number, err = strconv.Atoi(fl.Args[0]); err != nil ||
				number < 1 ||
				number > 65535 ||
				len(fl.Args) > 1 {
				return nil, c.file.Errorf(line, "%s takes one port, 1 to 65535", fl.Name)
			}
		}
		return func(_ Env, r *Request) Verdict {
			if ssl && r.HTTP.TLS == nil || number != 0 && number != r.Port {
				return Denied
			}
			return Pass
		}, nil
	}
}

// invalidOf refuses what the path reader accepts but a plain file server
// after it would not.
func invalidOf(c *compiler, fl secini.Filter, _ int) (check, error) {
	semicolon := true
	slash := true
	nonASCII := true
	var props []secini.Prop
	if o := c.file.Object(fl.Name); o != nil {
		props = o.Props
	}
	for _, p := range props {
		on, err := strconv.ParseBool(p.Value.Raw)
		if err != nil {
			return nil, c.file.Errorf(p.Value.Line, "%s.%s takes true or false", fl.Name, p.Name)
		}
		switch p.Name {
		case "blockSemicolon":
			semicolon = on
		case "blockEncodedForwardSlash":
			slash = on
		case "blockNonAscii":
			nonASCII = on
		case "blockBackslash", "blockEncodedPeriod", "blockTraversal":
			// Such paths have been refused before any rule is asked.
		default:
			return nil, c.file.Unknown(p.Value.Line, "property", p.Name, []string{
				"blockSemicolon", "blockEncodedForwardSlash", "blockNonAscii", "blockBackslash", "blockEncodedPeriod", "blockTraversal"})
		}
	}
	blocks := func(segment string) bool {
		return semicolon && strings.Contains(segment, ";") ||
			slash && strings.Contains(segment, "/") ||
			nonASCII && strings.ContainsFunc(segment, func(c rune) bool {
				return c >= utf8.RuneSelf
			})
	}
	return func(_ Env, r *Request) Verdict {
		for _, address := range r.Addresses {
			for _, s := range address.Segments() {
				if blocks(s.Decoded) {
					return Malformed
				}
			}
		}
		return Pass
	}, nil
}
