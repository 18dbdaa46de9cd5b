package plugin

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/internal/wire/link"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// instance is one process of a plugin, described and configured.
type instance struct {
	proc     *process.Process
	conn     grpc.ClientConnInterface // over the link, once there is one
	link     *link.Conn               // nil before
	manifest *pluginv1.Manifest
	spec     Spec
	warnings []string
	token    string
	isolate  *process.Isolate // nil = it is not
	files    []os.FileInfo    // what was at the places of the files of isolate; nil = nothing
	stale    atomic.Bool      // it was to be replaced for one of them
	health   atomic.Pointer[pluginv1.HealthResponse]

	ctx    context.Context // ends with the process
	cancel context.CancelFunc
	// leave ends when watching calls should move to the successor.
	leave     context.Context
	leaveFunc context.CancelFunc

	inflight atomic.Int64
	draining atomic.Bool
	idle     chan struct{} // gets one when the last call ends while draining
}

func newInstance(p *process.Process, spec Spec, token string) *instance {
	i := &instance{
		proc:  p,
		conn:  p.Conn(),
		spec:  spec,
		token: token,
		idle:  make(chan struct{}, 1),
	}
	i.ctx, i.cancel = context.WithCancel(context.Background())
	i.leave, i.leaveFunc = context.WithCancel(i.ctx)
	return i
}

// openLink lets the calls that follow go over the link, if the plugin serves one.
func (i *instance) openLink(ctx context.Context) error {
	c, err := link.Open(ctx, i.conn)
	i.link, i.conn = c, c
	return err
}

// end frees what the instance holds. Its process is gone.
func (i *instance) end() {
	i.cancel()
	if i.link != nil {
		i.link.Close()
	}
}

// acquireCall counts a call in; false when the process takes no more.
func (i *instance) acquireCall() bool {
	i.inflight.Add(1)
	if i.draining.Load() {
		i.releaseCall()
		return false
	}
	return true
}

func (i *instance) releaseCall() {
	if i.inflight.Add(-1) == 0 && i.draining.Load() {
		select {
		case i.idle <- struct{}{}:
		default:
		}
	}
}

// drain lets no call in and waits for those that are, at most so long. It reports
// how many are left.
func (i *instance) drain(ctx context.Context, limit time.Duration) int64 {
	i.draining.Store(true)
	i.leaveFunc()
	late := time.After(limit)
	for {
		n := i.inflight.Load()
		if n <= 0 {
			return 0
		}
		select {
		case <-i.idle:
		case <-i.proc.Gone():
			return 0
		case <-ctx.Done():
			return n
		case <-late:
			return n
		}
	}
}
