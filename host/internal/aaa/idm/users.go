package idm

import (
	"net/http"
	"net/url"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/fault"
)

// redacted stands in every answer for what is never told.
const redacted = "**********"

type user struct {
	ID          string `json:"userid"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Email       string `json:"email"`
	Enabled     bool   `json:"enabled"`
	Password    string `json:"password"`
	Salt        string `json:"salt"`
	Domain      string `json:"domainid"`
}

var userMembers = []string{"userid", "name", "description", "email", "enabled", "password", "salt", "domainid"}

func showUser(u identity.User) user {
	return user{u.ID(), u.Name, u.Description, u.Email, u.Enabled, redacted, redacted, u.Domain}
}

func (h *handler) listUsers(w http.ResponseWriter, r *http.Request, _ []string) {
	p, err := page(r)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	list, err := h.Identity.Users(r.Context(), more(p))
	if err != nil {
		h.fault(w, r, err)
		return
	}
	list = link(w, r, p, list)
	out := make([]user, len(list))
	for i, u := range list {
		out[i] = showUser(u)
	}
	h.ok(w, r, http.StatusOK, map[string][]user{"users": out})
}

func (h *handler) getUser(w http.ResponseWriter, r *http.Request, id []string) {
	u, err := h.Identity.User(r.Context(), id[0])
	if err != nil {
		h.fault(w, r, err)
		return
	}
	h.ok(w, r, http.StatusOK, showUser(u))
}

func (h *handler) createUser(w http.ResponseWriter, r *http.Request, _ []string) {
	o, err := read(r, userMembers...)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	u := identity.User{
		Name: o.required("name"), Domain: o.required("domainid"),
		Description: value(o.text("description")), Email: value(o.text("email")), Enabled: true,
	}
	if e := o.boolean("enabled"); e != nil {
		u.Enabled = *e
	}
	password := o.required("password")
	if password == redacted {
		o.faults = append(o.faults, fault.At(fault.Invalid, "password", "this is the mark that hides passwords, not one"))
	}
	o.same("userid", u.ID())
	o.salt()
	if err := o.faults.Err(); err != nil {
		h.fault(w, r, err)
		return
	}
	if err := h.Identity.CreateUser(r.Context(), u, password); err != nil {
		h.fault(w, r, err)
		return
	}
	w.Header().Set("Location", "/auth/v1/users/"+url.PathEscape(u.ID()))
	h.ok(w, r, http.StatusCreated, showUser(u))
}

// salt accepts the salt only as answers show it: each hash has its own.
func (o *object) salt() {
	if s := o.text("salt"); s != nil && *s != "" && *s != redacted {
		o.faults = append(o.faults, fault.At(fault.Invalid, "salt", "the controller makes salts itself; leave it out"))
	}
}

func (h *handler) updateUser(w http.ResponseWriter, r *http.Request, id []string) {
	o, err := read(r, userMembers...)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	name, domain, _ := identity.SplitID(id[0])
	c := identity.UserChange{
		Password: o.text("password"), Description: o.text("description"), Email: o.text("email"), Enabled: o.boolean("enabled"),
	}
	if c.Password != nil && *c.Password == redacted { // a client sends back what it was shown
		c.Password = nil
	}
	o.same("userid", id[0])
	o.same("name", name)
	o.same("domainid", domain)
	o.salt()
	if err := o.faults.Err(); err != nil {
		if _, gone := h.Identity.User(r.Context(), id[0]); gone != nil {
			err = gone
		}
		h.fault(w, r, err)
		return
	}
	u, err := h.Identity.UpdateUser(r.Context(), id[0], c)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	h.ok(w, r, http.StatusOK, showUser(u))
}

func (h *handler) deleteUser(w http.ResponseWriter, r *http.Request, id []string) {
	h.deleted(w, r, h.Identity.DeleteUser(r.Context(), id[0]))
}

func (h *handler) deleted(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		h.fault(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
