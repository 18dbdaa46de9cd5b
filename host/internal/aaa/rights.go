package aaa

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/right"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

type withinKey struct{}

// WithinRights returns ctx for what is done when the rights by port have permitted an operation: whether its caller may read the
// originals of what it names is up to the rules, policies and roles from there on (MayRead).
func WithinRights(ctx context.Context) context.Context {
	return context.WithValue(ctx, withinKey{}, true)
}

// deniedByRights says why the rights by port of a user who is known deny a request; empty if they do not, or there are none. What
// an operation acts on is asked when its input is known (Scope).
func (a *AAA) deniedByRights(ctx context.Context, q *rules.Request) string {
	if ctx != nil && ctx.Value(withinKey{}) != nil || !q.Known || q.Plugin || slices.Contains(q.Caller.Roles, adminRole) {
		return ""
	}
	if a.rights.Failed() {
		return "the rights of " + RightsNode + " cannot be read, so only role admin may do something"
	}
	scope := a.rights.Now().Of(q.Caller.ID(), q.Caller.Roles)
	if scope == nil || q.HTTP.Method == http.MethodOptions || manages(q.Path) || a.actsOn(q) {
		return ""
	}
	return "user " + q.Caller.ID() + " has rights by port, to " + scope.String() + ", and may do nothing but call operations that say what switch, port or VLAN they act on"
}

func (a *AAA) actsOn(q *rules.Request) bool {
	return q.HTTP.Method == http.MethodPost && a.o.ActsOn != nil && a.o.ActsOn(q.Path)
}

// manages reports whether a path is of managing the own account. The pages and their events are not: they show all that is known.
func manages(p reqpath.Path) bool {
	return p.Is("auth", "password") || p.Is("web", "tokens") || p.Under("web", "tokens") || p.Under("oauth2")
}

// Scope is what a user who has rights by port may do with what an operation acts on.
type Scope struct {
	user  string
	scope *right.Scope
}

// ScopeOf is that of the caller of ctx; nil = no right confines the caller.
func (a *AAA) ScopeOf(ctx context.Context) (*Scope, error) {
	who, known := caller.From(ctx)
	if !known || IsPlugin(ctx) || slices.Contains(who.Roles, adminRole) {
		return nil, nil
	}
	if a.rights.Failed() {
		return nil, fault.New(fault.Denied, "the rights of %s cannot be read, so only role admin may do something", RightsNode)
	}
	scope := a.rights.Now().Of(who.ID(), who.Roles)
	if scope == nil {
		return nil, nil
	}
	return &Scope{who.ID(), scope}, nil
}

// Sees reports whether the user may view all that a resource names.
func (s *Scope) Sees(what right.Resource) bool { return s.scope.Permits(what, false) }

// Check is the error of an operation that acts on something that is in none of the user's sets.
func (s *Scope) Check(all []right.Resource, change bool) error {
	for _, what := range all {
		if s.scope.Permits(what, change) {
			continue
		}
		do := "view"
		if change {
			do = "change"
		}
		return fault.New(
			fault.Denied,
			"user %s may not %s %s: it is in no set of the user's rights, which are %s",
			s.user,
			do,
			what,
			s.scope,
		)
	}
	return nil
}

// checkRights refuses rights that are invalid, and the end of the last right of a user or role: without it all would be open again
// that the rules and policies leave open.
func (a *AAA) checkRights(ctx context.Context, after json.RawMessage) error {
	next, err := right.Compile(after)
	if err != nil {
		return err
	}
	if forced, _ := ctx.Value(forceKey{}).(bool); forced {
		return nil
	}
	remain := next.Holders()
	for _, holder := range a.rights.Now().Holders() {
		if slices.Contains(remain, holder) || !a.mayBeThere(ctx, holder) {
			continue
		}
		return fault.At(
			fault.InUse,
			RightsNode+"/right="+holder,
			"this is the last right of %s, who could then do all that the rules and policies leave open; delete the user or role first or, if that is wanted, use access:right-remove --force",
			holder,
		)
	}
	return nil
}

// mayBeThere reports whether the holder of a right may exist: who is of another realm is not known here.
func (a *AAA) mayBeThere(ctx context.Context, holder string) bool {
	kind, name, _ := strings.Cut(holder, ":")
	if kind == "role" {
		holders, err := a.identity.Holders(ctx, name)
		return err != nil || len(holders) > 0 || len(a.authn.OutsideRealms()) > 0
	}
	_, err := a.identity.Principal(ctx, name)
	local := strings.HasSuffix(name, "@"+identity.SDN)
	return fault.KindOf(err) != fault.NotFound || !local && len(a.authn.OutsideRealms()) > 0
}

// explainRights says what the rights by port decide, if all else permits a request. An input says what an operation acts on.
func (a *AAA) explainRights(ctx context.Context, x *Explanation, q *rules.Request, input string) {
	if x.Verdict != rules.Pass.String() {
		return
	}
	if why := a.deniedByRights(ctx, q); why != "" {
		x.Verdict, x.Reason = rules.Denied.String(), why
		x.Rights = "no right by port permits it"
		return
	}
	now := a.rights.Now()
	scope := now.Of(q.Caller.ID(), q.Caller.Roles)
	if scope == nil || !q.Known || slices.Contains(q.Caller.Roles, adminRole) || !a.actsOn(q) {
		return
	}
	change := !a.canonical(q.HTTP.Method, q.Path).ReadOnly
	need := right.View
	if change {
		need = right.Change
	}
	x.Rights = "what it acts on must be in one of the sets " + scope.String() + ", with " + need
	if input == "" || a.o.Touched == nil {
		return
	}
	all, err := a.o.Touched(ctx, q.Path, []byte(input))
	if err != nil {
		x.Verdict, x.Reason = rules.Denied.String(), err.Error()
		return
	}
	for _, what := range all {
		if scope.Permits(what, change) {
			continue
		}
		x.Verdict, x.Reason = rules.Denied.String(), what.String()+" is not in a set that the user has a right to "+need
		x.Rights += "; no set has it"
		if sets := now.With(what, change); len(sets) > 0 {
			x.Rights = strings.TrimSuffix(x.Rights, "; no set has it") + "; a right to " + need + " permits it with the sets " + strings.Join(sets, ", ")
		}
		return
	}
}
