package device

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"ctl.internal/internal/netconf"
	"ctl.internal/sdk/bierdriver"
)

// refusedPause is before a router that refuses us is tried again: only the operator
// can change that, and too many tries lock users out.
const refusedPause = 5 * time.Minute

// Watch is of the contract.
func (d *Driver) Watch(
	ctx context.Context,
	r *bierdriver.Router,
	emit func(*bierdriver.Event) error,
) error {
	l, err := d.acquireLink(r)
	if err != nil {
		return err
	}
	defer d.releaseLink(l)
	w := &watcher{link: l, emit: emit}
	if err := w.reportSession(&bierdriver.Session{
		State: bierdriver.Connecting,
		Since: timestamppb.Now(),
	}); err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		opened := l.fresh.Wait()
		s, err := w.connect(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			since := time.Now()
			if err := w.followSession(ctx, s); err != nil {
				return err
			}
			if time.Since(since) > l.set.Retry.Most.Duration {
				tries = 0 // a router that ends every session at once is not well
			}
			opened = l.fresh.Wait()
		} else if err := w.reportSession(l.sessionState()); err != nil {
			return err
		}
		if err := waitForRetry(ctx, l.retryDelay(tries), opened); err != nil {
			return err
		}
	}
}

// retryDelay is the pause before the next try: doubled each time, with jitter, so that a
// thousand routers after one broken link do not come back in one moment.
func (l *link) retryDelay(tries int) time.Duration {
	if l.sessionState().State == bierdriver.Refused {
		return refusedPause
	}
	d := min(l.set.Retry.First.Duration<<min(tries, 20), l.set.Retry.Most.Duration)
	if d <= 0 {
		d = l.set.Retry.Most.Duration
	}
	return d/2 + rand.N(d/2+1)
}

// waitForRetry ends early when somebody else has opened a session.
func waitForRetry(ctx context.Context, d time.Duration, opened <-chan struct{}) error {
	select {
	case <-time.After(d):
	case <-opened:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// watcher is one call of Watch.
type watcher struct {
	*link
	emit func(*bierdriver.Event) error
}

func (w *watcher) reportSession(s *bierdriver.Session) error {
	return w.emit(&bierdriver.Event{Session: s})
}

func (w *watcher) connect(ctx context.Context) (*netconf.Session, error) {
	if err := w.acquireTurn(ctx); err != nil {
		return nil, err
	}
	defer w.releaseTurn()
	err := w.link.connect(ctx)
	return w.session, err
}

// followSession reports what happens until the session ends. An error ends the watch.
func (w *watcher) followSession(ctx context.Context, s *netconf.Session) error {
	events, heard := w.subscribeEvents(ctx, s)
	if heard != nil {
		w.link.setFollowedSession(s)
		defer w.link.setFollowedSession(nil)
	}
	if events != s {
		defer closeSoon(events, w.log)
	}
	if err := w.reportSession(w.sessionState()); err != nil {
		return err
	}
	alive := time.NewTicker(w.keepaliveInterval())
	defer alive.Stop()
	audit := time.NewTicker(w.set.Audit.Duration)
	defer audit.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Done():
			return w.reportSession(&bierdriver.Session{
				State:   bierdriver.Down,
				Reason:  fmt.Sprint(s.Err()),
				Since:   timestamppb.Now(),
				HostKey: s.HostKey(),
			})
		case n, open := <-heard:
			if !open {
				heard = nil // the audit goes on
				w.link.setFollowedSession(nil)
				continue
			}
			if err := w.handleNotification(ctx, n, s, events); err != nil {
				return err
			}
		case <-alive.C:
			w.pingRouter(ctx, s)
		case <-audit.C:
			if err := w.auditRouter(ctx, "", time.Now()); err != nil {
				return err
			}
		}
	}
}

func (w *watcher) keepaliveInterval() time.Duration {
	if n := w.router.KeepaliveSeconds; n > 0 {
		return time.Duration(n) * time.Second
	}
	return w.set.Keepalive.Duration
}

// pingRouter asks for nothing; without an answer in time the session ends itself.
func (w *watcher) pingRouter(ctx context.Context, s *netconf.Session) {
	ctx, cancel := context.WithTimeout(ctx, w.set.RPC.Duration)
	defer cancel()
	_, err := s.Do(ctx, netconf.GetConfigOp(netconf.Running, netconf.NoFilter()...))
	if err != nil {
		w.log.Debug("sign of life", "error", err)
	}
}

// subscribeEvents opens a subscription and returns the session it is on: one of its own,
// unless the router takes requests beside a subscription (RFC 5277 section 6).
// Without a subscription the driver is left to its audits, which is not worth ending
// the session for.
func (w *watcher) subscribeEvents(
	ctx context.Context,
	s *netconf.Session,
) (*netconf.Session, <-chan netconf.Notification) {
	caps := s.Capabilities()
	if !caps.Has(netconf.Notifications) {
		return s, nil
	}
	on := s
	if !caps.Has(netconf.Interleave) {
		dial, cancel := context.WithTimeout(ctx, w.set.Connect.Duration)
		defer cancel()
		t := w.netconfTarget()
		t.HostKey = s.HostKey()
		other, err := netconf.Dial(dial, t)
		if err != nil {
			w.log.Warn("no second session for notifications", "error", err)
			return s, nil
		}
		on = other
	}
	ctx, cancel := context.WithTimeout(ctx, w.set.RPC.Duration)
	defer cancel()
	if err := on.OK(ctx, netconf.SubscribeOp()); err != nil {
		w.log.Warn("the router refuses a subscription", "error", err)
		if on != s {
			closeSoon(on, w.log)
		}
		return s, nil
	}
	return on, on.Notifications()
}
