package etcd

import (
	"context"
	"errors"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/fault"
)

// members are the clients of the cluster's members, one each: only so is it certain that
// the next try goes to another one. gRPC notices a frozen member after 13 s at the soonest.
type members struct {
	o       Options
	mu      sync.Mutex
	clients []*clientv3.Client // nil until it is needed
	at      int
	closed  bool
}

// maxMessage is what client and cluster may exchange at once, in bytes.
const maxMessage = 64 << 20

// current returns the member that is asked, and its number.
func (m *members) current() (*clientv3.Client, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, m.at, datastore.ErrClosed
	}
	if m.clients[m.at] == nil {
		c, err := clientv3.New(clientv3.Config{
			Endpoints: m.o.Endpoints[m.at : m.at+1], Username: m.o.Username, Password: m.o.Password, TLS: m.o.TLS,
			DialTimeout: m.o.try(), DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 3 * time.Second,
			MaxCallSendMsgSize: maxMessage, MaxCallRecvMsgSize: maxMessage, MaxUnaryRetries: 2,
			Logger: zap.NewNop(), // what matters comes back as an error
		})
		if err != nil {
			return nil, m.at, err
		}
		m.clients[m.at] = c
	}
	return m.clients[m.at], m.at, nil
}

// next goes on to another member, unless somebody else did.
func (m *members) next(from int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at == from {
		m.at = (m.at + 1) % len(m.clients)
	}
}

func (m *members) close() (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, c := range m.clients {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// once asks the current member, and goes on to the next when that does not answer.
func (s *Store) once(ctx context.Context, f func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.try())
	defer cancel()
	c, at, err := s.members.current()
	if err == nil {
		err = f(ctx, c)
	}
	if err != nil && s.refused(err) == nil && !errors.Is(err, context.Canceled) {
		s.members.next(at)
		s.reopen() // if the watch is with that one
	}
	return err
}

// call asks one member after the other until one answers. f may be run several times.
func (s *Store) call(ctx context.Context, f func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.whole())
	defer cancel()
	var err error
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		if last := s.once(ctx, f); last == nil {
			return nil
		} else if err == nil || ctx.Err() == nil { // the last try may have had no time
			err = last
		}
		if known := s.refused(err); known != nil {
			return known
		}
		if together.Sleep(ctx, pause) == nil {
			continue
		}
		if closed := s.Err(); closed != nil {
			return closed
		}
		return fault.Wrap(fault.Unavailable, err, "the etcd cluster %v does not answer: %v", s.o.Endpoints, err)
	}
}
