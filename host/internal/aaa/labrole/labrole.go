// Package labrole holds roles that confine: whoever has only such roles may send no request but those that one of them permits. They
// are asked after the rules of etc/sec.ini and the policies, and both must permit a request.
//
// The tree they are stored in, aaa-roles:roles, is RESTCONF's. What they are about is the canonical address of a resource, so
// that no other address is a way around them.
package labrole

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"ctl.internal/host/internal/aaa/pattern"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/sdk/fault"
)

// Role is one entry of the list, as stored.
type Role struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Permits     []Permit `json:"permit,omitempty"`
}

// Permit is a line of a role.
type Permit struct {
	Number   uint16   `json:"number"`
	Resource string   `json:"resource"`            // pattern of canonical addresses
	Actions  []string `json:"action"`              // get, post, put, patch, delete
	ReadOnly bool     `json:"read-only,omitempty"` // of operations: only those that change nothing
	Names    []string `json:"name,omitempty"`      // of operations: what their input may name; none = anything

	pattern pattern.Pattern
	named   bool // of a shipped role: Names are given when it is installed
}

// String is the line for people.
func (p *Permit) String() string {
	text := strings.ToUpper(strings.Join(p.Actions, " ")) + " " + p.Resource
	if p.ReadOnly {
		text += ", only operations that change nothing"
	}
	if len(p.Names) > 0 {
		text += ", only for " + strings.Join(p.Names, ", ")
	}
	return text
}

// Set are the roles that confine. It is never changed.
type Set struct{ roles []Role }

// unconfined are the roles that everybody relies on, and that never confine.
var unconfined = []string{"admin", "user"}

// Compile reads the content of the node roles; what is wrong is a fault.Invalid.
func Compile(content json.RawMessage) (*Set, error) {
	s := &Set{}
	if len(content) == 0 {
		return s, nil
	}
	var c struct {
		Roles []Role `json:"role"`
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the roles do not match module aaa-roles: %v", err)
	}
	for i := range c.Roles {
		if err := c.Roles[i].compileLines(); err != nil {
			return nil, err
		}
	}
	s.roles = c.Roles
	return s, nil
}

func (r *Role) compileLines() error {
	if slices.Contains(unconfined, r.Name) {
		return fault.At(
			fault.Invalid,
			"aaa-roles:roles/role="+r.Name,
			"the role %s cannot confine: choose another name",
			r.Name,
		)
	}
	for i := range r.Permits {
		p := &r.Permits[i]
		if err := p.compile(); err != nil {
			at := fmt.Sprintf("aaa-roles:roles/role=%s/permit=%d", r.Name, p.Number)
			return fault.At(fault.Invalid, at, "%v", err)
		}
	}
	slices.SortFunc(r.Permits, func(a, b Permit) int { return int(a.Number) - int(b.Number) })
	return nil
}

func (p *Permit) compile() (err error) {
	if p.pattern, err = pattern.Compile(p.Resource); err != nil {
		return err
	}
	if len(p.Names) > 0 && !strings.HasPrefix(p.Resource, "/rests/operations/") {
		return errors.New("only a line for operations (/rests/operations/…) can have names")
	}
	for _, name := range p.Names {
		if _, err := path.Match(name, ""); err != nil {
			return fmt.Errorf("%q is not a pattern of names", name)
		}
	}
	return nil
}

// Roles are all of them, in the order of their names; the caller must not change them.
func (s *Set) Roles() []Role { return s.roles }

func (s *Set) find(name string) *Role {
	for i := range s.roles {
		if s.roles[i].Name == name {
			return &s.roles[i]
		}
	}
	return nil
}

// Without are the names of roles that another set does not have.
func (s *Set) Without(other *Set) (names []string) {
	for _, r := range s.roles {
		if other.find(r.Name) == nil {
			names = append(names, r.Name)
		}
	}
	return names
}

// Confines reports whether somebody with these roles may do only what they permit: somebody who has a role of the controller besides
// keeps what that one gives. isRole reports whether the controller has a role; a name that another realm gives its users, and that is
// none here, gives nothing. Somebody without any role is confined too.
func (s *Set) Confines(roles []string, isRole func(name string) bool) bool {
	if len(s.roles) == 0 {
		return false
	}
	return !slices.ContainsFunc(roles, func(name string) bool {
		return slices.Contains(unconfined, name) || s.find(name) == nil && isRole(name)
	})
}

// Asked is a request.
type Asked struct {
	Method   string
	Path     reqpath.Path // canonical
	ReadOnly bool         // it is an operation that changes nothing
	Alone    bool         // of a data tree: the resource without what is below it
}

// Decide asks the roles of somebody whom they confine about a request. by is the line that permits it, or why none does; it is
// empty for what everybody may do.
func (s *Set) Decide(roles []string, q Asked) (by string, permits bool) {
	if q.Method == http.MethodOptions || ownAccount(q.Path) {
		return "", true
	}
	for _, name := range roles {
		r := s.find(name)
		if r == nil {
			continue
		}
		for i := range r.Permits {
			if p := &r.Permits[i]; p.permits(q) {
				return fmt.Sprintf("role %s, line %d: %s", name, p.Number, p), true
			}
		}
	}
	if !slices.ContainsFunc(roles, func(name string) bool { return s.find(name) != nil }) {
		return fmt.Sprintf("the user has no role that is known here (the realm names: %s), and roles that confine are installed", cmp.Or(strings.Join(roles, ", "), "none")), false
	}
	return "no line of the roles " + strings.Join(roles, ", ") + " permits " + q.Method + " " + q.Path.Canonical(), false
}

// ownAccount reports whether a path is of a user's own account: password, sessions, keys, tokens and settings of the pages.
func ownAccount(p reqpath.Path) bool {
	return p.Is("auth", "password") || p.Under("web") || p.Under("oauth2")
}

func (p *Permit) permits(q Asked) bool {
	method := q.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if !slices.Contains(p.Actions, strings.ToLower(method)) || p.ReadOnly && !q.ReadOnly {
		return false
	}
	segments := q.Path.Segments()
	if p.pattern.Match(segments) {
		return true
	}
	depth := q.Path.DataDepth()
	if depth == 0 {
		return false
	}
	for n := len(segments) - 1; n > depth; n-- { // in a data tree a resource holds all that is below it
		if p.pattern.Match(segments[:n]) {
			return true
		}
	}
	return q.Alone && p.pattern.Below(segments)
}

// Named reports whether a role of somebody names an operation or a node of a module at a path: what a module keeps for
// administrators is open to who has such a role, and within its names.
func (s *Set) Named(
	roles []string,
	q Asked,
	names []string,
	isNamed func(pattern string) bool,
) bool {
	return s.any(roles, func(p *Permit) bool {
		return isNamed(p.Resource) && p.permits(q) && p.covers(names)
	})
}

// PermitsNames reports whether somebody whom the roles confine may have an operation carried out with an input that names something.
func (s *Set) PermitsNames(roles []string, q Asked, names []string) bool {
	return s.any(roles, func(p *Permit) bool {
		return p.permits(q) && p.covers(names)
	})
}

func (s *Set) any(roles []string, permits func(*Permit) bool) bool {
	for _, name := range roles {
		r := s.find(name)
		if r == nil {
			continue
		}
		for i := range r.Permits {
			if permits(&r.Permits[i]) {
				return true
			}
		}
	}
	return false
}

// covers reports whether a line permits all that an input names; an input that names nothing needs a line for anything.
func (p *Permit) covers(names []string) bool {
	if len(p.Names) == 0 {
		return true
	}
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(p.Names, func(pattern string) bool {
			ok, err := path.Match(pattern, name)
			return ok && err == nil
		})
	})
}

// Engine answers with the roles of the moment; until Use is called nobody is confined. It is safe for concurrent use.
type Engine struct {
	now    atomic.Pointer[Set]
	failed atomic.Bool
}

// Use puts roles into force.
func (e *Engine) Use(s *Set) {
	e.now.Store(s)
	e.failed.Store(false)
}

// Fail says that the roles cannot be read: only administrators may do something until others are in force.
func (e *Engine) Fail() { e.failed.Store(true) }

// Failed reports whether the roles cannot be read.
func (e *Engine) Failed() bool { return e.failed.Load() }

// Now are the roles in force.
func (e *Engine) Now() *Set {
	if s := e.now.Load(); s != nil {
		return s
	}
	return &Set{}
}
