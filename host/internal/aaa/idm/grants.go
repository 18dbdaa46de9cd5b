package idm

import (
	"net/http"
	"net/url"

	"ctl.internal/host/internal/aaa/identity"
)

type grant struct {
	ID     string `json:"grantid"`
	User   string `json:"userid"`
	Role   string `json:"roleid"`
	Domain string `json:"domainid"`
}

func (h *handler) listGrants(w http.ResponseWriter, r *http.Request, id []string) {
	list, err := h.Identity.GrantedRoles(r.Context(), id[0], id[1])
	if err != nil {
		h.fault(w, r, err)
		return
	}
	h.ok(w, r, http.StatusOK, showRoles(list))
}

func (h *handler) createGrant(w http.ResponseWriter, r *http.Request, id []string) {
	o, err := read(r, "roleid", "userid", "domainid", "grantid")
	if err != nil {
		h.fault(w, r, err)
		return
	}
	g := identity.Grant{Domain: id[0], User: id[1], Role: o.required("roleid")}
	o.same("domainid", g.Domain)
	o.same("userid", g.User)
	o.same("grantid", g.ID())
	if err := o.faults.Err(); err != nil {
		h.fault(w, r, err)
		return
	}
	if err := h.Identity.CreateGrant(r.Context(), g); err != nil {
		h.fault(w, r, err)
		return
	}
	w.Header().Set("Location", "/auth/v1/domains/"+url.PathEscape(g.Domain)+"/users/"+url.PathEscape(g.User)+"/roles/"+url.PathEscape(g.Role))
	h.ok(w, r, http.StatusCreated, grant{g.ID(), g.User, g.Role, g.Domain})
}

func (h *handler) deleteGrant(w http.ResponseWriter, r *http.Request, id []string) {
	h.deleted(w, r, h.Identity.DeleteGrant(r.Context(), identity.Grant{Domain: id[0], User: id[1], Role: id[2]}))
}
