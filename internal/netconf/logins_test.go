package netconf

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// listener accepts connections and says nothing.
func listener(t *testing.T) Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return Target{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port}
}

// Twenty devices are logged in to three at a time, and one that is not reached keeps nobody waiting.
func TestLoginsAreBounded(t *testing.T) {
	l, to := NewLogins(3), listener(t)
	var mu sync.Mutex
	var now, most, done int
	var all sync.WaitGroup
	full := make(chan struct{})
	for range 20 {
		all.Go(func() {
			err := l.Do(t.Context(), to, time.Minute, func(_ context.Context, t Target) error {
				mu.Lock()
				now++
				most = max(most, now)
				if now == 3 && done == 0 {
					close(full)
				}
				mu.Unlock()
				<-full
				mu.Lock()
				defer mu.Unlock()
				now--
				done++
				return t.Conn.Close()
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-full
	gone := listener(t)
	gone.Host = "127.0.0.2" // where nobody listens
	if err := l.Do(t.Context(), gone, time.Minute, nil); err == nil || !strings.Contains(err.Error(), "not reached") {
		t.Error(err)
	}
	all.Wait()
	if most != 3 || done != 20 {
		t.Errorf("%d at a time, %d of 20", most, done)
	}
}

// A device that is late gets more time with each try, up to eight times the first, and is forgiven when it
// comes in time.
func TestLateDevicesGetMoreTime(t *testing.T) {
	l, to := NewLogins(1), listener(t)
	for late, hours := range []int{1, 2, 4, 8, 8} {
		err := l.Do(t.Context(), to, time.Hour, func(ctx context.Context, t Target) error {
			if end, _ := ctx.Deadline(); time.Until(end).Round(time.Hour) != time.Duration(hours)*time.Hour {
				return fmt.Errorf("after being late %d times it gets %v", late, time.Until(end))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for range late + 1 { // the success before is forgiveness
			_ = l.Do(t.Context(), to, time.Millisecond, func(ctx context.Context, _ Target) error {
				<-ctx.Done()
				return ctx.Err()
			})
		}
	}
}
