package netconf_test

import (
	"testing"
	"time"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf"
)

func TestNotificationsComeApart(t *testing.T) {
	r := start(t, simrouter.Options{})
	s := dial(t, r)
	ctx := within(t, time.Minute)
	if err := s.OK(ctx, netconf.SubscribeOp()); err != nil {
		t.Fatal(err)
	}
	r.Notify(simrouter.BFRIDCollision(9))
	if err := s.OK(ctx, netconf.DiscardOp()); err != nil {
		t.Fatalf("a reply after a notification: %v", err)
	}
	if n := <-s.Notifications(); n.Body.Value("bfr-id") != "9" || n.At.IsZero() || n.Lost != 0 {
		t.Errorf("%+v", n)
	}
	// Nobody reads: the session goes on, and what was lost is counted.
	for range 1500 {
		r.Notify(simrouter.SubDomainIDCollision(1, 2))
	}
	if err := s.OK(ctx, netconf.DiscardOp()); err != nil {
		t.Fatal(err)
	}
	for range 1024 {
		<-s.Notifications()
	}
	r.Notify(simrouter.BFRZero("192.0.2.1/32", ""))
	if n := <-s.Notifications(); n.Lost != 1500-1024 || n.Body.Name != "bfr-zero" {
		t.Errorf("lost %d before %s", n.Lost, n.Body)
	}
	r.Drop()
	if _, open := <-s.Notifications(); open {
		t.Error("the channel stays open after the session")
	}
	<-s.Done()
	if s.Err() == nil {
		t.Error("an end without a reason")
	}
}
