package rules

import (
	"net/http"
	"net/netip"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/sdk/caller"
)

// Request is what filters decide about.
type Request struct {
	HTTP *http.Request
	Path reqpath.Path
	// Addresses are those for which the rule that is run decides; Path is the first of them.
	Addresses []reqpath.Path
	Peer      netip.AddrPort // where the connection came from
	Port      int            // the local port it came to
	Caller    caller.Caller
	// Known reports that an authc filter has filled Caller.
	Known bool
	// Plugin reports that Caller is a plugin that acts for nobody.
	Plugin bool
	// Alone asks about the resource of the path without what is below it.
	Alone bool
}

// Verdict is the outcome of a filter or a whole rule.
type Verdict uint8

// The verdicts. The zero value is a refusal, so that nothing passes by omission.
const (
	Unauthenticated Verdict = iota // 401 with a challenge
	Denied                         // known, but may not
	Malformed                      // 400
	Busy                           // 429: too many failed logins
	Unknown                        // 503: a realm that may know the user cannot be asked
	Pass
)

// String names the verdict for the log.
func (v Verdict) String() string {
	return [...]string{"unauthenticated", "denied", "malformed", "busy", "unknown", "pass"}[v]
}

// Env is what filters ask about the world.
type Env interface {
	// Authenticate looks at the Authorization header and fills r.Caller. Without
	// credentials it returns Unauthenticated and present=false.
	Authenticate(r *Request, schemes Schemes) (v Verdict, present bool)
	// Dynamic asks the policies that are data.
	Dynamic(r *Request) Verdict
}

// Schemes are the ways to prove who one is.
type Schemes uint8

// The schemes.
const (
	Basic Schemes = 1 << iota
	Bearer
)
