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

func (h *handler) users() kind[identity.User] {
	s := h.Identity
	return kind[identity.User]{
		plural: "users", list: s.Users, get: s.User, remove: s.DeleteUser,
		members: slices.Concat([]string{"userid", "name"}, identity.ProfileFields(), []string{"enabled", "password", "salt", "domainid"}),
		create: func(o *object) (identity.User, func(context.Context) error) {
			u := identity.User{Name: o.required("name"), Domain: o.required("domainid"), Enabled: or(o.boolean("enabled"), true)}
			u.Profile.Set(o.texts(identity.ProfileFields()))
			password := o.required("password")
			if password == redacted {
				o.faults = append(o.faults, fault.At(fault.Invalid, "password", "this text only hides a password and is not a valid password"))
			}
			o.salt()
			return u, func(ctx context.Context) error { return s.CreateUser(ctx, u, password) }
		},
		update: func(o *object, id string) func(context.Context) (identity.User, error) {
			name, domain, _ := identity.SplitID(id)
			c := identity.UserChange{Password: o.text("password"), Enabled: o.boolean("enabled"), Profile: o.texts(identity.ProfileFields())}
			if c.Password != nil && *c.Password == redacted { // a client sends back what it was shown
				c.Password = nil
			}
			o.same("name", name)
			o.same("domainid", domain)
			o.salt()
			return func(ctx context.Context) (identity.User, error) { return s.UpdateUser(ctx, id, c) }
		},
		show: func(u identity.User) any {
			return user{u.ID(), u.Name, u.Profile, u.Enabled, redacted, redacted, u.Domain}
		},
	}
}

// salt accepts the salt only as answers show it: each hash has its own.
func (o *object) salt() {
	if s := o.text("salt"); s != nil && *s != "" && *s != redacted {
		o.faults = append(o.faults, fault.At(fault.Invalid, "salt", "the controller creates salts itself; leave it out"))
	}
}

type role struct {
	ID          string `json:"roleid"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Domain      string `json:"domainid"`
}

func (h *handler) roles() kind[identity.Role] {
	s := h.Identity
	return kind[identity.Role]{
		plural: "roles", list: s.Roles, get: s.Role, remove: s.DeleteRole,
		members: []string{"roleid", "name", "description", "domainid"},
		create: func(o *object) (identity.Role, func(context.Context) error) {
			r := identity.Role{Name: o.required("name"), Domain: o.required("domainid"), Description: or(o.text("description"), "")}
			return r, func(ctx context.Context) error { return s.CreateRole(ctx, r) }
		},
		update: func(o *object, id string) func(context.Context) (identity.Role, error) {
			name, domain, _ := identity.SplitID(id)
			description := o.text("description")
			o.same("name", name)
			o.same("domainid", domain)
			return func(ctx context.Context) (identity.Role, error) { return s.UpdateRole(ctx, id, description) }
		},
		show: func(r identity.Role) any { return role{r.ID(), r.Name, r.Description, r.Domain} },
	}
}

type domain struct {
	ID          string `json:"domainid"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
}

func (h *handler) domains() kind[identity.Domain] {
	s := h.Identity
	return kind[identity.Domain]{
		plural: "domains", list: s.Domains, get: s.Domain, remove: s.DeleteDomain,
		members: []string{"domainid", "name", "description", "enabled"},
		create: func(o *object) (identity.Domain, func(context.Context) error) {
			d := identity.Domain{Name: o.required("name"), Description: or(o.text("description"), ""), Enabled: or(o.boolean("enabled"), false)}
			return d, func(ctx context.Context) error { return s.CreateDomain(ctx, d) }
		},
		update: func(o *object, id string) func(context.Context) (identity.Domain, error) {
			c := identity.DomainChange{Description: o.text("description"), Enabled: o.boolean("enabled")}
			o.same("name", id)
			return func(ctx context.Context) (identity.Domain, error) { return s.UpdateDomain(ctx, id, c) }
		},
		show: func(d identity.Domain) any { return domain{d.Name, d.Name, d.Description, d.Enabled} },
	}
}

type grant struct {
	ID     string `json:"grantid"`
	User   string `json:"userid"`
	Role   string `json:"roleid"`
	Domain string `json:"domainid"`
}

func (h *handler) listGrants(_ http.ResponseWriter, r *http.Request, id []string) (int, any, error) {
	list, err := h.Identity.GrantedRoles(r.Context(), id[0], id[1])
	return http.StatusOK, h.roles().showAll(list), err
}

func (h *handler) createGrant(w http.ResponseWriter, r *http.Request, id []string) (int, any, error) {
	o, err := read(r, "roleid", "userid", "domainid", "grantid")
	if err != nil {
		return 0, nil, err
	}
	g := identity.Grant{Domain: id[0], User: id[1], Role: o.required("roleid")}
	o.same("domainid", g.Domain)
	o.same("userid", g.User)
	o.same("grantid", g.ID())
	if err := o.faults.Err(); err != nil {
		return 0, nil, err
	}
	if err := h.Identity.CreateGrant(r.Context(), g); err != nil {
		return 0, nil, err
	}
	w.Header().Set("Location", "/auth/v1/domains/"+url.PathEscape(g.Domain)+"/users/"+url.PathEscape(g.User)+"/roles/"+url.PathEscape(g.Role))
	return http.StatusCreated, grant{g.ID(), g.User, g.Role, g.Domain}, nil
}

func (h *handler) deleteGrant(_ http.ResponseWriter, r *http.Request, id []string) (int, any, error) {
	return http.StatusNoContent, nil, h.Identity.DeleteGrant(r.Context(), identity.Grant{Domain: id[0], User: id[1], Role: id[2]})
}
