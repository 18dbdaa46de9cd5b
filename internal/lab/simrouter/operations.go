package simrouter

import (
	"cmp"
	"strconv"
	"time"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

// do does an operation. A *Fault is the router's refusal.
func (s *session) do(op *xmltree.Node) (*xmltree.Node, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	st := s.r.store
	ok := el("ok")
	if op.Is(netconf.NSNotification, "create-subscription") && s.r.has(netconf.Notifications) {
		if s.subscribed {
			return nil, &Fault{"operation-failed", "", "there is a subscription already"}
		}
		s.subscribed = true
		return ok, nil
	}
	switch {
	case op.Is(netconf.NSNMDA, "get-data") && s.r.announces(netconf.NSNMDA):
		if op.Value("datastore") != "ds:operational" {
			return nil, &Fault{"invalid-value", "/datastore", "only the operational datastore can be read"}
		}
		return xmltree.New(netconf.NSNMDA, "data", Select(s.r.operational(), op.Down("subtree-filter"))...), nil
	case op.Is(NSMethods, "continuity-check") && s.r.announces(NSMethods):
		return s.r.ping(op)
	case op.Space != netconf.NS:
		return nil, &Fault{"operation-not-supported", "", "no such operation"}
	}
	switch op.Name {
	case "get-config":
		ds, err := s.datastore(op, "source")
		if err != nil {
			return nil, err
		}
		return el("data", Select(st.get(ds), op.Down("filter"))...), nil
	case "get":
		return el("data", Select(s.r.operational(), op.Down("filter"))...), nil
	case "edit-config":
		return ok, s.edit(op)
	case "lock", "unlock":
		ds, err := s.datastore(op, "target")
		if err != nil {
			return nil, err
		}
		if ds == netconf.Running && s.r.faults.NoLock {
			return nil, &Fault{"operation-not-supported", "/target", "running cannot be locked"}
		}
		if op.Name == "lock" {
			return ok, st.lock(ds, s.id)
		}
		return ok, st.unlock(ds, s.id)
	case "validate":
		if s.r.has(netconf.Validate11) {
			_, err := s.datastore(op, "source")
			return ok, err
		}
	case "commit", "cancel-commit", "discard-changes":
		if s.r.has(netconf.Candidate) {
			return ok, s.transaction(op)
		}
	case "close-session":
		return ok, nil
	case "kill-session":
		return ok, s.kill(op.Value("session-id"))
	}
	return nil, &Fault{"operation-not-supported", "", "no such operation"}
}

// datastore reads source or target.
func (s *session) datastore(op *xmltree.Node, role string) (netconf.Datastore, error) {
	at := op.Down(role)
	switch {
	case at.Kid(netconf.NS, "running") != nil:
		return netconf.Running, nil
	case at.Kid(netconf.NS, "candidate") != nil && s.r.has(netconf.Candidate):
		return netconf.CandidateDS, nil
	}
	return "", &Fault{"invalid-value", "/" + role, "no such datastore"}
}

func (s *session) edit(op *xmltree.Node) error {
	ds, err := s.datastore(op, "target")
	if err != nil {
		return err
	}
	if ds == netconf.Running && !s.r.has(netconf.WritableRunning) {
		return &Fault{"operation-not-supported", "/target", "running cannot be written"}
	}
	if err := s.r.store.free(ds, s.id); err != nil {
		return err
	}
	option := op.Value("error-option")
	if option == "rollback-on-error" && !s.r.has(netconf.RollbackOnError) {
		return &Fault{"operation-not-supported", "/error-option", "no rollback-on-error"}
	}
	config := op.Down("config")
	if config == nil {
		return &Fault{"missing-element", "/config", "there is nothing to change"}
	}
	err = s.r.store.edit(ds, config, cmp.Or(op.Value("default-operation"), "merge"), option == "rollback-on-error")
	if err == nil {
		s.r.note(s.id, "edit-config")
	}
	if ds == netconf.Running {
		s.r.changed(s)
	} else if other := s.r.faults.Meanwhile; other != nil {
		s.r.faults.Meanwhile = nil
		s.r.store.meanwhile(other)
	}
	return err
}

func (s *session) transaction(op *xmltree.Node) error {
	st := s.r.store
	switch op.Name {
	case "discard-changes":
		st.candidate = nil
		return st.free(netconf.CandidateDS, s.id)
	case "cancel-commit":
		if st.cancel() {
			s.r.note(s.id, "cancel-commit")
			s.r.changed(s)
		}
		return nil
	}
	if err := st.free(netconf.Running, s.id); err != nil {
		return err
	}
	timeout := time.Duration(0)
	if op.Down("confirmed") != nil {
		if !s.r.has(netconf.ConfirmedCommit) {
			return &Fault{"operation-not-supported", "/confirmed", "no confirmed commit"}
		}
		timeout = 600 * time.Second
		if n, err := strconv.Atoi(op.Value("confirm-timeout")); err == nil && n > 0 {
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
	s.r.note(s.id, act)
	if st.commit(s.id, timeout, s.r.expire) {
		s.r.changed(s)
	}
	return nil
}

// expire undoes a commit that was not confirmed.
func (r *Router) expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.store.cancel() {
		r.note(0, "rollback")
		r.changed(nil)
	}
}

// kill ends another session, with its locks and its unconfirmed commit.
func (s *session) kill(id string) error {
	for _, other := range s.r.sessions {
		if number10(other.id) == id && other != s {
			s.r.note(s.id, "kill-session")
			if s.r.store.leave(other.id) {
				s.r.note(other.id, "rollback")
				s.r.changed(nil)
			}
			other.close()
			return nil
		}
	}
	return &Fault{"invalid-value", "/session-id", "there is no such session"}
}
