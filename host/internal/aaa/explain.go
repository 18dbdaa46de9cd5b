package aaa

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Explanation says what decides a request, and why.
type Explanation struct {
	User    string   `json:"user"`
	Realm   string   `json:"realm"`
	Roles   []string `json:"roles"`
	Login   string   `json:"login,omitempty"` // why the user cannot log in
	Method  string   `json:"method"`
	Path    string   `json:"path"`
	Allowed bool     `json:"allowed"`
	Verdict string   `json:"verdict"`
	Reason  string   `json:"reason"`
	// Role is the line of a role that permits the request, or why none does; empty of a user whom no role confines.
	Role string `json:"role,omitempty"`
	// Rights are the sets of the user's rights by port, and what is needed of them; empty of a user who has none.
	Rights string `json:"rights,omitempty"`
	// Addresses are all of the thing that the path names; each must allow the request.
	Addresses []AddressVerdict `json:"addresses"`
}

// AddressVerdict is the decision at one address.
type AddressVerdict struct {
	Address  string `json:"address"`
	Line     int    `json:"line"` // of sec.ini; 0 = no line matches, so a login is needed
	Rule     string `json:"rule,omitempty"`
	Policy   string `json:"policy,omitempty"` // that matches first, if the rule asks the policies
	Verdict  string `json:"verdict"`
	Decisive bool   `json:"decisive"` // the first that refuses
	// Copied says that the thing is made of what is at this address, so that the right to read it is needed, too.
	Copied bool `json:"copied,omitempty"`
}

// Explain decides a request of a user as if it came now, from the machine itself and without TLS, and
// says why. user is NAME, NAME@DOMAIN, or NAME@DOMAIN of the realm REALM as REALM/NAME@DOMAIN.
func (a *AAA) Explain(ctx context.Context, user, method, path string) (*Explanation, error) {
	return a.ExplainInput(ctx, user, method, path, "")
}

// ExplainInput is Explain for an operation with an input, if that is not empty: it decides what the operation would act on.
func (a *AAA) ExplainInput(ctx context.Context, user, method, path, input string) (*Explanation, error) {
	method = strings.ToUpper(method)
	target, query, _ := strings.Cut(path, "?")
	p, err := reqpath.ParseString(target)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%v", err)
	}
	x := &Explanation{
		User:   user,
		Method: method,
		Path:   p.Canonical(),
		Roles:  []string{},
	}
	who, err := a.explainUser(ctx, x, user)
	if err != nil {
		return nil, err
	}
	r := &http.Request{
		Method: method,
		URL: &url.URL{
			Path:     p.Decoded(),
			RawPath:  p.Canonical(),
			RawQuery: query,
		},
		Header: http.Header{},
	}
	q := rules.Request{
		HTTP:   r,
		Path:   p,
		Peer:   callerAddrPort(caller.Caller{}),
		Caller: who,
		Known:  x.Login == "",
	}
	x.Verdict, x.Reason = rules.Pass.String(), "every rule and policy that matches lets it pass"
	for _, one := range append([]reqpath.Path{p}, a.otherAddresses(p, "")...) {
		q.Path = one
		a.explainAddress(ctx, x, q)
	}
	depth := p.DataDepth()
	if depth > 0 && a.o.MadeOf != nil {
		paths, entry := a.o.MadeOf(p.Segments()[depth:])
		read := q
		read.HTTP, read.Alone = asRead(r), entry && !reads(method)
		for _, one := range paths {
			read.Path = one
			a.explainAddress(ctx, x, read)
			x.Addresses[len(x.Addresses)-1].Copied = true
		}
	}
	q.Path = p
	a.explainRoles(x, &q)
	a.explainRights(ctx, x, &q, input)
	if x.Verdict == rules.Pass.String() &&
		a.decideRequest(&env{
			aaa: a,
			ctx: ctx,
		}, &q) == rules.Denied {
		x.Verdict, x.Reason = rules.Denied.String(), "the broker's policies (authorization-schema:simple-authorization) give none of the user's roles this resource"
	}
	x.Allowed = x.Verdict == rules.Pass.String()
	return x, nil
}

// explainAddress decides a request at one address.
func (a *AAA) explainAddress(ctx context.Context, x *Explanation, q rules.Request) {
	v := AddressVerdict{Address: q.Path.Canonical()}
	if m := a.rules.Match(q.Path.Segments()); m != nil {
		v.Line, v.Rule = m.Line, m.Pattern.String()+" = "+m.Text
	}
	if a.rules.Dynamic(q.Path.Segments()) {
		v.Policy = a.policies.First(q.Path)
	}
	verdict := a.rules.Decide(&explaining{env{
		aaa: a,
		ctx: ctx,
	}}, &q)
	v.Verdict = verdict.String()
	if verdict != rules.Pass && x.Verdict == rules.Pass.String() {
		v.Decisive, x.Verdict, x.Reason = true, verdict.String(), explainVerdict(v, verdict, x)
	}
	x.Addresses = append(x.Addresses, v)
}

// explaining is an env in which the user either is logged in already or cannot log in.
type explaining struct{ env }

func (e *explaining) Authenticate(r *rules.Request, _ rules.Schemes) (rules.Verdict, bool) {
	if r.Known {
		return rules.Pass, true
	}
	return rules.Unauthenticated, true
}

func (a *AAA) explainUser(ctx context.Context, x *Explanation, user string) (caller.Caller, error) {
	if realm, name, outside := strings.Cut(user, "/"); outside {
		name, domain, _ := strings.Cut(name, "@")
		l, err := a.authn.Find(ctx, token.Outside{
			Realm:  realm,
			User:   name,
			Domain: domain,
		})
		var lost *authn.NotFindableError
		switch {
		case errors.As(err, &lost):
			return caller.Caller{}, fault.New(fault.Unsupported, "%s", lost.Error())
		case errors.Is(err, authn.ErrRefused):
			x.Realm, x.Login = realm, "the realm does not know the user, or would not let it log in"
			return caller.Caller{}, nil
		case err != nil:
			return caller.Caller{}, fault.Wrap(fault.Unavailable, err, "%v", err)
		}
		x.Realm, x.Roles = realm, append(x.Roles, l.Roles...)
		return caller.Caller{
			User:   l.User,
			Domain: l.Domain,
			Roles:  l.Roles,
		}, nil
	}
	id := user
	if !strings.Contains(id, "@") {
		id += "@" + identity.SDN
	}
	p, err := a.identity.Principal(ctx, id)
	if fault.KindOf(err) == fault.NotFound {
		return caller.Caller{}, fault.New(
			fault.NotFound,
			"the controller's own realm has no user %s; write a user of another realm as REALM/NAME, with the realm's name in etc/sec.ini",
			id,
		)
	}
	if err != nil {
		return caller.Caller{}, err
	}
	x.User, x.Realm, x.Roles = p.ID(), localRealm, append(x.Roles, p.Roles...)
	switch {
	case !p.Active:
		x.Login = "the user or its domain is disabled"
	case len(p.Roles) == 0:
		x.Login = "the user has no role"
	default:
		x.Login = a.identity.MustChange(p)
	}
	return caller.Caller{
		User:   p.Name,
		Domain: p.Domain,
		Roles:  p.Roles,
	}, nil
}

func explainVerdict(v AddressVerdict, verdict rules.Verdict, x *Explanation) string {
	at := "no line of the rules matches " + v.Address
	if v.Line > 0 {
		at = fmt.Sprintf("line %d, %s, decides for %s", v.Line, v.Rule, v.Address)
	}
	switch {
	case verdict == rules.Unauthenticated && x.Login != "":
		return at + "; it needs a login, and " + x.Login
	case verdict == rules.Denied && v.Policy != "":
		return at + "; it asks the policies, of which the first that matches is " + v.Policy + " or, for what lies below, a later one; roles of the user: " + strings.Join(x.Roles, ", ")
	case verdict == rules.Denied:
		return at + "; roles of the user: " + strings.Join(x.Roles, ", ")
	}
	return at
}
