package idm

import (
	"net/http"

	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// explain is GET /auth/v1/access/explain?user=&method=&path=, for administrators: what decides a request.
func (h *handler) explain(w http.ResponseWriter, r *http.Request, _ []string) {
	if who, _ := caller.From(r.Context()); !who.HasRole("admin") { // also where the rules leave /auth/v1 open
		h.fail(w, r, http.StatusForbidden, "only role admin may ask what others may do")
		return
	}
	q := r.URL.Query()
	user, method, path := q.Get("user"), q.Get("method"), q.Get("path")
	if user == "" || method == "" || path == "" {
		h.fault(w, r, fault.New(fault.Missing, "the parameters user, method and path are required"))
		return
	}
	x, err := h.Explain(r.Context(), user, method, path)
	if err != nil {
		h.fault(w, r, err)
		return
	}
	h.ok(w, r, http.StatusOK, x)
}
