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
func (d *Driver) Watch(ctx context.Context, r *bierdriver.Router, emit func(*bierdriver.Event) error) error {
	l, err := d.enter(r)
	if err != nil {
		return err
	}
	defer d.leave(l)
	w := &watcher{link: l, emit: emit}
	if err := w.report(&bierdriver.Session{State: bierdriver.Connecting, Since: timestamppb.Now()}); err != nil {
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
			if err := w.follow(ctx, s); err != nil {
				return err
			}
			if time.Since(since) > l.set.Retry.Most.Duration {
				tries = 0 // a router that ends every session at once is not well
			}
			opened = l.fresh.Wait()
		} else if err := w.report(l.state()); err != nil {
			return err
		}
		if err := pause(ctx, l.wait(tries), opened); err != nil {
			return err
		}
	}
}

// wait is the pause before the next try: doubled each time, with jitter, so that a
// thousand routers after one broken link do not come back in one moment.
func (l *link) wait(tries int) time.Duration {
	if l.state().State == bierdriver.Refused {
		return refusedPause
	}
	d := min(l.set.Retry.First.Duration<<min(tries, 20), l.set.Retry.Most.Duration)
	if d <= 0 {
		d = l.set.Retry.Most.Duration
	}
	return d/2 + rand.N(d/2+1)
}

// pause ends early when somebody else has opened a session.
func pause(ctx context.Context, d time.Duration, opened <-chan struct{}) error {
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

func (w *watcher) report(s *bierdriver.Session) error { return w.emit(&bierdriver.Event{Session: s}) }

func (w *watcher) connect(ctx context.Context) (*netconf.Session, error) {
	if err := w.take(ctx); err != nil {
		return nil, err
	}
	defer w.give()
	err := w.link.connect(ctx)
	return w.session, err
}

// follow reports what happens until the session ends. An error ends the watch.
func (w *watcher) follow(ctx context.Context, s *netconf.Session) error {
	events, heard := w.subscribe(ctx, s)
	if heard != nil {
		w.link.follow(s)
		defer w.link.follow(nil)
	}
	if events != s {
		defer closeSoon(events, w.log)
	}
	if err := w.report(w.state()); err != nil {
		return err
	}
	alive := time.NewTicker(w.keepalive())
	defer alive.Stop()
	audit := time.NewTicker(w.set.Audit.Duration)
	defer audit.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Done():
			return w.report(&bierdriver.Session{State: bierdriver.Down, Reason: fmt.Sprint(s.Err()), Since: timestamppb.Now(), HostKey: s.HostKey()})
		case n, open := <-heard:
			if !open {
				heard = nil // the audit goes on
				w.link.follow(nil)
				continue
			}
			if err := w.hear(ctx, n, s, events); err != nil {
				return err
			}
		case <-alive.C:
			w.ping(ctx, s)
		case <-audit.C:
			if err := w.audit(ctx, "", time.Now()); err != nil {
				return err
			}
		}
	}
}

func (w *watcher) keepalive() time.Duration {
	if n := w.router.KeepaliveSeconds; n > 0 {
		return time.Duration(n) * time.Second
	}
	return w.set.Keepalive.Duration
}

// ping asks for nothing; without an answer in time the session ends itself.
func (w *watcher) ping(ctx context.Context, s *netconf.Session) {
	ctx, cancel := context.WithTimeout(ctx, w.set.RPC.Duration)
	defer cancel()
	if _, err := s.Do(ctx, netconf.GetConfigOp(netconf.Running, netconf.NoFilter()...)); err != nil {
		w.log.Debug("sign of life", "error", err)
	}
}

// subscribe opens a subscription and returns the session it is on: one of its own,
// unless the router takes requests beside a subscription (RFC 5277 section 6).
// Without a subscription the driver is left to its audits, which is not worth ending
// the session for.
func (w *watcher) subscribe(ctx context.Context, s *netconf.Session) (*netconf.Session, <-chan netconf.Notification) {
	caps := s.Capabilities()
	if !caps.Has(netconf.Notifications) {
		return s, nil
	}
	on := s
	if !caps.Has(netconf.Interleave) {
		dial, cancel := context.WithTimeout(ctx, w.set.Connect.Duration)
		defer cancel()
		t := w.target()
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
