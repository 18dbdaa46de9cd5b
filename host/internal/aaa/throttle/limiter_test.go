package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
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

// begin starts an attempt that need not wait for others, and returns how long it is
// delayed or refused.
func begin(t *testing.T, l *throttle.Limiter, user string, from netip.Addr) (turn *throttle.Turn, delay, refused time.Duration) {
	t.Helper()
	turn, err := l.Begin(t.Context(), user, from)
	if blocked := new(throttle.BlockedError); errors.As(err, &blocked) {
		return nil, 0, blocked.Wait
	}
	if err != nil {
		t.Fatal(err)
	}
	return turn, turn.Delay, 0
}

// try makes an attempt that fails.
func try(t *testing.T, l *throttle.Limiter, user string, from netip.Addr) (delay, refused time.Duration) {
	t.Helper()
	turn, delay, refused := begin(t, l, user, from)
	if turn != nil {
		turn.Failed()
	}
	return delay, refused
}

func fail(t *testing.T, l *throttle.Limiter, n int, user string, from netip.Addr) {
	t.Helper()
	for range n {
		try(t, l, user, from)
	}
}

func succeed(t *testing.T, l *throttle.Limiter, user string, from netip.Addr) {
	t.Helper()
	turn, _, _ := begin(t, l, user, from)
	if turn == nil {
		t.Fatal("refused")
	}
	turn.Succeeded()
}

func TestFailuresOfAUserCostMoreAndMore(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := throttle.New(throttle.Settings{}, c.now)
	var delays []time.Duration
	for range 8 {
		d, r := try(t, l, "bob", here)
		if r != 0 {
			t.Fatalf("refused after %d failures", len(delays))
		}
		delays = append(delays, d)
	}
	want := "[0s 0s 0s 250ms 500ms 1s 2s 4s]"
	if got := fmt.Sprint(delays); got != want {
		t.Errorf("delays %s, want %s", got, want)
	}
	if _, r := try(t, l, "bob", there); r != 30*time.Second {
		t.Errorf("retry after %v, want 30s", r)
	}
	c.t = c.t.Add(31 * time.Second)
	if _, r := try(t, l, "bob", here); r != 0 {
		t.Error("still refused after the announced time")
	}
	if _, r := try(t, l, "bob", here); r != time.Minute {
		t.Errorf("the second refusal lasts %v, want a minute", r)
	}
	if d, r := try(t, l, "alice", there); d != 0 || r != 0 {
		t.Error("another user pays for bob")
	}
}

func TestSuccessForgives(t *testing.T) {
	l := throttle.New(throttle.Settings{}, nil)
	fail(t, l, 5, "bob", here)
	succeed(t, l, "bob", here)
	if d, _ := try(t, l, "bob", here); d != 0 {
		t.Errorf("delay %v after a success", d)
	}
}

func TestTimeForgives(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := throttle.New(throttle.Settings{}, c.now)
	fail(t, l, 7, "bob", here)
	c.t = c.t.Add(16 * time.Minute)
	if d, _ := try(t, l, "bob", here); d != 0 {
		t.Errorf("delay %v after a quarter of an hour", d)
	}
}

func TestGuessingElsewhereDoesNotLockOutWhoLoggedInHere(t *testing.T) {
	l := throttle.New(throttle.Settings{}, nil)
	succeed(t, l, "admin", here)
	fail(t, l, 50, "admin", there)
	if _, r := try(t, l, "admin", there); r == 0 {
		t.Error("guessing is not refused")
	}
	if d, r := try(t, l, "admin", here); d != 0 || r != 0 {
		t.Errorf("the administrator waits %v, %v", d, r)
	}
}

func TestWhoIsLoggedInIsForgivenAtHisAddressOnly(t *testing.T) {
	l := throttle.New(throttle.Settings{}, nil)
	succeed(t, l, "admin@sdn", here)
	fail(t, l, 5, "admin@sdn", here)
	fail(t, l, 5, "admin@sdn", there)
	l.Seen("admin@sdn", here)
	if d, r := try(t, l, "admin@sdn", here); d != 0 || r != 0 {
		t.Errorf("at his own address he waits %v, %v", d, r)
	}
	if d, _ := try(t, l, "admin@sdn", there); d == 0 {
		t.Error("guesses from elsewhere are forgiven too")
	}
}

func TestSettingsDecideWhenToRefuse(t *testing.T) {
	l := throttle.New(throttle.Settings{UserFree: 5, FirstDelay: 250 * time.Millisecond, MaxDelay: 10 * time.Second}, nil)
	for i := range 11 {
		if _, r := try(t, l, "bob", here); r != 0 {
			t.Fatalf("refused after %d failures", i)
		}
	}
	if _, r := try(t, l, "bob", here); r == 0 {
		t.Error("not refused when the delay would pass its maximum")
	}
}

func TestAddressPaysForManyNames(t *testing.T) {
	l := throttle.New(throttle.Settings{}, nil)
	for i := range 100 {
		try(t, l, fmt.Sprint("u", i), here)
	}
	if _, r := try(t, l, "new", here); r == 0 {
		t.Error("an address may guess a hundred names")
	}
	six := netip.MustParseAddr("2001:db8::1")
	for i := range 100 {
		try(t, l, fmt.Sprint("v", i), six)
		six = six.Next()
	}
	if _, r := try(t, l, "new", six); r == 0 {
		t.Error("an IPv6 site may guess from each of its addresses")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	l := throttle.New(throttle.Settings{AddressFree: 1 << 30, AddressBlock: 1 << 30}, nil)
	for i := range 60_000 {
		try(t, l, fmt.Sprint(i), here)
	}
	if n := l.Keys(); n > 20_001 {
		t.Errorf("%d keys are kept", n)
	}
}

// together starts n attempts at once, of different users when the name has a %d. Each
// waits for its turn; after the signal, all have begun or wait.
type together struct {
	turns  chan *throttle.Turn
	errors chan error
}

func attempts(t *testing.T, l *throttle.Limiter, n int, name string) *together {
	t.Helper()
	c := &together{make(chan *throttle.Turn, n), make(chan error, n)}
	for i := range n {
		user := name
		if strings.Contains(name, "%d") {
			user = fmt.Sprintf(name, i)
		}
		go func() {
			turn, err := l.Begin(t.Context(), user, here)
			if err != nil {
				c.errors <- err
				return
			}
			c.turns <- turn
		}()
	}
	l.AwaitEntered(n)
	return c
}

func TestRightPasswordsThatComeAtOnceWaitForEachOther(t *testing.T) {
	for name, users := range map[string]string{"of one user": "bob", "of many at one address": "u%d"} {
		t.Run(name, func(t *testing.T) {
			l := throttle.New(throttle.Settings{}, nil)
			c := attempts(t, l, 200, users)
			for range 200 {
				turn := <-c.turns
				if turn.Delay != 0 {
					t.Errorf("delayed by %v", turn.Delay)
				}
				turn.Succeeded()
			}
			if len(c.errors) > 0 {
				t.Errorf("refused: %v", <-c.errors)
			}
			if n := l.Keys(); n != 0 {
				t.Errorf("%d counters are left of logins that all succeeded", n)
			}
		})
	}
}

func TestGuessesThatComeAtOnceGainNothing(t *testing.T) {
	l := throttle.New(throttle.Settings{UserFree: 3, UserBlock: 8}, func() time.Time { return time.Unix(1e9, 0) })
	c := attempts(t, l, 100, "bob")
	var delays []time.Duration
	for range 8 {
		turn := <-c.turns
		delays = append(delays, turn.Delay)
		turn.Failed()
	}
	if got := fmt.Sprint(delays); got != "[0s 0s 0s 250ms 500ms 1s 2s 4s]" {
		t.Errorf("delays %s: not those of one after the other", got)
	}
	for range 92 {
		var blocked *throttle.BlockedError
		if err := <-c.errors; !errors.As(err, &blocked) || blocked.Wait != 30*time.Second {
			t.Fatalf("%v", err)
		}
	}
}

// Once an address has failed too often, those who wait there are delayed one after the
// other: only as many go on waiting as will have a turn soon.
func TestNobodyWaitsBehindTheDelaysOfACrowd(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := throttle.New(throttle.Settings{}, c.now)
	const free, crowd = 30, 200
	var under []*throttle.Turn
	for i := range free {
		turn, _, _ := begin(t, l, fmt.Sprint("wrong", i), here)
		under = append(under, turn)
	}
	type outcome struct {
		delay time.Duration
		err   error
	}
	outcomes := make(chan outcome)
	for i := range crowd {
		go func() {
			turn, err := l.Begin(t.Context(), fmt.Sprint("right", i), here)
			if err != nil {
				outcomes <- outcome{0, err}
				return
			}
			outcomes <- outcome{turn.Delay, nil}
			turn.Cancelled()
		}()
	}
	l.AwaitEntered(free + crowd)
	for _, turn := range under {
		turn.Failed()
	}
	fail(t, l, 1, "wrong", there) // others are not concerned
	served := 0
	for range crowd {
		got := <-outcomes
		slow := new(throttle.BlockedError)
		switch {
		case got.err == nil && got.delay == 250*time.Millisecond:
			served++
		case !errors.As(got.err, &slow) || slow.Wait != 30*time.Second:
			t.Fatalf("delay %v, %v", got.delay, got.err)
		}
	}
	if served != 120 { // 30 s
		t.Errorf("%d go on waiting, want 120", served)
	}
}

func TestWhoGivesUpWaitingTakesNobodysPlace(t *testing.T) {
	l := throttle.New(throttle.Settings{UserFree: 1}, nil)
	first, _, _ := begin(t, l, "bob", here)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := l.Begin(ctx, "bob", here)
		gone <- err
	}()
	l.AwaitEntered(2)
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	first.Succeeded()
	first.Failed() // only the first end counts
	if turn, delay, refused := begin(t, l, "bob", here); turn == nil || delay != 0 {
		t.Errorf("delayed by %v, refused for %v", delay, refused)
	}
}

func TestAnAttemptThatCouldNotBeVerifiedDoesNotCount(t *testing.T) {
	l := throttle.New(throttle.Settings{}, nil)
	for range 500 {
		turn, delay, refused := begin(t, l, "bob", here)
		if turn == nil || delay != 0 {
			t.Fatalf("delayed by %v, refused for %v", delay, refused)
		}
		turn.Cancelled()
	}
}
