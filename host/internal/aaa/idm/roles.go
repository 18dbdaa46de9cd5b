package idm

import (
	"net/http"
	"net/url"

	"ctl.internal/host/internal/aaa/identity"
)

type role struct {
	ID          string `json:"roleid"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Domain      string `json:"domainid"`
}

var roleMembers = []string{"roleid", "name", "description", "domainid"}

func showRole(r identity.Role) role { return role{r.ID(), r.Name, r.Description, r.Domain} }

func showRoles(list []identity.Role) map[string][]role {
	out := make([]role, len(list))
	for i, r := range list {
		out[i] = showRole(r)
	}
	return map[string][]role{"roles": out}
}

func (h *handler) listRoles(w http.ResponseWriter, r *http.Request, _ []string) {
	p, err := page(r)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	list, err := h.Identity.Roles(r.Context(), more(p))
	if err != nil {
		h.fault(w, r, err)
		return
	}
	h.ok(w, r, http.StatusOK, showRoles(link(w, r, p, list)))
}

func (h *handler) getRole(w http.ResponseWriter, r *http.Request, id []string) {
	found, err := h.Identity.Role(r.Context(), id[0])
	if err != nil {
		h.fault(w, r, err)
		return
	}
	h.ok(w, r, http.StatusOK, showRole(found))
}

func (h *handler) createRole(w http.ResponseWriter, r *http.Request, _ []string) {
	o, err := read(r, roleMembers...)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	made := identity.Role{Name: o.required("name"), Domain: o.required("domainid"), Description: value(o.text("description"))}
	o.same("roleid", made.ID())
	if err := o.faults.Err(); err != nil {
		h.fault(w, r, err)
		return
	}
	if err := h.Identity.CreateRole(r.Context(), made); err != nil {
		h.fault(w, r, err)
		return
	}
	w.Header().Set("Location", "/auth/v1/roles/"+url.PathEscape(made.ID()))
	h.ok(w, r, http.StatusCreated, showRole(made))
}

func (h *handler) updateRole(w http.ResponseWriter, r *http.Request, id []string) {
	o, err := read(r, roleMembers...)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	name, domain, _ := identity.SplitID(id[0])
	description := o.text("description")
	o.same("roleid", id[0])
	o.same("name", name)
	o.same("domainid", domain)
	if err := o.faults.Err(); err != nil {
		if _, gone := h.Identity.Role(r.Context(), id[0]); gone != nil {
			err = gone
		}
		h.fault(w, r, err)
		return
	}
	changed, err := h.Identity.UpdateRole(r.Context(), id[0], description)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	h.ok(w, r, http.StatusOK, showRole(changed))
}

func (h *handler) deleteRole(w http.ResponseWriter, r *http.Request, id []string) {
	h.deleted(w, r, h.Identity.DeleteRole(r.Context(), id[0]))
}
