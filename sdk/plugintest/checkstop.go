package plugintest

import (
	"context"
	"os"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

const (
	grace     = 5 * time.Second
	exitGrace = 2 * time.Second // of the host
	// On a busy machine a process that is ending takes long; one that does not end is found all the same.
	exitPatience = 20 * time.Second
)

// checkSignals: a service manager signals the whole group; the host still needs its
// plugins then, and stops them itself.
func checkSignals(k *checker) {
	s, _ := k.startConfigured()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		k.mustSucceed(s.cmd.Process.Signal(sig), "signal")
		if s.waitGone(300 * time.Millisecond) {
			k.addFault("it ends at %v while its host lives; ignore it and wait for Stop", sig)
			return
		}
	}
	k.describePlugin(s)
}

// checkOrderlyStop: it ends in order, within the grace, and leaves nothing.
func checkOrderlyStop(k *checker) {
	s, _ := k.startConfigured()
	pid := s.cmd.Process.Pid
	for _, what := range []string{"Stop", "a second Stop"} {
		ctx, cancel := context.WithTimeout(k.ctx, grace)
		_, err := s.base.Stop(ctx, &pluginv1.StopRequest{Grace: durationpb.New(grace)})
		cancel()
		if status.Code(err) == codes.DeadlineExceeded {
			k.addFault("%s takes longer than its grace of %v", what, grace)
			return
		}
		k.mustSucceed(err, what)
	}
	k.checkProcessEnds(s)
	if syscall.Kill(-pid, 0) == nil {
		k.addFault("processes that it started outlive it")
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	if _, err := os.Stat(s.socket); err == nil {
		k.addWarning("it does not remove its socket")
	}
}

// checkProcessEnds expects the process to end after Shutdown.
func (k *checker) checkProcessEnds(s *subject) {
	ctx, cancel := context.WithTimeout(k.ctx, exitPatience)
	defer cancel()
	asked := time.Now()
	s.shutdown(ctx)
	if !s.waitGone(exitPatience) {
		k.addFault("it has not ended %v after go-plugin's Shutdown", exitPatience)
		return
	}
	if took := time.Since(asked); took > exitGrace {
		k.addWarning(
			"it ended %v after go-plugin's Shutdown; a host would have killed it after %v, unless this machine was busy",
			took,
			exitGrace,
		)
	}
	if !s.cmd.ProcessState.Success() {
		k.addFault("after an orderly stop it ends with %v", s.cmd.ProcessState)
	}
}

// stopUnconfigured: the host also stops plugins whose settings it refused to send.
func stopUnconfigured(k *checker) {
	s := k.startPlugin()
	_, err := s.base.Stop(k.ctx, &pluginv1.StopRequest{Grace: durationpb.New(grace)})
	k.mustSucceed(err, "Stop before Configure")
	k.checkProcessEnds(s)
}

// parentGone: a plugin whose host has died without stopping it ends by itself.
func parentGone(k *checker) {
	s, err := k.launchPlugin("CTL_HOST_PID=1")
	if err != nil && s != nil && s.waitGone(5*time.Second) {
		return // on a busy machine it has seen that before it shook hands
	}
	k.mustSucceed(err, "start")
	if !s.waitGone(5 * time.Second) {
		k.addWarning("it lives on when its host has died; compare the parent process with CTL_HOST_PID now and then")
	}
}
