package simrouter

import (
	"cmp"
	"strconv"
	"time"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

// doOperation does an operation. A *Fault is the router's refusal.
func (s *session) doOperation(op *xmltree.Node) (*xmltree.Node, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	st := s.r.store
	ok := newElement("ok")
	if op.Is(netconf.NSNotification, "create-subscription") &&
		s.r.hasCapability(netconf.Notifications) {
		if s.subscribed {
			return nil, &Fault{"operation-failed", "", "there is a subscription already"}
		}
		s.subscribed = true
		return ok, nil
	}
	switch {
	case op.Is(netconf.NSNMDA, "get-data") && s.r.announcesNamespace(netconf.NSNMDA):
		if op.Value("datastore") != "ds:operational" {
			return nil, &Fault{"invalid-value", "/datastore", "only the operational datastore can be read"}
		}
		return xmltree.New(netconf.NSNMDA, "data", Select(s.r.operationalData(), op.Down("subtree-filter"))...), nil
	case op.Is(NSMethods, "continuity-check") && s.r.announcesNamespace(NSMethods):
		return s.r.checkContinuity(op)
	case op.Space != netconf.NS:
		return nil, &Fault{"operation-not-supported", "", "no such operation"}
	}
	switch op.Name {
	case "get-config":
		ds, err := s.readDatastoreName(op, "source")
		if err != nil {
			return nil, err
		}
		return newElement("data", Select(st.datastoreContent(ds), op.Down("filter"))...), nil
	case "get":
		return newElement("data", Select(s.r.operationalData(), op.Down("filter"))...), nil
	case "edit-config":
		return ok, s.editConfig(op)
	case "lock", "unlock":
		ds, err := s.readDatastoreName(op, "target")
		if err != nil {
			return nil, err
		}
		if ds == netconf.Running && s.r.faults.NoLock {
			return nil, &Fault{"operation-not-supported", "/target", "running cannot be locked"}
		}
		if op.Name == "lock" {
			return ok, st.lockDatastore(ds, s.id)
		}
		return ok, st.unlockDatastore(ds, s.id)
	case "validate":
		if s.r.hasCapability(netconf.Validate11) {
			_, err := s.readDatastoreName(op, "source")
			return ok, err
		}
	case "commit", "cancel-commit", "discard-changes":
		if s.r.hasCapability(netconf.Candidate) {
			return ok, s.runTransaction(op)
		}
	case "close-session":
		return ok, nil
	case "kill-session":
		return ok, s.killSession(op.Value("session-id"))
	}
	return nil, &Fault{"operation-not-supported", "", "no such operation"}
}

// readDatastoreName reads source or target.
func (s *session) readDatastoreName(op *xmltree.Node, role string) (netconf.Datastore, error) {
	at := op.Down(role)
	switch {
	case at.Kid(netconf.NS, "running") != nil:
		return netconf.Running, nil
	case at.Kid(netconf.NS, "candidate") != nil && s.r.hasCapability(netconf.Candidate):
		return netconf.CandidateDS, nil
	}
	return "", &Fault{"invalid-value", "/" + role, "no such datastore"}
}

func (s *session) editConfig(op *xmltree.Node) error {
	ds, err := s.readDatastoreName(op, "target")
	if err != nil {
		return err
	}
	if ds == netconf.Running && !s.r.hasCapability(netconf.WritableRunning) {
		return &Fault{"operation-not-supported", "/target", "running cannot be written"}
	}
	if err := s.r.store.checkLock(ds, s.id); err != nil {
		return err
	}
	option := op.Value("error-option")
	if option == "rollback-on-error" && !s.r.hasCapability(netconf.RollbackOnError) {
		return &Fault{"operation-not-supported", "/error-option", "no rollback-on-error"}
	}
	config := op.Down("config")
	if config == nil {
		return &Fault{"missing-element", "/config", "there is nothing to change"}
	}
	err = s.r.store.editDatastore(
		ds,
		config,
		cmp.Or(op.Value("default-operation"), "merge"),
		option == "rollback-on-error",
	)
	if err == nil {
		s.r.recordAct(s.id, "edit-config")
	}
	if ds == netconf.Running {
		s.r.notifyConfigChange(s)
	} else if other := s.r.faults.Meanwhile; other != nil {
		s.r.faults.Meanwhile = nil
		s.r.store.editMeanwhile(other)
	}
	return err
}

func (s *session) runTransaction(op *xmltree.Node) error {
	st := s.r.store
	switch op.Name {
	case "discard-changes":
		st.candidate = nil
		return st.checkLock(netconf.CandidateDS, s.id)
	case "cancel-commit":
		if st.cancelCommit() {
			s.r.recordAct(s.id, "cancel-commit")
			s.r.notifyConfigChange(s)
		}
		return nil
	}
	if err := st.checkLock(netconf.Running, s.id); err != nil {
		return err
	}
	timeout := time.Duration(0)
	if op.Down("confirmed") != nil {
		if !s.r.hasCapability(netconf.ConfirmedCommit) {
			return &Fault{"operation-not-supported", "/confirmed", "no confirmed commit"}
		}
		timeout = 600 * time.Second
		n, err := strconv.Atoi(op.Value("confirm-timeout"))
		if err == nil && n > 0 {
			timeout = time.Duration(n) * time.Second
		}
	}
	act := "commit"
	switch {
	case timeout > 0:
		act = "confirmed-commit"
	case st.before != nil:
		act = "confirm"
	}
	s.r.recordAct(s.id, act)
	if st.commitCandidate(s.id, timeout, s.r.undoUnconfirmedCommit) {
		s.r.notifyConfigChange(s)
	}
	return nil
}

// undoUnconfirmedCommit undoes a commit that was not confirmed.
func (r *Router) undoUnconfirmedCommit() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.store.cancelCommit() {
		r.recordAct(0, "rollback")
		r.notifyConfigChange(nil)
	}
}

// killSession ends another session, with its locks and its unconfirmed commit.
func (s *session) killSession(id string) error {
	for _, other := range s.r.sessions {
		if formatUint(other.id) == id && other != s {
			s.r.recordAct(s.id, "kill-session")
			if s.r.store.releaseSession(other.id) {
				s.r.recordAct(other.id, "rollback")
				s.r.notifyConfigChange(nil)
			}
			other.close()
			return nil
		}
	}
	return &Fault{"invalid-value", "/session-id", "there is no such session"}
}
