package process

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Stop asks the plugin to end in order within the grace and ends it by force
// otherwise. It returns when nothing of it is left, at the latest shortly after
// grace and exitGrace. Calling it twice is as good as once.
func (p *Process) Stop(grace time.Duration) Exit {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	_, err := pluginv1.NewBaseClient(p.conn).Stop(
		ctx,
		&pluginv1.StopRequest{Grace: durationpb.New(grace)},
	)
	if p.run == nil {
		p.detach()
		return p.Exit()
	}
	late := status.Code(err) == codes.DeadlineExceeded
	if !late && !p.Ended() {
		p.requestShutdown()
	}
	if late {
		return p.Kill("did not stop within " + grace.String() + " and was killed")
	}
	select {
	case <-p.done:
	case <-time.After(exitGrace):
		p.Kill("has stopped but did not end within " + exitGrace.String() + " and was killed")
	}
	return p.Exit()
}

// requestShutdown makes go-plugin's server in the plugin return, and with it its main.
func (p *Process) requestShutdown() {
	ctx, cancel := context.WithTimeout(context.Background(), exitGrace)
	defer cancel()
	_ = p.conn.Invoke(ctx, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
}

// Kill ends the process and its group at once, whatever state they are in.
func (p *Process) Kill(reason string) Exit {
	if !p.Ended() { // else it was faster
		p.reason.CompareAndSwap(nil, &reason)
	}
	if p.run == nil {
		p.detach()
		return p.Exit()
	}
	p.run.killChild()
	<-p.done
	return p.Exit()
}
