package idm

import (
	"net/http"

	"ctl.internal/sdk/caller"
)

// changeOwnPassword is POST /auth/password: every user of the controller's own realm changes its own
// password with the present one. All its logins and tokens end.
func (h *handler) changeOwnPassword(w http.ResponseWriter, r *http.Request, _ []string) (int, any, error) {
	o, err := read(r, "current", "password")
	if err != nil {
		return 0, nil, err
	}
	current, fresh := o.required("current"), o.required("password")
	if err := o.faults.Err(); err != nil {
		return 0, nil, err
	}
	who, ok := caller.From(r.Context())
	if !ok || who.User == "" {
		h.fail(w, r, http.StatusUnauthorized, "log in with the account whose password is to be changed")
		return 0, nil, nil
	}
	return http.StatusNoContent, nil, h.OwnPassword(r.Context(), who.User+"@"+who.Domain, current, fresh, address(r))
}
