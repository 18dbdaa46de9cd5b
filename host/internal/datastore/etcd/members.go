package etcd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"ctl.internal/internal/together"
	"ctl.internal/sdk/fault"
)

// members are the endpoints of the cluster.
type members struct {
	all       []*member
	preferred atomic.Pointer[member] // that answered last: it is asked first, and has the watch
}

// member is one endpoint with a client of its own: only so is it certain which member a
// call asks. gRPC notices a frozen one after 13 s at the soonest.
type member struct {
	endpoint string
	answered atomic.Int64 // when it did last, in Unix nanoseconds; 0 = never

	mu      sync.Mutex
	client  *clientv3.Client
	opening *opening // nil: nobody makes the client
}

// opening is the making of a client. It asks the member when there is a password.
type opening struct {
	done chan struct{}
	err  error
}

// maxMessage is what client and cluster may exchange at once, in bytes.
const maxMessage = 64 << 20

// maxReconnect is how long a member that came back may go unnoticed.
const maxReconnect = time.Second

func newMembers(endpoints []string) *members {
	m := &members{}
	for _, e := range endpoints {
		m.all = append(m.all, &member{endpoint: e})
	}
	if len(m.all) > 0 {
		m.preferred.Store(m.all[0])
	}
	return m
}

// askingOrder is in which the members are asked: the preferred one, then who answered last.
func (m *members) askingOrder() []*member {
	first := m.preferred.Load()
	all := slices.Clone(m.all)
	slices.SortStableFunc(all, func(a, b *member) int {
		switch {
		case a == first:
			return -1
		case b == first:
			return 1
		}
		return cmp.Compare(b.answered.Load(), a.answered.Load())
	})
	return all
}

// close ends the connections. Nobody asks any more.
func (m *members) close() (err error) {
	for _, one := range m.all {
		one.mu.Lock()
		if one.client != nil {
			err = errors.Join(err, one.client.Close())
		}
		one.mu.Unlock()
	}
	return err
}

// connectMember returns the client of a member.
func (s *Store) connectMember(ctx context.Context, m *member) (*clientv3.Client, error) {
	m.mu.Lock()
	if m.client != nil {
		defer m.mu.Unlock()
		return m.client, nil
	}
	o := m.opening
	if o == nil {
		o = &opening{done: make(chan struct{})}
		m.opening = o
		s.owned.Go(func() {
			c, err := s.newClient(m.endpoint)
			m.mu.Lock()
			m.client, m.opening, o.err = c, nil, err
			m.mu.Unlock()
			close(o.done)
		})
	}
	m.mu.Unlock()
	select {
	case <-o.done:
		if o.err != nil {
			return nil, o.err
		}
		return s.connectMember(ctx, m)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *Store) newClient(endpoint string) (*clientv3.Client, error) {
	reconnect := backoff.Config{
		BaseDelay:  50 * time.Millisecond,
		Multiplier: 2,
		Jitter:     0.2,
		MaxDelay:   min(maxReconnect, s.o.tryTimeout()),
	}
	return clientv3.New(clientv3.Config{
		Context:              s.ctx,
		Endpoints:            []string{endpoint},
		Username:             s.o.Username,
		Password:             s.o.Password,
		TLS:                  s.o.TLS,
		DialTimeout:          s.o.tryTimeout(),
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           reconnect,
			MinConnectTimeout: s.o.tryTimeout(),
		})},
		MaxCallSendMsgSize: maxMessage,
		MaxCallRecvMsgSize: maxMessage,
		MaxUnaryRetries:    1,
		Logger:             zap.NewNop(), // what matters comes back as an error
	})
}

// preferMember makes a member the first that is asked, instead of one that did not answer, and
// opens the watch there.
func (s *Store) preferMember(m, instead *member) {
	if m != instead && s.members.preferred.CompareAndSwap(instead, m) {
		s.reopenWatch()
	}
}

// preferOther prefers another member to one that did not answer.
func (s *Store) preferOther(m *member) {
	for _, other := range s.members.askingOrder() {
		if other != m {
			s.preferMember(other, m)
			return
		}
	}
}

// askOnce asks one member, once.
func askOnce[T any](
	ctx context.Context,
	s *Store,
	m *member,
	f func(context.Context, *clientv3.Client) (T, error),
) (value T, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.tryTimeout())
	defer cancel()
	c, err := s.connectMember(ctx, m)
	if err != nil {
		return value, err
	}
	if value, err = f(ctx, c); err == nil || s.refusedError(err) != nil {
		m.answered.Store(time.Now().UnixNano())
	}
	return value, err
}

// askMembers asks until a member answers. One that is silent for a moment, or fails, is asked on
// while the next one is asked, too: f may run several times, also at the same time.
func askMembers[T any](
	ctx context.Context,
	s *Store,
	f func(context.Context, *clientv3.Client) (T, error),
) (none T, err error) {
	type answer struct {
		value T
		err   error
		from  *member
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.wholeTimeout())
	order := s.members.askingOrder()
	answers, failures := make(chan answer, len(order)), make(chan error, 1)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	untilAnswer := func(m *member) {
		for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
			value, err := askOnce(ctx, s, m, f)
			if err == nil || s.refusedError(err) != nil {
				answers <- answer{value, err, m}
				return
			}
			select {
			case failures <- err:
			default: // another failure is being looked at
			}
			if together.Sleep(ctx, pause) != nil {
				return
			}
		}
	}
	also := time.NewTimer(0)
	defer also.Stop()
	var failed error
	for next := 0; ; {
		select {
		case <-also.C:
			m := order[next]
			asking.Go(func() { untilAnswer(m) })
			if next++; next < len(order) {
				also.Reset(s.o.hedgeDelay())
			}
		case failure := <-failures:
			if ctx.Err() == nil { // one that was cut off says nothing
				failed = failure
			}
			if next < len(order) {
				also.Reset(0)
			}
		case a := <-answers:
			s.preferMember(a.from, order[0])
			if a.err != nil {
				a.err = s.refusedError(a.err)
			}
			return a.value, a.err
		case <-ctx.Done():
			if closed := s.Err(); closed != nil {
				return none, closed
			}
			if failed == nil {
				failed = ctx.Err()
			}
			return none, fault.Wrap(
				fault.Unavailable,
				failed,
				"the etcd cluster %v does not answer: %v",
				s.o.Endpoints,
				failed,
			)
		}
	}
}
