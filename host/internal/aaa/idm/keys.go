package idm

import (
	"context"
	"net/http"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/sdk/fault"
)

// ofKeyOwner is an endpoint for the SSH keys of the user who asks; those of others are access:key-*.
func (h *handler) ofKeyOwner(answer func(ctx context.Context, owner string, r *http.Request, args []string) (int, any, error)) endpoint {
	return func(w http.ResponseWriter, r *http.Request, args []string) (int, any, error) {
		l := h.findSender(w, r)
		if l == nil {
			return 0, nil, nil
		}
		owner, err := keyOwner(l)
		if err != nil {
			return 0, nil, err
		}
		return answer(h.asLogin(r.Context(), l), owner, r, args)
	}
}

func keyOwner(l *authn.Login) (string, error) {
	if !l.Local {
		return "", fault.New(
			fault.Denied,
			"SSH keys are kept for users of the controller's own realm; you are a user of %s",
			l.Realm,
		)
	}
	return l.User + "@" + l.Domain, nil
}

// listKeys is GET /web/keys.
func (h *handler) listKeys(
	ctx context.Context,
	owner string,
	_ *http.Request,
	_ []string,
) (int, any, error) {
	keys, err := h.Identity.Keys(ctx, owner)
	return http.StatusOK, map[string]any{"keys": keys}, err
}

// addKey is POST /web/keys, with {"key": "ssh-ed25519 AAAA… comment"}.
func (h *handler) addKey(
	ctx context.Context,
	owner string,
	r *http.Request,
	_ []string,
) (int, any, error) {
	o, err := readJSONObject(r, "key")
	if err != nil {
		return 0, nil, err
	}
	line := o.requiredText("key")
	if err := o.faults.Err(); err != nil {
		return 0, nil, err
	}
	k, err := h.Identity.AddKey(ctx, owner, line)
	return http.StatusCreated, k, err
}

// removeKey is DELETE /web/keys/{id}.
func (h *handler) removeKey(
	ctx context.Context,
	owner string,
	_ *http.Request,
	args []string,
) (int, any, error) {
	return http.StatusNoContent, nil, h.Identity.RemoveKey(ctx, owner, args[0])
}
