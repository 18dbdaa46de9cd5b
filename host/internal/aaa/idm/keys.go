package idm

import (
	"net/http"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/sdk/fault"
)

// ownKeys are the SSH keys of the user who asks, whose own they are: an administrator's are access:key-*.
func (h *handler) keyOwner(l *authn.Login) (string, error) {
	if !l.Local {
		return "", fault.New(fault.Denied, "SSH keys are kept for users of the controller's own realm; you are a user of %s", l.Realm)
	}
	return l.User + "@" + l.Domain, nil
}

// listKeys is GET /web/keys.
func (h *handler) listKeys(w http.ResponseWriter, r *http.Request, _ []string) (int, any, error) {
	l := h.sender(w, r)
	if l == nil {
		return 0, nil, nil
	}
	id, err := h.keyOwner(l)
	if err != nil {
		return 0, nil, err
	}
	keys, err := h.Identity.Keys(r.Context(), id)
	return http.StatusOK, map[string]any{"keys": keys}, err
}

// addKey is POST /web/keys, with {"key": "ssh-ed25519 AAAA… comment"}.
func (h *handler) addKey(w http.ResponseWriter, r *http.Request, _ []string) (int, any, error) {
	l := h.sender(w, r)
	if l == nil {
		return 0, nil, nil
	}
	id, err := h.keyOwner(l)
	if err != nil {
		return 0, nil, err
	}
	o, err := read(r, "key")
	if err != nil {
		return 0, nil, err
	}
	line := o.required("key")
	if err := o.faults.Err(); err != nil {
		return 0, nil, err
	}
	k, err := h.Identity.AddKey(h.asLogin(r.Context(), l), id, line)
	return http.StatusCreated, k, err
}

// removeKey is DELETE /web/keys/{id}.
func (h *handler) removeKey(w http.ResponseWriter, r *http.Request, id []string) (int, any, error) {
	l := h.sender(w, r)
	if l == nil {
		return 0, nil, nil
	}
	owner, err := h.keyOwner(l)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, h.Identity.RemoveKey(h.asLogin(r.Context(), l), owner, id[0])
}
