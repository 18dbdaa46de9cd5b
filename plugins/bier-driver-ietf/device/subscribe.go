package device

import (
	"context"
	"time"

	"ctl.internal/internal/netconf"
)

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
	if err := on.OK(ctx, netconf.SubscribeOp("")); err != nil {
		w.log.Warn("the router refuses a subscription", "error", err)
		if on != s {
			closeSoon(on)
		}
		return s, nil
	}
	return on, on.Notifications()
}

// closeSoon closes a session that nobody waits for.
func closeSoon(s *netconf.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.Close(ctx) // it is over either way
}
