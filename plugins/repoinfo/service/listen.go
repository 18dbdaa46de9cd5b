package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/sdk"
)

// retryListen is the pause before a taken port is tried again: during a reload
// the process before this one still has it.
const retryListen = 250 * time.Millisecond

// serveListener serves the paths at the root of an address of their own, until ctx is
// done.
func (s *Service) serveListener(ctx context.Context) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", s.set.Listen)
	logged := false
	for ; err != nil; ln, err = lc.Listen(ctx, "tcp", s.set.Listen) {
		if !logged {
			s.log.Warn(
				"the listener of its own cannot be opened; trying again",
				"listen",
				s.set.Listen,
				"error",
				err,
			)
			s.health(sdk.Health{
				State:  sdk.Degraded,
				Reason: "listen " + s.set.Listen + ": " + err.Error(),
			})
			logged = true
		}
		if together.Sleep(ctx, retryListen) != nil {
			return
		}
	}
	if logged {
		s.health(sdk.Health{State: sdk.Healthy})
	}
	s.log.Info("listening without access control", "address", ln.Addr().String())
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		if srv.Shutdown(grace) != nil {
			_ = srv.Close()
		}
	})
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		s.log.Error("the listener of its own ended", "error", err)
	}
	if !stop() {
		<-stopped
	}
}

// exposureWarning is a warning about an address that others than this machine reach.
func exposureWarning(address string) string {
	if address == "" {
		return ""
	}
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	if err == nil && (host == "localhost" || (ip != nil && ip.IsLoopback())) {
		return ""
	}
	return fmt.Sprintf(
		"listen: %s has no access control and is reachable from other machines",
		address,
	)
}
