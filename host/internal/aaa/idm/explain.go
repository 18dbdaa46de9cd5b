package idm

import (
	"net/http"

	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// explain is GET /auth/v1/access/explain?user=&method=&path=, for administrators: what decides a request.
func (h *handler) explain(_ http.ResponseWriter, r *http.Request, _ []string) (int, any, error) {
	if who, _ := caller.From(r.Context()); !who.HasRole("admin") { // also where the rules leave /auth/v1 open
		return 0, nil, fault.New(fault.Denied, "only role admin may ask what others may do")
	}
	q := r.URL.Query()
	user, method, path := q.Get("user"), q.Get("method"), q.Get("path")
	if user == "" || method == "" || path == "" {
		return 0, nil, fault.New(fault.Missing, "the parameters user, method and path are required")
	}
	x, err := h.Explain(r.Context(), user, method, path)
	return http.StatusOK, x, err
}
