package throttle_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa/throttle"
)

var (
	here  = netip.MustParseAddr("192.0.2.1")
	there = netip.MustParseAddr("192.0.2.2")
)

type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func fail(l *throttle.Limiter, n int, user string, from netip.Addr) {
	for range n {
		l.Begin(user, from)
	}
}

func TestFailuresOfAUserCostMoreAndMore(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := throttle.New(throttle.Settings{}, c.now)
	var delays []time.Duration
	for range 8 {
		d, r := l.Begin("bob", here)
		if r != 0 {
			t.Fatalf("refused after %d failures", len(delays))
		}
		delays = append(delays, d)
	}
	want := "[0s 0s 0s 250ms 500ms 1s 2s 4s]"
	if got := fmt.Sprint(delays); got != want {
		t.Errorf("delays %s, want %s", got, want)
	}
	if _, r := l.Begin("bob", there); r != 30*time.Second {
		t.Errorf("retry after %v, want 30s", r)
	}
	c.t = c.t.Add(31 * time.Second)
	if _, r := l.Begin("bob", here); r != 0 {
		t.Error("still refused after the time told")
	}
	if _, r := l.Begin("bob", here); r != time.Minute {
		t.Errorf("the second refusal lasts %v, want a minute", r)
	}
	if d, r := l.Begin("alice", there); d != 0 || r != 0 {
		t.Error("another user pays for bob")
	}
}

func TestSuccessForgives(t *testing.T) {
	l := throttle.New(throttle.Settings{}, nil)
	fail(l, 5, "bob", here)
	l.Succeeded("bob", here)
	if d, _ := l.Begin("bob", here); d != 0 {
		t.Errorf("delay %v after a success", d)
	}
}

func TestTimeForgives(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := throttle.New(throttle.Settings{}, c.now)
	fail(l, 7, "bob", here)
	c.t = c.t.Add(16 * time.Minute)
	if d, _ := l.Begin("bob", here); d != 0 {
		t.Errorf("delay %v after a quarter of an hour", d)
	}
}

func TestGuessingElsewhereDoesNotLockOutWhoLoggedInHere(t *testing.T) {
	l := throttle.New(throttle.Settings{}, nil)
	l.Begin("admin", here)
	l.Succeeded("admin", here)
	fail(l, 50, "admin", there)
	if _, r := l.Begin("admin", there); r == 0 {
		t.Error("guessing is not refused")
	}
	if d, r := l.Begin("admin", here); d != 0 || r != 0 {
		t.Errorf("the administrator waits %v, %v", d, r)
	}
}

func TestWhoIsLoggedInIsForgivenAtHisAddressOnly(t *testing.T) {
	l := throttle.New(throttle.Settings{}, nil)
	l.Begin("admin@sdn", here)
	l.Succeeded("admin@sdn", here)
	fail(l, 5, "admin@sdn", here)
	fail(l, 5, "admin@sdn", there)
	l.Seen("admin", "sdn", here)
	if d, r := l.Begin("admin@sdn", here); d != 0 || r != 0 {
		t.Errorf("at his own address he waits %v, %v", d, r)
	}
	if d, _ := l.Begin("admin@sdn", there); d == 0 {
		t.Error("guesses from elsewhere are forgiven too")
	}
}

func TestSettingsDecideWhenToRefuse(t *testing.T) {
	l := throttle.New(throttle.Settings{UserFree: 5, FirstDelay: 250 * time.Millisecond, MaxDelay: 10 * time.Second}, nil)
	for i := range 11 {
		if _, r := l.Begin("bob", here); r != 0 {
			t.Fatalf("refused after %d failures", i)
		}
	}
	if _, r := l.Begin("bob", here); r == 0 {
		t.Error("not refused when the delay would pass its maximum")
	}
}

func TestAddressPaysForManyNames(t *testing.T) {
	l := throttle.New(throttle.Settings{}, nil)
	for i := range 100 {
		l.Begin(fmt.Sprint("u", i), here)
	}
	if _, r := l.Begin("new", here); r == 0 {
		t.Error("an address may guess a hundred names")
	}
	six := netip.MustParseAddr("2001:db8::1")
	for i := range 100 {
		l.Begin(fmt.Sprint("v", i), six)
		six = six.Next()
	}
	if _, r := l.Begin("new", six); r == 0 {
		t.Error("an IPv6 site may guess from each of its addresses")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	l := throttle.New(throttle.Settings{AddressFree: 1 << 30, AddressBlock: 1 << 30}, nil)
	for i := range 60_000 {
		l.Begin(fmt.Sprint(i), here)
	}
	if n := l.Keys(); n > 20_001 {
		t.Errorf("%d keys are kept", n)
	}
}
