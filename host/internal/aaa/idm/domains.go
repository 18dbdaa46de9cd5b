package idm

import (
	"net/http"
	"net/url"

	"ctl.internal/host/internal/aaa/identity"
)

type domain struct {
	ID          string `json:"domainid"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
}

var domainMembers = []string{"domainid", "name", "description", "enabled"}

func showDomain(d identity.Domain) domain { return domain{d.Name, d.Name, d.Description, d.Enabled} }

func (h *handler) listDomains(w http.ResponseWriter, r *http.Request, _ []string) {
	p, err := page(r)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	list, err := h.Identity.Domains(r.Context(), more(p))
	if err != nil {
		h.fault(w, r, err)
		return
	}
	list = link(w, r, p, list)
	out := make([]domain, len(list))
	for i, d := range list {
		out[i] = showDomain(d)
	}
	h.ok(w, r, http.StatusOK, map[string][]domain{"domains": out})
}

func (h *handler) getDomain(w http.ResponseWriter, r *http.Request, id []string) {
	d, err := h.Identity.Domain(r.Context(), id[0])
	if err != nil {
		h.fault(w, r, err)
		return
	}
	h.ok(w, r, http.StatusOK, showDomain(d))
}

func (h *handler) createDomain(w http.ResponseWriter, r *http.Request, _ []string) {
	o, err := read(r, domainMembers...)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	d := identity.Domain{Name: o.required("name"), Description: value(o.text("description"))}
	if e := o.boolean("enabled"); e != nil {
		d.Enabled = *e
	}
	o.same("domainid", d.Name)
	if err := o.faults.Err(); err != nil {
		h.fault(w, r, err)
		return
	}
	if err := h.Identity.CreateDomain(r.Context(), d); err != nil {
		h.fault(w, r, err)
		return
	}
	w.Header().Set("Location", "/auth/v1/domains/"+url.PathEscape(d.Name))
	h.ok(w, r, http.StatusCreated, showDomain(d))
}

func (h *handler) updateDomain(w http.ResponseWriter, r *http.Request, id []string) {
	o, err := read(r, domainMembers...)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	c := identity.DomainChange{Description: o.text("description"), Enabled: o.boolean("enabled")}
	o.same("domainid", id[0])
	o.same("name", id[0])
	if err := o.faults.Err(); err != nil {
		if _, gone := h.Identity.Domain(r.Context(), id[0]); gone != nil {
			err = gone
		}
		h.fault(w, r, err)
		return
	}
	d, err := h.Identity.UpdateDomain(r.Context(), id[0], c)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	h.ok(w, r, http.StatusOK, showDomain(d))
}

func (h *handler) deleteDomain(w http.ResponseWriter, r *http.Request, id []string) {
	h.deleted(w, r, h.Identity.DeleteDomain(r.Context(), id[0]))
}
