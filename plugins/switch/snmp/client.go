// Package snmp speaks SNMP 1, 2c and 3 with many switches at once: sessions from a
// bounded pool, tables read with GETBULK as large as each switch can answer, and
// errors that say what the switch meant. What the objects mean is package mib.
package snmp

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/netip"
	"sync"
	"time"

	"github.com/gosnmp/gosnmp"
)

// Options bound a Client. Zero values mean the defaults named.
type Options struct {
	Timeout   time.Duration // of one try, 1.5 s
	Retries   int           // after the first try, 2; negative: none
	Sockets   int           // open at the same time, 256
	PerSwitch int           // requests under way to one address, 4
	VarBinds  int           // asked for in one GETBULK, 60: some agents fall over beyond 64
	FromAny   bool          // agents may answer from any address, where their Target does not say from which
	// Clock, if it is not nil, gets the time of an engine of version 3 after an answer of it that was authenticated.
	Clock func(agent netip.Addr, engine string, boots, time uint32)
}

// Client talks to any number of agents. It is safe for concurrent use.
type Client struct {
	opt  Options
	pool *pool

	mu      sync.Mutex
	learned map[netip.AddrPort]*learned
}

// NewClient makes a Client; Close ends it.
func NewClient(o Options) *Client {
	o.Timeout, o.Retries = cmp.Or(o.Timeout, 1500*time.Millisecond), max(cmp.Or(o.Retries, 2), 0)
	o.Sockets, o.PerSwitch, o.VarBinds = cmp.Or(o.Sockets, 256), cmp.Or(o.PerSwitch, 4), cmp.Or(o.VarBinds, 60)
	return &Client{
		opt:     o,
		pool:    newPool(o.Sockets),
		learned: map[netip.AddrPort]*learned{},
	}
}

// Close closes all sockets; calls under way fail.
func (c *Client) Close() { c.pool.close() }

// Trim closes idle sockets beyond keep and forgets what was learned of addresses
// that are not in use any more; nil keeps all of it.
func (c *Client) Trim(keep int, inUse map[netip.AddrPort]bool) {
	c.pool.trim(keep)
	if inUse == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.learned, func(a netip.AddrPort, _ *learned) bool {
		return !inUse[a]
	})
}

// Sockets returns how many sockets are open.
func (c *Client) Sockets() int { return c.pool.size() }

func (c *Client) learnedOf(a netip.AddrPort) *learned {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.learned[a]
	if l == nil {
		l = &learned{busy: make(chan struct{}, c.opt.PerSwitch)}
		c.learned[a] = l
	}
	return l
}

// Get fetches instances, at most 60. A value that does not exist is reported by
// Value.Exists, in version 1 too.
func (c *Client) Get(ctx context.Context, t Target, oids ...string) ([]Value, error) {
	return c.getInContexts(ctx, t, oids)
}

// Set assigns all variable bindings or none. The request is repeated when no answer
// comes, so one that was not lost, but its answer was, may be done and then refused.
func (c *Client) Set(ctx context.Context, t Target, bindings ...gosnmp.SnmpPDU) error {
	return c.setInContext(ctx, t, bindings)
}

// WalkFrom reads columns of tables side by side and calls each for every instance, the
// ones of a column in order; index is what follows the column's identifier.
// index and Value.Peek are good until each returns. A *LoopError comes with all
// that was read before. It asks for some rows at first, and for more with each answer,
// as is good for tables that are mostly short; 0: for as many as the switch can.
func (c *Client) WalkFrom(
	ctx context.Context,
	t Target,
	rows int,
	columns []string,
	each func(column int, index []uint32, v Value) error,
) error {
	return c.walkInContexts(ctx, t, nil, rows, columns, each)
}

// WalkAfter is WalkFrom of the instances after an index. It ends early when each fails.
func (c *Client) WalkAfter(
	ctx context.Context,
	t Target,
	after []uint32,
	columns []string,
	each func(column int, index []uint32, v Value) error,
) error {
	return c.walkInContexts(ctx, t, after, 0, columns, each)
}

// useSession runs f on a session. A target without a version is asked in 2c, then in 1.
func (c *Client) useSession(ctx context.Context, t Target, f func(*session) error) error {
	l := c.learnedOf(t.Addr)
	if t.From == "" && c.opt.FromAny {
		t.From = FromAny
	}
	auto := t.Version == ""
	if auto {
		t.Version = l.version()
	}
	err := c.useOnce(ctx, t, l, f)
	var e *Error
	if t.Version == "3" &&
		errors.As(err, &e) &&
		e.Status == 0 &&
		e.Access() &&
		ctx.Err() == nil &&
		l.forgetEngine() {
		c.pool.dropTarget(t) // the agent was replaced or reset, perhaps: nothing was done, so it is asked again
		err = c.useOnce(ctx, t, l, f)
	}
	if !errors.As(err, &e) || !e.Timeout() || ctx.Err() != nil {
		return err
	}
	if auto && t.Version == "" && l.version() == "" {
		one := t
		one.Version = "1"
		if c.useOnce(ctx, one, l, f) == nil {
			return nil
		}
	}
	e.From = c.probeElsewhere(ctx, t, l)
	return err
}

func (c *Client) useOnce(ctx context.Context, t Target, l *learned, f func(*session) error) error {
	select {
	case l.busy <- struct{}{}:
		defer func() { <-l.busy }()
	case <-ctx.Done():
		return &Error{
			Op:    "waiting for requests to the same switch",
			OID:   t.String(),
			Cause: ctx.Err(),
		}
	}
	s, err := c.pool.acquireSession(ctx, t, func() (*session, error) {
		return c.openSession(ctx, t, l)
	})
	if err != nil {
		return err
	}
	err = f(s)
	c.pool.releaseSession(s, !s.broken)
	return err
}
