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
