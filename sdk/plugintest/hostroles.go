package plugintest

import (
	"context"
	"slices"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// role is a role of the test host: one process at a time holds it.
type role struct {
	holder *guest
	freed  chan struct{} // closed when it is given up
}

type rolesServer struct {
	pluginv1.UnimplementedHostRolesServer
	h *Host
}

// Hold gives the role to whoever comes when it is free.
func (r *rolesServer) Hold(in *pluginv1.HoldRequest, out grpc.ServerStreamingServer[pluginv1.HoldResponse]) error {
	g := guestOf(out.Context())
	if !slices.Contains(g.manifest.GetRoles(), in.Role) {
		return fault.At(fault.Denied, in.Role, "the manifest does not list this role under `roles`")
	}
	for {
		r.h.mu.Lock()
		x := r.h.roles[in.Role]
		if x == nil {
			x = &role{holder: g, freed: make(chan struct{})}
			r.h.roles[in.Role] = x
			r.h.mu.Unlock()
			break
		}
		r.h.mu.Unlock()
		select {
		case <-x.freed:
		case <-out.Context().Done():
			return out.Context().Err()
		}
	}
	defer func() {
		r.h.mu.Lock()
		defer r.h.mu.Unlock()
		close(r.h.roles[in.Role].freed)
		delete(r.h.roles, in.Role)
	}()
	epoch := r.h.store.commit(nil, nil, nil).Revision
	if err := out.Send(&pluginv1.HoldResponse{Epoch: epoch}); err != nil {
		return err
	}
	<-out.Context().Done()
	return out.Context().Err()
}

// holds reports whether the process that calls has a role.
func (h *Host) holds(ctx context.Context, name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.roles[name]
	return r != nil && r.holder == guestOf(ctx)
}
