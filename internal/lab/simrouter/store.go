package simrouter

import (
	"time"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

// store is the datastores of a router with their locks. Router.mu guards it. Nodes of
// a datastore are never changed, only replaced, since datastores and replies share them.
type store struct {
	schema    *Schema
	running   *xmltree.Node
	candidate *xmltree.Node // nil: the same as running
	locks     map[netconf.Datastore]uint32
	before    *xmltree.Node // running before a confirmed commit that is not confirmed yet
	confirmer uint32        // its session
	revert    *time.Timer
}

func newStore(s *Schema) *store {
	return &store{
		schema:  s,
		running: xmltree.New("", ""),
		locks:   map[netconf.Datastore]uint32{},
	}
}

func (s *store) datastoreContent(ds netconf.Datastore) *xmltree.Node {
	if ds == netconf.CandidateDS && s.candidate != nil {
		return s.candidate
	}
	return s.running
}

// lockDenied is the refusal of a lock; holder is the session that has it, 0 if no session has it.
type lockDenied struct {
	*Fault
	holder uint32
}

// Unwrap makes it a *Fault.
func (l lockDenied) Unwrap() error { return l.Fault }

// checkLock reports whether a session may write.
func (s *store) checkLock(ds netconf.Datastore, session uint32) error {
	if by := s.locks[ds]; by != 0 && by != session {
		return &Fault{"in-use", "", "another session has the lock"}
	}
	return nil
}

func (s *store) lockDatastore(ds netconf.Datastore, session uint32) error {
	if s.locks[ds] != 0 ||
		ds == netconf.CandidateDS && s.candidate != nil ||
		ds == netconf.Running && s.before != nil && s.confirmer != session {
		return lockDenied{&Fault{"lock-denied", "", "locked or changed by another session"}, s.locks[ds]}
	}
	s.locks[ds] = session
	return nil
}

func (s *store) unlockDatastore(ds netconf.Datastore, session uint32) error {
	if s.locks[ds] != session {
		return &Fault{"operation-failed", "", "the lock is not this session's"}
	}
	delete(s.locks, ds)
	if ds == netconf.CandidateDS {
		s.candidate = nil
	}
	return nil
}

// editMeanwhile is the edit of running by another client, which a lock refuses. A candidate stays as it is.
func (s *store) editMeanwhile(config *xmltree.Node) {
	if s.candidate != nil && s.locks[netconf.Running] == 0 {
		s.running = copyNode(s.running)
		_ = s.schema.Edit(s.running, config, "merge") // what cannot be merged is not there, which tests see
	}
}

// editDatastore changes a datastore. Without whole a fault leaves what was done before it.
func (s *store) editDatastore(
	ds netconf.Datastore,
	config *xmltree.Node,
	defaultOperation string,
	whole bool,
) error {
	next := copyNode(s.datastoreContent(ds))
	err := s.schema.Edit(next, config, defaultOperation)
	if err != nil && whole {
		return err
	}
	if ds == netconf.CandidateDS {
		s.candidate = next
	} else {
		s.running = next
	}
	return err
}

// commitCandidate makes candidate running and reports whether that changed anything. With a
// timeout the change is undone after it, unless a plain commit comes before.
func (s *store) commitCandidate(session uint32, timeout time.Duration, expired func()) bool {
	if s.before != nil && s.revert != nil {
		s.revert.Stop()
	}
	if timeout > 0 {
		if s.before == nil {
			s.before = s.running
		}
		s.confirmer = session
		s.revert = time.AfterFunc(timeout, expired)
	} else {
		s.before, s.confirmer, s.revert = nil, 0, nil
	}
	changed := s.candidate != nil
	if changed {
		s.running, s.candidate = s.candidate, nil
	}
	return changed
}

// cancelCommit undoes an unconfirmed commit.
func (s *store) cancelCommit() bool {
	if s.before == nil {
		return false
	}
	s.revert.Stop()
	s.running, s.before, s.confirmer, s.revert = s.before, nil, 0, nil
	return true
}

// releaseSession is the end of a session: its locks and its unconfirmed commit end with it. It
// reports whether running changed.
func (s *store) releaseSession(session uint32) bool {
	for ds, by := range s.locks {
		if by == session {
			_ = s.unlockDatastore(ds, session) // it is this session's
		}
	}
	return s.confirmer == session && s.cancelCommit()
}
