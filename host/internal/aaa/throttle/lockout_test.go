package throttle

import (
	"net/netip"
	"slices"
	"testing"
	"time"
)

// An account is reported when it is first delayed and when it is first blocked, is listed, and can be unblocked.
func TestLockoutsAreToldListedAndEnded(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := New(Settings{UserFree: 2, UserBlock: 4}, func() time.Time { return now })
	var reported []string
	l.OnLockout(func(o Lockout) { reported = append(reported, o.Kind()+" "+o.User+" "+o.State) })
	from := netip.MustParseAddr("192.0.2.1")
	for range 4 {
		turn, err := l.Begin(t.Context(), "ann@sdn", from)
		if err != nil {
			t.Fatal(err)
		}
		turn.Failed()
	}
	if want := []string{"account ann@sdn delayed", "account ann@sdn blocked"}; !slices.Equal(reported, want) {
		t.Errorf("reported %q", reported)
	}
	if list := l.Lockouts(); len(list) != 1 || list[0].User != "ann@sdn" || list[0].State != Blocked || list[0].Failures != 4 || !list[0].Until.After(now) {
		t.Errorf("%+v", list)
	}
	if _, err := l.Begin(t.Context(), "ann@sdn", from); err == nil {
		t.Error("a blocked account may try")
	}
	if l.Unblock("bob@sdn", netip.Addr{}) || !l.Unblock("ann@sdn", netip.Addr{}) || len(l.Lockouts()) != 0 {
		t.Error("the account is not unblocked")
	}
	turn, err := l.Begin(t.Context(), "ann@sdn", from)
	if err != nil || turn.Delay != 0 {
		t.Errorf("after it was unblocked: %v, delay %v", err, turn.Delay)
	}
	turn.Cancelled()
	if !l.Unblock("", from) || l.Unblock("", from) {
		t.Error("the failures of the address are not forgotten once")
	}
}
