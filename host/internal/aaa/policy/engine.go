package policy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/sdk/fault"
)

// Engine answers with the policies of the moment. Its zero value denies
// everything until Use or Set is called: policies that cannot be read permit nothing.
// It is safe for concurrent use.
type Engine struct {
	now atomic.Pointer[Index]
}

// Set replaces all policies. On an error the old ones stay.
func (e *Engine) Set(list []Policy) error {
	x, err := buildIndex(list)
	if err != nil {
		return err
	}
	e.now.Store(x)
	return nil
}

// Use puts compiled policies into force.
func (e *Engine) Use(x *Index) { e.now.Store(x) }

// Fail says that the policies cannot be read: all requests they would decide
// are denied until others are in force.
func (e *Engine) Fail() { e.now.Store(nil) }

// Allows decides for a caller with these roles. The first policy that matches
// decides alone; what no policy names is allowed. OPTIONS is allowed, other
// methods a policy cannot name are not. In a data tree a resource holds all that
// is below it, so the policies about that must permit the request too.
func (e *Engine) Allows(method string, path reqpath.Path, roles []string) bool {
	x := e.now.Load()
	return x != nil && x.allowsRequest(method, path, roles)
}

func (x *Index) allowsRequest(method string, path reqpath.Path, roles []string) bool {
	if method == http.MethodOptions {
		return true
	}
	a, known := actionOf(method)
	permits := func(p *entry) bool { return known && p.permitsAction(a, roles) }
	p := x.firstMatch(path.Segments())
	if p != nil && !permits(p) {
		return false
	}
	return path.DataDepth() == 0 || x.allPermitBelow(path.Segments(), p, permits)
}

// First describes the first policy that matches a path, empty when none does.
func (e *Engine) First(path reqpath.Path) string {
	x := e.now.Load()
	if x == nil {
		return "unreadable policies, which deny"
	}
	p := x.firstMatch(path.Segments())
	if p == nil {
		return ""
	}
	text := fmt.Sprintf("policy %d, resource %s", p.index+1, p.resource)
	for _, g := range p.roles {
		var names []string
		for i, a := range Actions {
			if g.allowed&(1<<i) != 0 {
				names = append(names, a)
			}
		}
		text += fmt.Sprintf(", role %s: %s", g.role, strings.Join(names, " "))
	}
	return text
}

// editPaths are the addresses under which policies can be changed.
var editPaths = [...]string{
	"/restconf/config/aaa:http-authorization/policies",
	"/rests/data/aaa:http-authorization/policies",
}

// Compile reads the content of the node http-authorization and builds the index of its
// policies; what is wrong is a fault.Invalid.
func Compile(content json.RawMessage) (*Index, error) {
	list, err := decodePolicies(content)
	if err != nil {
		return nil, err
	}
	return buildIndex(list)
}

// Check reports whether the policies may replace the present ones: at least one of the
// administrators, given by their roles, must still be able to change policies; else it
// is a fault.InUse (409). ruled are the addresses of the policies at which the rules
// ask the policies: all of them must permit it.
func (x *Index) Check(admins [][]string, ruled []reqpath.Path) error {
	for _, raw := range editPaths {
		p, err := reqpath.ParseString(raw)
		if err != nil {
			return err
		}
		for _, roles := range admins {
			denied := func(p reqpath.Path) bool {
				return !x.allowsRequest(http.MethodPut, p, roles)
			}
			if !denied(p) && !slices.ContainsFunc(ruled, denied) {
				return nil
			}
		}
	}
	return fault.At(fault.InUse, "aaa:http-authorization/policies",
		"with these policies no administrator could change policies any more; put a policy that permits it to role admin before the others")
}

// AllowsAlone is Allows without the policies about what is below the path.
func (e *Engine) AllowsAlone(method string, path reqpath.Path, roles []string) bool {
	x := e.now.Load()
	if x == nil || method == http.MethodOptions {
		return x != nil
	}
	a, known := actionOf(method)
	p := x.firstMatch(path.Segments())
	return p == nil || known && p.permitsAction(a, roles)
}
