package ldap

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ctl.internal/sdk/realm/trust"
)

// pool lends connections, each to one login at a time.
type pool struct {
	s     Settings
	trust *trust.Source
	ready func(*conn) error // makes a fresh connection usable; may be nil; one it fails on is closed
	slots chan struct{}

	mu      sync.Mutex
	idle    []*conn
	current int // the server to ask first
	closed  bool
}

func newPool(s Settings, t *trust.Source, ready func(*conn) error) *pool {
	return &pool{
		s:     s,
		trust: t,
		ready: ready,
		slots: make(chan struct{}, s.Connections),
	}
}

// useConnection calls f with a connection. When the connection turns out to be broken, f is
// called again with a fresh one, to each server once; so f must be repeatable.
func (p *pool) useConnection(ctx context.Context, f func(context.Context, *conn) error) error {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return fmt.Errorf("all %d connections are busy: %w", cap(p.slots), ctx.Err())
	}
	if c := p.takeConnection(); c != nil {
		err := p.runAndKeep(ctx, c, len(p.s.Servers)+1, f)
		if err == nil || !mayTryElsewhere(err) || ctx.Err() != nil || isAnswer(err) {
			return err
		}
	}
	var all error
	first := p.firstServer()
	for i := range p.s.Servers {
		index := (first + i) % len(p.s.Servers)
		err := p.useFreshConnection(ctx, index, len(p.s.Servers)-i, f)
		if err == nil || isAnswer(err) || !mayTryElsewhere(err) {
			return err
		}
		p.markServerFailed(index)
		if all = errors.Join(all, err); ctx.Err() != nil {
			break
		}
	}
	return all
}

// isAnswer distinguishes errors that a server answered from those of the way to it.
func isAnswer(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) || errors.Is(err, ErrSizeLimit)
}

// useFreshConnection connects to a server, within its share of the time left, and calls f.
func (p *pool) useFreshConnection(
	ctx context.Context,
	index, shares int,
	f func(context.Context, *conn) error,
) error {
	limit, cancel := context.WithTimeout(ctx, remainingTime(ctx)/time.Duration(shares))
	defer cancel()
	c, err := p.dialServer(limit, index)
	if err != nil {
		return err
	}
	if err := p.prepareConnection(limit, c); err != nil {
		_ = c.Close()
		return err
	}
	return p.runAndKeep(limit, c, 1, f)
}

// prepareConnection makes a fresh connection usable. After an error the connection must not be used: a search
// on it would be anonymous.
func (p *pool) prepareConnection(ctx context.Context, c *conn) error {
	if p.ready == nil {
		return nil
	}
	stop := context.AfterFunc(ctx, c.cut)
	err := p.ready(c)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%s does not answer in time: %w", p.s.Servers[c.server].URL, err)
	}
	return err
}

// runAndKeep calls f within a share of the time and keeps the connection if it is good.
func (p *pool) runAndKeep(
	ctx context.Context,
	c *conn,
	shares int,
	f func(context.Context, *conn) error,
) error {
	limit, cancel := context.WithTimeout(ctx, remainingTime(ctx)/time.Duration(shares))
	defer cancel()
	stop := context.AfterFunc(limit, c.cut)
	err := f(limit, c)
	_, answered := resultCode(err)
	if !stop() || c.IsClosing() || err != nil && !answered && !isAnswer(err) {
		_ = c.Close()
	} else {
		p.putConnection(c)
	}
	if err != nil && limit.Err() != nil && !isAnswer(err) {
		err = fmt.Errorf("%s does not answer in time: %w", p.s.Servers[c.server].URL, err)
	}
	return err
}

func (p *pool) takeConnection() *conn {
	var stale []*conn
	defer func() {
		for _, c := range stale {
			_ = c.Close()
		}
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 {
		c := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if !c.IsClosing() && time.Since(c.since) < p.s.Idle {
			return c
		}
		stale = append(stale, c)
	}
	return nil
}

func (p *pool) putConnection(c *conn) {
	c.since = time.Now()
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if closed {
		_ = c.Close()
	}
}

func (p *pool) firstServer() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

// markServerFailed makes later logins begin with the next server.
func (p *pool) markServerFailed(index int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == index {
		p.current = (index + 1) % len(p.s.Servers)
	}
}

func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, c := range idle {
		_ = c.Close()
	}
}
