package aaa

import (
	"net/http"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
)

// decideRequest asks about a request and, if that may pass, about reading what its target is made of: what is closed is not
// to be read from a copy either.
func (a *AAA) decideRequest(e *env, q *rules.Request) rules.Verdict {
	v := a.decideTarget(e, q)
	depth := q.Path.DataDepth()
	if v != rules.Pass || depth == 0 || a.o.MadeOf == nil {
		return v
	}
	paths, entry := a.o.MadeOf(q.Path.Segments()[depth:])
	for _, p := range paths {
		one := *q
		one.HTTP = asRead(q.HTTP)
		one.Path = p
		one.Alone = q.Alone || entry && !reads(q.HTTP.Method)
		if v = a.decideTarget(e, &one); v != rules.Pass {
			return v
		}
	}
	return rules.Pass
}

func reads(method string) bool {
	return method == http.MethodGet || method == http.MethodHead
}

// asRead is a request as one that reads.
func asRead(r *http.Request) *http.Request {
	if reads(r.Method) {
		return r
	}
	read := *r
	read.Method = http.MethodGet
	return &read
}

// decideTarget asks the rules, the policies and the broker about a request and, if these permit it, the roles that confine and the
// rights by port.
func (a *AAA) decideTarget(e *env, q *rules.Request) rules.Verdict {
	v := a.decideAddresses(e, q)
	if v != rules.Pass {
		return v
	}
	if !a.permittedByRoles(q) {
		return rules.Denied
	}
	if why := a.deniedByRights(e.ctx, q); why != "" {
		e.demand = why
		return rules.Denied
	}
	return rules.Pass
}

// decideAddresses asks the rules and the policies about a request, under every address of its target at once; all must
// allow it, so that no address is a way around the rules for another. Then it asks the broker.
func (a *AAA) decideAddresses(e *env, q *rules.Request) rules.Verdict {
	others := a.otherAddresses(q.Path, q.HTTP.URL.RawQuery)
	v := a.rules.Decide(e, q, others...)
	if v != rules.Pass || a.broker.Allows(q.HTTP.Method, q.Path, q.Caller.Roles) {
		return v
	}
	// The broker's policies list what is allowed, so it is enough that one names the target.
	for _, p := range others {
		if a.broker.Allows(q.HTTP.Method, p, q.Caller.Roles) {
			return rules.Pass
		}
	}
	return rules.Denied
}

// The roots under which one thing is served: an operation, data, and the rest of RESTCONF. The
// configuration, the observed state and both together are one tree to access control.
var (
	operationRoots = parseRootPaths("/restconf/operations", "/rests/operations", "/operations")
	dataRoots      = parseRootPaths("/restconf/config", "/restconf/operational", "/restconf/data", "/rests/data",
		"/rests/ds/ietf-datastores:running", "/rests/ds/ietf-datastores:operational", "/rests/ds/ietf-datastores:intended")
	serviceRoots = parseRootPaths("/restconf", "/rests")
)

func parseRootPaths(paths ...string) [][]reqpath.Segment {
	var out [][]reqpath.Segment
	for _, text := range paths {
		p, _ := reqpath.ParseString(text) // the roots above are paths
		out = append(out, p.Segments())
	}
	return out
}

// rootsOf returns the roots of a target, and how many segments of p lead to its own; nil for what
// has one address only.
func rootsOf(p reqpath.Path) (all [][]reqpath.Segment, depth int) {
	switch {
	case p.Under("operations"):
		return operationRoots, 1
	case !p.Under("restconf") && !p.Under("rests"):
		return nil, 0
	case p.Under("restconf", "operations"), p.Under("rests", "operations"):
		return operationRoots, 2
	case p.DataDepth() > 0:
		return dataRoots, p.DataDepth()
	}
	return serviceRoots, 1
}

// otherAddresses lists the addresses of a path's target besides the path itself.
func (a *AAA) otherAddresses(p reqpath.Path, query string) []reqpath.Path {
	all, depth := rootsOf(p)
	if all == nil {
		var out []reqpath.Path
		if a.o.Routes != nil {
			out = a.o.Routes(p, query)
		}
		return withSlash(out, p)
	}
	own, below := p.Segments()[:depth], p.Segments()[depth:]
	var forms [][]reqpath.Segment
	if a.o.Names != nil && len(below) > 0 && &all[0] != &serviceRoots[0] {
		forms = a.o.Names(&all[0] == &dataRoots[0], below)
	}
	out := make([]reqpath.Path, 0, len(all)*(len(forms)+1))
	for _, root := range all {
		if len(root) != len(own) || !reqpath.HasPrefix(own, root) {
			out = append(out, reqpath.Of(root, below))
		}
		for _, f := range forms {
			out = append(out, reqpath.Of(root, f))
		}
	}
	return withSlash(out, p)
}

// withSlash adds the path as it is read with its trailing slash: what /x/* covers in Shiro it covers
// here, and so is the first page by /*.
func withSlash(out []reqpath.Path, p reqpath.Path) []reqpath.Path {
	if p.TrailingSlash() || len(p.Segments()) == 0 {
		out = append(out, reqpath.Of(p.Segments(), []reqpath.Segment{{}}))
	}
	return out
}
