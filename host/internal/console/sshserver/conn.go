package sshserver

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/sdk/caller"
)

// maxChannels bounds the sessions of one connection.
const maxChannels = 8

// stopGrace bounds how long the sessions of a connection may take to end when the
// controller stops.
const stopGrace = 3 * time.Second

// recheckEvery is how often the rights of a connected user are looked at while a
// command runs; they are looked at before each command besides.
const recheckEvery = 5 * time.Second

// conn is one client that got in.
type conn struct {
	srv   *Server
	ssh   *ssh.ServerConn
	local bool
	// now looks the user up as of now; not of the local console.
	now func(context.Context) (caller.Caller, error)
	// limited: of a user without the role, who has the shell Own until the connection ends.
	limited bool

	mu     sync.Mutex
	caller caller.Caller
	busy   int       // commands running
	last   time.Time // of input, or of a command's end
}

// serveConn serves a connection until ctx ends; loggedIn, called when its user is known,
// says whether it may stay.
func (s *Server) serveConn(ctx context.Context, raw net.Conn, local bool, loggedIn func() bool) {
	defer raw.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cfg := s.local
	if !local {
		cfg = s.remoteConfig(ctx, loggedIn)
	} else if err := checkPeer(raw); err != nil {
		s.cfg.Log.Warn("the console's socket refuses a peer", "reason", err)
		return
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	raw.SetDeadline(time.Now().Add(s.cfg.LoginTime))
	sc, channels, requests, err := ssh.NewServerConn(raw, cfg)
	if err != nil {
		s.cfg.Log.Debug("ssh handshake failed", "address", raw.RemoteAddr().String(), "error", err)
		return
	}
	if !stop() || !loggedIn() {
		return // the controller is stopping, or another has the place; raw is closed
	}
	raw.SetDeadline(time.Time{})
	c := &conn{
		srv:    s,
		ssh:    sc,
		local:  local,
		last:   time.Now(),
		caller: localCaller(),
	}
	if !local {
		c.caller, _ = sc.Permissions.ExtraData[callerKey{}].(caller.Caller)
		c.now, _ = sc.Permissions.ExtraData[nowKey{}].(func(context.Context) (caller.Caller, error))
		c.caller.Address = raw.RemoteAddr().String()
		c.limited = !c.caller.HasRole(adminRole)
	}
	var wg sync.WaitGroup
	wg.Go(func() { ssh.DiscardRequests(requests) })
	wg.Go(func() { c.watchIdle(ctx) })
	slots := make(chan struct{}, maxChannels)
	wg.Go(func() { // a stopping controller lets its sessions send their exit status
		<-ctx.Done()
		raw.SetDeadline(time.Now().Add(stopGrace))
		for range maxChannels {
			slots <- struct{}{}
		}
		sc.Close()
	})
	for nc := range channels {
		if nc.ChannelType() != "session" {
			nc.Reject(ssh.UnknownChannelType, "the console has sessions only")
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			nc.Reject(ssh.ResourceShortage, "too many sessions on this connection")
			continue
		}
		ch, reqs, err := nc.Accept()
		if err != nil {
			<-slots
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			c.serveSession(ctx, ch, reqs)
		})
	}
	cancel()
	wg.Wait()
}

// watchIdle ends the connection when it is idle too long, or its user lost the right.
func (c *conn) watchIdle(ctx context.Context) {
	every, limit := recheckEvery, c.srv.cfg.Idle
	if limit > 0 {
		every = min(every, max(limit/4, time.Millisecond))
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		idle := limit > 0 && c.busy == 0 && time.Since(c.last) > limit
		c.mu.Unlock()
		_, err := c.currentCaller(ctx)
		if idle || err != nil {
			c.srv.cfg.Log.Info(
				"the console ends a connection",
				"user",
				c.ssh.User(),
				"idle",
				idle,
				"reason",
				err,
			)
			c.ssh.Close()
			return
		}
	}
}

// currentCaller is the caller as of now; an error when he may not use the console any more.
func (c *conn) currentCaller(ctx context.Context) (caller.Caller, error) {
	c.mu.Lock()
	who := c.caller
	c.mu.Unlock()
	if c.local {
		return who, nil
	}
	ctx, cancel := context.WithTimeout(ctx, recheckEvery)
	defer cancel()
	now, err := c.now(ctx)
	if err == nil {
		_, err = c.srv.permitCaller(now)
	}
	if err == nil && !c.limited && !now.HasRole(adminRole) {
		err = errRefused
	}
	if err != nil {
		return caller.Caller{}, err
	}
	now.Address = who.Address
	c.mu.Lock()
	c.caller = now
	c.mu.Unlock()
	return now, nil
}

// noteActivity notes that the user is there.
func (c *conn) noteActivity() {
	c.mu.Lock()
	c.last = time.Now()
	c.mu.Unlock()
}

// beginCommand notes that a command runs; the function it returns that it ended.
func (c *conn) beginCommand() func() {
	c.mu.Lock()
	c.busy++
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		c.busy--
		c.last = time.Now()
		c.mu.Unlock()
	}
}

// connLimiter bounds the connections of a listener. When there are too many, the one that has
// been trying to log in for longest is ended for the one that comes: who connects and
// sends nothing cannot lock out others. Logged-in sessions stay.
type connLimiter struct {
	max int

	mu    sync.Mutex
	conns []*limitedConn // oldest first
}

// limitedConn is one connection.
type limitedConn struct {
	end     func() // ends it
	pending bool   // not logged in yet
}

// enterConn gives a connection a place; nil when all are held by users logged in.
func (l *connLimiter) enterConn(end func()) *limitedConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) >= l.max {
		i := slices.IndexFunc(l.conns, func(c *limitedConn) bool { return c.pending })
		if i < 0 {
			return nil
		}
		l.conns[i].end()
		l.conns = slices.Delete(l.conns, i, i+1)
	}
	c := &limitedConn{end, true}
	l.conns = append(l.conns, c)
	return c
}

// loggedIn notes that a connection's user is known; false when its place is lost.
func (l *connLimiter) loggedIn(c *limitedConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.pending = false
	return slices.Contains(l.conns, c)
}

// leaveConn gives the place back.
func (l *connLimiter) leaveConn(c *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = slices.DeleteFunc(l.conns, func(o *limitedConn) bool { return o == c })
}
