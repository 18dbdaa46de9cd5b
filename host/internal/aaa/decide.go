package aaa

import (
	"slices"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
)

// decide asks the rules, the policies and the broker about a request, under every
// address that what it asks for has: a second name must not be a way around the
// rules for the first.
func (a *AAA) decide(e *env, q *rules.Request) rules.Verdict {
	v := a.decideOne(e, q)
	if v != rules.Pass {
		return v
	}
	asked := q.Path
	defer func() { q.Path = asked }()
	for _, address := range a.same(asked) {
		if address == asked.Canonical() {
			continue
		}
		p, err := reqpath.ParseString(address)
		if err != nil {
			return rules.Malformed
		}
		q.Path = p
		if v := a.decideOne(e, q); v != rules.Pass {
			return v
		}
	}
	return rules.Pass
}

func (a *AAA) decideOne(e *env, q *rules.Request) rules.Verdict {
	v := a.rules.Decide(e, q)
	if v == rules.Pass && !a.broker.Allows(q.HTTP.Method, q.Path, q.Caller.Roles) {
		v = rules.Denied
	}
	return v
}

// same lists the other addresses of what a path addresses. RESTCONF serves
// /restconf/data beside the documented trees: it is both of them.
func (a *AAA) same(p reqpath.Path) []string {
	if !p.Under("restconf") && !p.Under("rests") && !p.Under("operations") {
		return nil
	}
	var out []string
	if a.o.Same != nil {
		out = a.o.Same(p)
	}
	const alias = "/restconf/data"
	if p.Under("restconf", "data") {
		for _, address := range append(slices.Clone(out), p.Canonical()) {
			if len(address) >= len(alias) && address[:len(alias)] == alias {
				out = append(out, "/rests/data"+address[len(alias):], "/restconf/config"+address[len(alias):])
			}
		}
	}
	return out
}
