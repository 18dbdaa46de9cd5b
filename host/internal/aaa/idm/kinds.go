package idm

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/fault"
)

// redacted is shown instead of secrets in every answer.
const redacted = "**********"

type user struct {
	ID   string `json:"userid"`
	Name string `json:"name"`
	identity.Profile
	Enabled  bool   `json:"enabled"`
	Password string `json:"password"`
	Salt     string `json:"salt"`
	Domain   string `json:"domainid"`
}

func (h *handler) usersKind() kind[identity.User] {
	s := h.Identity
	return kind[identity.User]{
		plural: "users",
		list:   s.Users,
		get:    s.User,
		remove: s.DeleteUser,
		members: slices.Concat(
			[]string{"userid", "name"},
			identity.ProfileFields(),
			[]string{"enabled", "password", "salt", "domainid"},
		),
		create: func(o *object) (identity.User, func(context.Context) error) {
			u := identity.User{
				Name:    o.requiredText("name"),
				Domain:  o.requiredText("domainid"),
				Enabled: valueOr(o.booleanMember("enabled"), true),
			}
			u.Profile.Set(o.textMembers(identity.ProfileFields()))
			password := o.requiredText("password")
			if password == redacted {
				o.faults = append(
					o.faults,
					fault.At(
						fault.Invalid,
						"password",
						"this text only hides a password and is not a valid password",
					),
				)
			}
			o.checkSalt()
			return u, func(ctx context.Context) error {
				return s.CreateUser(ctx, u, password)
			}
		},
		update: func(o *object, id string) func(context.Context) (identity.User, error) {
			name, domain, _ := identity.SplitID(id)
			c := identity.UserChange{
				Password: o.textMember("password"),
				Enabled:  o.booleanMember("enabled"),
				Profile:  o.textMembers(identity.ProfileFields()),
			}
			if c.Password != nil &&
				*c.Password == redacted { // a client sends back what it was shown
				c.Password = nil
			}
			o.checkComputed("name", name)
			o.checkComputed("domainid", domain)
			o.checkSalt()
			return func(ctx context.Context) (identity.User, error) {
				return s.UpdateUser(ctx, id, c)
			}
		},
		show: func(u identity.User) any {
			return user{u.ID(), u.Name, u.Profile, u.Enabled, redacted, redacted, u.Domain}
		},
	}
}

// checkSalt accepts the salt only as answers show it: each hash has its own.
func (o *object) checkSalt() {
	s := o.textMember("salt")
	if s != nil && *s != "" && *s != redacted {
		o.faults = append(
			o.faults,
			fault.At(fault.Invalid, "salt", "the controller creates salts itself; leave it out"),
		)
	}
}

type role struct {
	ID          string `json:"roleid"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Domain      string `json:"domainid"`
}

func (h *handler) rolesKind() kind[identity.Role] {
	s := h.Identity
	return kind[identity.Role]{
		plural:  "roles",
		list:    s.Roles,
		get:     s.Role,
		remove:  s.DeleteRole,
		members: []string{"roleid", "name", "description", "domainid"},
		create: func(o *object) (identity.Role, func(context.Context) error) {
			r := identity.Role{
				Name:        o.requiredText("name"),
				Domain:      o.requiredText("domainid"),
				Description: valueOr(o.textMember("description"), ""),
			}
			return r, func(ctx context.Context) error { return s.CreateRole(ctx, r) }
		},
		update: func(o *object, id string) func(context.Context) (identity.Role, error) {
			name, domain, _ := identity.SplitID(id)
			description := o.textMember("description")
			o.checkComputed("name", name)
			o.checkComputed("domainid", domain)
			return func(ctx context.Context) (identity.Role, error) {
				return s.UpdateRole(ctx, id, description)
			}
		},
		show: func(r identity.Role) any {
			return role{r.ID(), r.Name, r.Description, r.Domain}
		},
	}
}

type domain struct {
	ID          string `json:"domainid"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
}

func (h *handler) domainsKind() kind[identity.Domain] {
	s := h.Identity
	return kind[identity.Domain]{
		plural:  "domains",
		list:    s.Domains,
		get:     s.Domain,
		remove:  s.DeleteDomain,
		members: []string{"domainid", "name", "description", "enabled"},
		create: func(o *object) (identity.Domain, func(context.Context) error) {
			d := identity.Domain{
				Name:        o.requiredText("name"),
				Description: valueOr(o.textMember("description"), ""),
				Enabled:     valueOr(o.booleanMember("enabled"), false),
			}
			return d, func(ctx context.Context) error { return s.CreateDomain(ctx, d) }
		},
		update: func(o *object, id string) func(context.Context) (identity.Domain, error) {
			c := identity.DomainChange{
				Description: o.textMember("description"),
				Enabled:     o.booleanMember("enabled"),
			}
			o.checkComputed("name", id)
			return func(ctx context.Context) (identity.Domain, error) {
				return s.UpdateDomain(ctx, id, c)
			}
		},
		show: func(d identity.Domain) any {
			return domain{d.Name, d.Name, d.Description, d.Enabled}
		},
	}
}

type grant struct {
	ID     string `json:"grantid"`
	User   string `json:"userid"`
	Role   string `json:"roleid"`
	Domain string `json:"domainid"`
}

func (h *handler) listGrants(
	_ http.ResponseWriter,
	r *http.Request,
	id []string,
) (int, any, error) {
	list, err := h.Identity.GrantedRoles(r.Context(), id[0], id[1])
	return http.StatusOK, h.rolesKind().showAll(list), err
}

func (h *handler) createGrant(
	w http.ResponseWriter,
	r *http.Request,
	id []string,
) (int, any, error) {
	// OpenDaylight's guide sends the members of the role; its id says which role it is.
	o, err := readJSONObject(r, "roleid", "userid", "domainid", "grantid", "name", "description")
	if err != nil {
		return 0, nil, err
	}
	o.textMembers([]string{"name", "description"})
	g := identity.Grant{
		Domain: id[0],
		User:   id[1],
		Role:   o.requiredText("roleid"),
	}
	o.checkComputed("domainid", g.Domain)
	o.checkComputed("userid", g.User)
	o.checkComputed("grantid", g.ID())
	if err := o.faults.Err(); err != nil {
		return 0, nil, err
	}
	if err := h.Identity.CreateGrant(r.Context(), g); err != nil {
		return 0, nil, err
	}
	w.Header().Set(
		"Location",
		"/auth/v1/domains/"+url.PathEscape(g.Domain)+"/users/"+url.PathEscape(g.User)+"/roles/"+url.PathEscape(g.Role),
	)
	return http.StatusCreated, grant{g.ID(), g.User, g.Role, g.Domain}, nil
}

func (h *handler) deleteGrant(
	_ http.ResponseWriter,
	r *http.Request,
	id []string,
) (int, any, error) {
	return http.StatusNoContent, nil, h.Identity.DeleteGrant(
		r.Context(),
		identity.Grant{Domain: id[0], User: id[1], Role: id[2]},
	)
}
