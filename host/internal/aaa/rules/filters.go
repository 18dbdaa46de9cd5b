package rules

import (
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"
)

type filter interface {
	check(Env, *Request) Verdict
}

type pass struct{}

func (pass) check(Env, *Request) Verdict { return Pass }

// authc asks for a login: for every method, or for those named. Permissive lets
// a request without credentials through; wrong credentials never pass.
type authc struct {
	schemes    Schemes
	methods    []string
	permissive bool
}

func (f *authc) check(env Env, r *Request) Verdict {
	if len(f.methods) > 0 && !slices.Contains(f.methods, r.HTTP.Method) {
		return Pass
	}
	v, present := env.Authenticate(r, f.schemes)
	if f.permissive && !present {
		return Pass
	}
	return v
}

type roles struct {
	names []string
	any   bool
}

func (f *roles) check(_ Env, r *Request) Verdict {
	if !r.Known {
		return Unauthenticated
	}
	for _, n := range f.names {
		if r.Caller.HasRole(n) == f.any {
			if f.any {
				return Pass
			}
			return Denied
		}
	}
	if f.any {
		return Denied
	}
	return Pass
}

// perms asks for permissions that [roles] gives; with rest the method becomes
// the last part of each.
type perms struct {
	wanted []permission
	rest   map[string][]permission // method -> wanted
	given  map[string][]permission // role -> what it may
}

func (f *perms) check(_ Env, r *Request) Verdict {
	if !r.Known {
		return Unauthenticated
	}
	wanted := f.wanted
	if f.rest != nil {
		var known bool
		if wanted, known = f.rest[r.HTTP.Method]; !known {
			return Denied
		}
	}
	for _, w := range wanted {
		if !f.granted(r.Caller.Roles, w) {
			return Denied
		}
	}
	return Pass
}

func (f *perms) granted(roles []string, w permission) bool {
	for _, role := range roles {
		for _, g := range f.given[role] {
			if g.implies(w) {
				return true
			}
		}
	}
	return false
}

type ip struct{ allowed []netip.Prefix }

func (f *ip) check(_ Env, r *Request) Verdict {
	for _, p := range f.allowed {
		if p.Contains(r.Peer.Addr().Unmap()) {
			return Pass
		}
	}
	return Denied
}

type port struct {
	number int // 0 = any
	ssl    bool
}

func (f *port) check(_ Env, r *Request) Verdict {
	if f.ssl && r.HTTP.TLS == nil || f.number != 0 && f.number != r.Port {
		return Denied
	}
	return Pass
}

type dynamic struct{}

func (dynamic) check(env Env, r *Request) Verdict {
	if !r.Known {
		return Unauthenticated
	}
	return env.Dynamic(r)
}

// invalidRequest refuses what the path reader accepts but a plain file server
// after it would not.
type invalidRequest struct{ semicolon, slash, nonASCII bool }

func (f *invalidRequest) check(_ Env, r *Request) Verdict {
	for _, s := range r.Path.Segments() {
		if f.semicolon && strings.Contains(s.Decoded, ";") ||
			f.slash && strings.Contains(s.Decoded, "/") ||
			f.nonASCII && strings.ContainsFunc(s.Decoded, func(c rune) bool { return c >= utf8.RuneSelf }) {
			return Malformed
		}
	}
	return Pass
}
