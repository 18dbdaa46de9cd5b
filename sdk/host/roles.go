package host

import (
	"context"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Roles are held by one process among all nodes. Package state uses them.
type Roles struct{ rpc pluginv1.HostRolesClient }

func newRoles(c grpc.ClientConnInterface) *Roles { return &Roles{pluginv1.NewHostRolesClient(c)} }

// Hold waits for the role and calls f when this process gets it and at each renewal,
// until ctx ends, f fails or the role is lost. epoch grows with every change of the
// holder; until is CLOCK_BOOTTIME in nanoseconds, 0 = as long as Hold runs.
func (r *Roles) Hold(ctx context.Context, role string, f func(epoch uint64, until int64) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := r.rpc.Hold(ctx, &pluginv1.HoldRequest{Role: role})
	if err != nil {
		return fault.FromStatus(err)
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			return fault.FromStatus(err)
		}
		if err := f(m.Epoch, m.Until); err != nil {
			return err
		}
	}
}
