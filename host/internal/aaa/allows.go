package aaa

import (
	"net/http"
	"net/url"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Allows tells whether a caller who is known already could make a request: by the
// same rules and policies as Filter. Plugins that act for a user are held to it.
func (a *AAA) Allows(who caller.Caller, method, path string) error {
	r := &http.Request{Method: method, URL: &url.URL{Path: path}, RequestURI: path, Header: http.Header{}, RemoteAddr: who.Address}
	p, err := reqpath.Parse(r)
	if err != nil {
		return fault.New(fault.Invalid, "%s", err.Error())
	}
	q := rules.Request{HTTP: r, Path: p, Caller: who, Known: true}
	if a.decide(&env{aaa: a}, &q) != rules.Pass {
		return fault.New(fault.Denied, "user %s may not %s %s", who.User, method, path)
	}
	return nil
}
