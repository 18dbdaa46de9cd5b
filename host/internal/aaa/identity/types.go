package identity

import (
	"strings"
	"time"
)

// The built-in names. Only the domain SDN gives rights in this release.
const (
	SDN       = "sdn"
	AdminRole = "admin"
	UserRole  = "user"
)

// User is a person or program that may log in.
type User struct {
	Name, Domain string
	Profile
	Enabled bool
}

// ID is name@domain.
func (u User) ID() string { return u.Name + "@" + u.Domain }

// Role is a set of permissions by name.
type Role struct{ Name, Domain, Description string }

// ID is name@domain.
func (r Role) ID() string { return r.Name + "@" + r.Domain }

// Domain is a group of resources for access control. Its id is its name.
type Domain struct {
	Name, Description string
	Enabled           bool
}

// ID is the name, so that all kinds can be listed in pages.
func (d Domain) ID() string { return d.Name }

// Grant gives a user a role in a domain. User and Role are ids.
type Grant struct{ User, Role, Domain string }

// ID is userid@roleid@domainid.
func (g Grant) ID() string {
	return g.User + "@" + g.Role + "@" + g.Domain
}

// Principal is what a request may rely on about a user: looked up again after
// every change, never frozen into a login or a token.
type Principal struct {
	Name, Domain string
	Roles        []string // names of the roles of SDN granted in SDN, sorted
	Active       bool     // the user, its domain and SDN are enabled
	// Epoch changes whenever older logins and tokens must die: with the password,
	// with disabling, and with making the user again after a deletion.
	Epoch string

	PasswordSet time.Time // zero = not known
	First       bool      // the password was made at random at the first start
	Given       bool      // another than the user chose the password

	Until time.Time // when the first of the roles ends that the principal has for a while; zero = none does
}

// ID is name@domain.
func (p *Principal) ID() string {
	return p.Name + "@" + p.Domain
}

// MayLogIn reports whether the user may log in at all: no right, no login.
func (p *Principal) MayLogIn() bool {
	return p.Active && len(p.Roles) > 0
}

// SplitID cuts an id into name and domain.
func SplitID(id string) (name, domain string, ok bool) {
	name, domain, ok = strings.Cut(id, "@")
	return name, domain, ok && len(id) <= 4*maxField*2 && name != "" && domain != "" && !strings.ContainsAny(domain, "@/") && !strings.Contains(name, "/")
}

// Page bounds a list: what comes after an id, at most Limit entries (0 = all).
type Page struct {
	After string
	Limit int
}
