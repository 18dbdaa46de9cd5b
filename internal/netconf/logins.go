package netconf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Logins bounds how many devices are logged in to at the same time, and gives those that are slow more
// time with each try. Logging in costs a device and its machine much; many at once may all come too late.
type Logins struct {
	slots *semaphore.Weighted

	mu   sync.Mutex
	late map[string]int // tries in a row that ended by their deadline, by address
}

// maxLate bounds the growth of the deadline: 2^3 times the first.
const maxLate = 3

// NewLogins returns a bound of so many at a time.
func NewLogins(atOnce int) *Logins {
	return &Logins{
		slots: semaphore.NewWeighted(int64(atOnce)),
		late:  map[string]int{},
	}
}

// Do reaches a device within a time, waits for its turn, and calls open with the connection in t.Conn and
// a context that ends after that time, or more of it if the device was late before. It does not wait for
// devices that are not reached.
func (l *Logins) Do(
	ctx context.Context,
	t Target,
	within time.Duration,
	open func(ctx context.Context, t Target) error,
) error {
	reach, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	address := net.JoinHostPort(t.Host, strconv.Itoa(cmp.Or(t.Port, Port)))
	conn, err := (&net.Dialer{}).DialContext(reach, "tcp", address)
	if err != nil {
		return fmt.Errorf("the device is not reached: %w", err)
	}
	if err := l.slots.Acquire(ctx, 1); err != nil {
		conn.Close()
		return fmt.Errorf(
			"many devices are logged in to at the same time, and this one's turn did not come: %w",
			err,
		)
	}
	defer l.slots.Release(1)
	l.mu.Lock()
	late := l.late[address]
	l.mu.Unlock()
	login, cancel := context.WithTimeout(ctx, within<<min(late, maxLate))
	defer cancel()
	t.Conn = conn
	if err = open(login, t); err != nil {
		conn.Close() // it may not have been used
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && errors.Is(login.Err(), context.DeadlineExceeded) {
		l.late[address]++
	} else {
		delete(l.late, address)
	}
	return err
}
