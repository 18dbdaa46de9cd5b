package plugin

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/internal/together"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// RolePrefix and the name of a plugin whose manifest says that it runs on one node are
// the role of that node.
const RolePrefix = "plugin/"

// grantWait is how long a start waits for the role before the plugin goes into standby:
// a role that is free comes at once.
const grantWait = 500 * time.Millisecond

// single is the role of a plugin that runs on one node.
type single struct {
	seeking  bool       // under supervisor.mu
	starting sync.Mutex // held while a process is started
	term     atomic.Pointer[hostsvc.Term]
}

// standbyError ends the start of a plugin that another node runs.
type standbyError struct{ manifest *pluginv1.Manifest }

func (standbyError) Error() string { return elsewhere }

// awaitRole reports whether this node has the role of the plugin. From now on it tries
// to get it, until the plugin is stopped.
func (s *supervisor) awaitRole(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, grantWait)
	defer cancel()
	return s.waitUntil(ctx, func(machine) bool {
		if !s.single.seeking && !s.removed {
			s.single.seeking = true
			s.work.Go(s.holdRole)
		}
		return s.single.term.Load() != nil
	}) == nil
}

// holdRole holds the role as long as the plugin is to run here, and waits for it again after
// it was lost.
func (s *supervisor) holdRole() {
	for {
		ctx, cancel := context.WithCancel(s.ctx)
		s.work.Go(func() { // when it is stopped or has failed for good, another node may run it
			if s.waitUntil(ctx, func(machine) bool { return !s.isWanted() }) == nil {
				cancel()
			}
		})
		term, err := s.m.options.Roles.Hold(ctx, RolePrefix+s.name, "plugin "+s.name)
		if err == nil {
			s.serveTerm(ctx, term)
		}
		cancel()
		s.mu.Lock()
		if !s.isWanted() || s.ctx.Err() != nil {
			s.single.seeking = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		_ = together.Sleep(s.ctx, grantWait) // when it ends, so does the next wait for the role
	}
}

// isWanted reports whether the plugin is to run on some node, as far as this one is asked.
// The caller holds mu.
func (s *supervisor) isWanted() bool {
	st := s.machine.state
	return !s.removed && st != Stopped && st != Failed && (st != Stopping || s.machine.again)
}

// serveTerm lets the plugin run here for a term. The role is released when its process is gone.
func (s *supervisor) serveTerm(ctx context.Context, term hostsvc.Term) {
	defer term.Release()
	s.single.term.Store(&term)
	s.postEvent(evGranted{})
	s.changed.Fire()
	reason := ""
wait:
	for {
		select {
		case <-term.Lost():
			reason = "this node has lost the role " + RolePrefix + s.name
			break wait
		case <-term.Renewed():
			if term.Draining() {
				break wait
			}
		case <-ctx.Done():
			break wait
		}
	}
	s.single.term.Store(nil)
	if ctx.Err() == nil {
		s.postEvent(evLost{reason})
	}
	s.single.starting.Lock() // a start that was called off has ended
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	s.single.starting.Unlock()
	if last != nil {
		<-last.proc.Done()
	}
}

// commitCondition is a condition of every commit of a plugin that runs on one node.
func (s *supervisor) commitCondition() (c datastore.Compare, needed bool, err error) {
	if !s.manifest.Load().GetSingleNode() || s.m.options.Roles == nil {
		return c, false, nil
	}
	term := s.single.term.Load()
	if term == nil {
		return c, true, fault.New(
			fault.Denied,
			"plugin %s runs on another node now, so nothing was written",
			s.name,
		)
	}
	return (*term).Condition(), true, nil
}

// ErrElsewhere says that a plugin does not run on this node, or not in that term.
var ErrElsewhere = errors.New("the plugin does not run on this node")

// Here returns a connection to a plugin on this node, whose calls never go to another
// one. For a plugin that runs on one node only, epoch is that of its term; else it is 0.
func (m *Manager) Here(name string, epoch uint64) (grpc.ClientConnInterface, error) {
	s, err := m.findSupervisor(name)
	if err != nil {
		return nil, ErrElsewhere
	}
	if epoch == 0 && !s.manifest.Load().GetSingleNode() {
		return conn{s: s, here: true}, nil
	}
	term := s.single.term.Load()
	if term == nil || (*term).Epoch() != epoch {
		return nil, ErrElsewhere
	}
	return conn{s: s, here: true}, nil
}

// forwardConn returns the connection to the node that runs the plugin, if that is another one.
func (c conn) forwardConn() (grpc.ClientConnInterface, bool) {
	if c.here || !c.s.standby.Load() || c.s.m.options.Forward == nil {
		return nil, false
	}
	c.s.stats.calls.Add(1)
	return c.s.m.options.Forward(c.s.name, ""), true
}

// OnNode returns a connection to a plugin on the node that an error of it names as the one
// that can answer (fault.OnNode), if that is another node.
func (m *Manager) OnNode(name string, err error) (grpc.ClientConnInterface, bool) {
	node := ""
	if f := (*fault.Error)(nil); errors.As(fault.FromStatus(err), &f) {
		node = f.Node
	}
	if node == "" || node == m.options.Node || m.options.Forward == nil {
		return nil, false
	}
	return m.options.Forward(name, node), true
}
